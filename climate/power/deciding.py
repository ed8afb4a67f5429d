# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""What to do with a host next: pure, and by what it is now.

Nothing rests on what was done before having worked. A process that is killed
between two steps looks again and goes on; what somebody did by hand meanwhile
is seen as what it is.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import math
from typing import Any
from typing import Final

from climate.clients.base import Service
from climate.domain.health import ASLEEP
from climate.power.records import Record

FAILED: Final = 'climate-power: did not wake up'
"""Why a nova-compute is disabled whose host does not come up: it has failed."""

SILENT: Final = 'Nova does not say how it is'
_TRIED: Final = 'it did not wake up; it is tried again'
_OURS: Final = frozenset({ASLEEP, FAILED})
_GRAIN: Final = 10
_LONGEST_PAUSE: Final = datetime.timedelta(minutes=5)


class Action(enum.StrEnum):
    """What is done with a host."""

    NOTHING = 'nothing'
    MARK = 'mark'
    """Disable its nova-compute, as asleep."""
    SHUT_DOWN = 'shut down'
    CUT_OFF = 'cut off'
    SWITCH_ON = 'switch on'
    ENABLE = 'enable'
    GIVE_UP = 'give up'
    """Say in Nova that it did not wake up."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PowerSettings:
    """How long things take, in seconds; see the options of ``[power]``."""

    idle_after: float = 0.0
    keep_awake: int = 0
    interval: float = 30.0
    waking_interval: float = 5.0
    boot_time: float = 600.0
    margin: float = 60.0
    wake_timeout: float = 1800.0
    shutdown_timeout: float = 300.0
    service_down_time: float = 75.0
    retry_after: float = 10.0
    workers: int = 16
    freepool: str = 'freepool'

    @classmethod
    def from_conf(cls, conf: Any) -> PowerSettings:
        """Return the settings that *conf* (an oslo.config ConfigOpts) holds."""
        names = [field.name for field in dataclasses.fields(cls) if field.name != 'freepool']
        values = {name: conf.power[name] for name in names}
        return cls(freepool=conf.nova.aggregate_freepool_name, **values)

    def lead(self, record: Record) -> int:
        """Return how many seconds before a lease a host is switched on.

        The longest of its last boots and a margin, rounded up, so that it does
        not change with every boot.
        """
        needs = max(record.boots, default=self.boot_time) + self.margin
        return math.ceil(needs / _GRAIN) * _GRAIN

    def pause(self, failures: int) -> datetime.timedelta:
        """Return how long to wait after so many failures, one at least."""
        seconds = self.retry_after * 2.0 ** min(failures - 1, 20)
        return min(datetime.timedelta(seconds=seconds), _LONGEST_PAUSE)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """A host as it is now.

    :ivar on: whether it has power; None if nobody knows
    :ivar service: its nova-compute; None if Nova did not answer
    :ivar needed: when the reservation begins that needs it next, or the one
        that it is in began; None if none does
    :ivar spare: whether it is known to be reservable, in the freepool, empty
        and alone on its nova-compute
    """

    now: datetime.datetime
    on: bool | None
    service: Service | None
    needed: datetime.datetime | None
    spare: bool
    record: Record

    @property
    def marked(self) -> bool:
        """Whether its nova-compute is disabled by us."""
        return self._reason in _OURS

    @property
    def foreign(self) -> bool:
        """Whether it is disabled by somebody else."""
        return self._reason is not None and self._reason not in _OURS

    @property
    def given_up(self) -> bool:
        """Whether Nova was told that it did not wake up."""
        return self._reason == FAILED

    @property
    def _reason(self) -> str | None:
        if self.service is None or self.service.status != 'disabled':
            return None
        return self.service.disabled_reason

    def since(self, instant: datetime.datetime | None) -> float:
        """Return the seconds since *instant*; 0 if there was none."""
        return 0.0 if instant is None else (self.now - instant).total_seconds()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """What follows from a view.

    :ivar record: as it is when the action was done
    :ivar ready: whether the host can be used
    :ivar detail: why not, for people
    """

    action: Action
    record: Record
    ready: bool = False
    detail: str = ''

    @property
    def under_way(self) -> bool:
        """Whether something is to be seen soon."""
        record = self.record
        return self.action is not Action.NOTHING or bool(record.woken_at or record.shutdown_at)


def decide(view: View, settings: PowerSettings) -> Step:
    """Return what to do with a host now."""
    record = view.record
    if view.service is not None and view.service.state == 'down' and not record.down_seen:
        record = dataclasses.replace(record, down_seen=True)
        view = dataclasses.replace(view, record=record)
    if view.foreign:
        assert view.service is not None
        detail = f'disabled by somebody else: {view.service.disabled_reason}'
        return Step(action=Action.NOTHING, record=record.awake(), detail=detail)
    if view.on is None:
        return _blind(view)
    # One that was woken goes through with it, and one that has failed is mended.
    if wanted(view, settings) or record.woken_at is not None or view.given_up:
        return _wake(view, settings)
    return _rest_on(view, settings) if view.on else _rest_off(view)


def wanted(view: View, settings: PowerSettings) -> bool:
    """Whether a host is to be up now, or on its way."""
    if view.needed is None:
        return False
    return (view.needed - view.now).total_seconds() <= settings.lead(view.record)


def idle(view: View, settings: PowerSettings) -> bool:
    """Whether a host could sleep, as far as leases and Nova's services tell."""
    if not settings.idle_after or view.service is None or view.foreign:
        return False
    if view.needed is None:
        return True
    left = (view.needed - view.now).total_seconds()
    return left > settings.lead(view.record) + settings.idle_after


def _blind(view: View) -> Step:
    """Do nothing with a host of which nobody knows whether it is on.

    That its nova-compute reports is enough to use it, unless it is on its way
    up or down. That it was idle is not known any more.
    """
    record = dataclasses.replace(view.record, idle_since=None)
    still = record == record.awake() and not view.marked
    return Step(action=Action.NOTHING, record=record, ready=still and _reports(view))


# -- a host that is needed, or on its way up


def _wake(view: View, settings: PowerSettings) -> Step:
    if not view.on:
        return _switch_on(view, settings)
    record = view.record
    if record.shutdown_at is not None:
        if view.since(record.shutdown_at) < settings.shutdown_timeout:
            return Step(action=Action.NOTHING, record=record, detail='it is shutting down')
        # It was told so, and did not listen: it has been up all the time.
        record = record.awake()
    if _is_up(view, record, settings):
        return _up(view, record)
    if view.marked and record.woken_at is None:
        record = dataclasses.replace(record, woken_at=view.now)
    return _not_up(view, record, settings)


def _switch_on(view: View, settings: PowerSettings) -> Step:
    record = view.record
    if view.service is None and record.asleep_since is None and record.woken_at is None:
        # It may be an operator's wish that it is off; Nova would know.
        return Step(action=Action.NOTHING, record=record, detail='it is off; Nova is silent')
    began = record.woken_at or view.now
    if record.asks and view.since(record.asked_at) < settings.pause(record.asks).total_seconds():
        return _not_up(view, record, settings)
    record = dataclasses.replace(
        record, woken_at=began, asked_at=view.now, asks=record.asks + 1, shutdown_at=None
    )
    if _overdue(view, record, settings):
        # The power is asked for again all the same, next time.
        return _not_up(view, record, settings)
    detail = _TRIED if view.given_up else 'it is being switched on'
    return Step(action=Action.SWITCH_ON, record=record, detail=detail)


def _is_up(view: View, record: Record, settings: PowerSettings) -> bool:
    if view.service is None or view.service.state != 'up':
        return False
    # Nova calls a nova-compute up for a while after it went down.
    seen = record.down_seen or record.woken_at is None
    return seen or view.since(record.woken_at) >= settings.service_down_time


def _up(view: View, record: Record) -> Step:
    learned = record
    if record.asked_at is not None and record.asks == 1:
        learned = record.measured(view.since(record.woken_at))
    if view.marked:
        return Step(action=Action.ENABLE, record=learned.awake(), detail='it is being enabled')
    return Step(action=Action.NOTHING, record=learned.awake(), ready=True)


def _not_up(view: View, record: Record, settings: PowerSettings) -> Step:
    if _overdue(view, record, settings):
        return Step(action=Action.GIVE_UP, record=record, detail=_TRIED)
    detail = 'it boots' if view.on else 'it is being switched on'
    if view.on and view.service is not None and not view.marked:
        detail = 'its nova-compute is down'
    if view.on and view.service is None:
        detail = SILENT
    if view.given_up:
        detail = _TRIED
    return Step(action=Action.NOTHING, record=record, detail=detail)


def _overdue(view: View, record: Record, settings: PowerSettings) -> bool:
    late = view.since(record.woken_at) > settings.wake_timeout
    return late and view.marked and not view.given_up


# -- a host that nobody needs soon


def _rest_off(view: View) -> Step:
    if not view.marked:
        # Somebody else has switched it off, and knows why.
        return Step(action=Action.NOTHING, record=view.record.awake(), detail='it is off')
    asleep_since = view.record.asleep_since or view.now
    record = dataclasses.replace(view.record, asleep_since=asleep_since, shutdown_at=None)
    return Step(action=Action.NOTHING, record=record, detail='it is asleep')


def _rest_on(view: View, settings: PowerSettings) -> Step:
    record = view.record
    if view.marked and record.asleep_since is not None:
        # Somebody has switched it on.
        woken = dataclasses.replace(record.awake(), woken_at=view.now, down_seen=record.down_seen)
        return Step(action=Action.NOTHING, record=woken, detail='it boots')
    if view.marked:
        return _falling_asleep(view, settings)
    if not (view.spare and idle(view, settings)):
        return Step(action=Action.NOTHING, record=record.awake(), ready=_reports(view))
    since = record.idle_since or view.now
    record = dataclasses.replace(record.awake(), idle_since=since)
    if _reports(view) and view.since(since) >= settings.idle_after:
        return Step(action=Action.MARK, record=record, ready=True)
    return Step(action=Action.NOTHING, record=record, ready=_reports(view))


def _falling_asleep(view: View, settings: PowerSettings) -> Step:
    record = view.record
    if not (view.spare and idle(view, settings)):
        if record.shutdown_at is None:
            return Step(action=Action.ENABLE, record=record.awake())
        # It goes down; it is woken when somebody needs it.
        return Step(action=Action.NOTHING, record=record, detail='it is shutting down')
    if record.shutdown_at is None:
        told = dataclasses.replace(record, shutdown_at=view.now, down_seen=False)
        return Step(action=Action.SHUT_DOWN, record=told, detail='it is shutting down')
    if view.since(record.shutdown_at) < settings.shutdown_timeout:
        return Step(action=Action.NOTHING, record=record, detail='it is shutting down')
    return Step(action=Action.CUT_OFF, record=record, detail='it is shutting down')


def _reports(view: View) -> bool:
    return view.service is not None and view.service.state == 'up'
