# SPDX-License-Identifier: Apache-2.0

"""Chooses the next step for a host: a pure function of its current state.

No step relies on the success of an earlier one: a process that is killed
between two steps observes the host again and continues. Manual changes in
between are part of what it observes.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import math
from typing import Final

from climate.cloud.base import ComputeService
from climate.conf.settings import option
from climate.conf.settings import Settings
from climate.domain import events
from climate.domain.health import ASLEEP
from climate.power.records import PowerRecord

FAILED: Final = 'climate-power: did not wake up'
"""The reason for disabling the nova-compute of a host that did not wake up."""

SILENT: Final = 'Nova does not report its state'
_TRIED: Final = 'it did not wake up; trying again'
_OURS: Final = frozenset({ASLEEP, FAILED})
_GRAIN: Final = 10
_LONGEST_PAUSE: Final = datetime.timedelta(minutes=5)


class PowerAction(enum.StrEnum):
    """The actions on a host."""

    NOTHING = 'nothing'
    MARK = 'mark'
    """Disable its nova-compute and mark the host as asleep."""
    SHUT_DOWN = 'shut down'
    CUT_OFF = 'cut off'
    SWITCH_ON = 'switch on'
    ENABLE = 'enable'
    GIVE_UP = 'give up'
    """Record in Nova that the host did not wake up."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PowerSettings(Settings):
    """Durations, in seconds; see the options of ``[power]``."""

    idle_after: float = option('power', 'idle_after')
    keep_awake: int = option('power', 'keep_awake')
    interval: float = option('power', 'interval')
    waking_interval: float = option('power', 'waking_interval')
    boot_time: float = option('power', 'boot_time')
    margin: float = option('power', 'margin')
    wake_timeout: float = option('power', 'wake_timeout')
    shutdown_timeout: float = option('power', 'shutdown_timeout')
    service_down_time: float = option('power', 'service_down_time')
    retry_after: float = option('power', 'retry_after')
    workers: int = option('power', 'workers')
    freepool: str = option('nova', 'aggregate_freepool_name')

    def lead(self, record: PowerRecord) -> int:
        """Return how many seconds before a lease to switch a host on.

        The result is the longest of its recent boots plus a margin, rounded up so
        that it does not change with every boot.
        """
        needs = max(record.boots, default=self.boot_time) + self.margin
        return math.ceil(needs / _GRAIN) * _GRAIN

    def pause(self, failures: int) -> datetime.timedelta:
        """Return how long to wait after the given number of failures, at least one."""
        return events.backoff(failures, self.retry_after, _LONGEST_PAUSE.total_seconds())


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """A host as it is now.

    :ivar on: whether it has power; None if unknown
    :ivar service: its nova-compute; None if Nova did not answer
    :ivar needed: start of the reservation that uses it now, or else of the
        next one; None if there is none
    :ivar spare: whether it is known to be reservable, in the freepool, empty
        and alone on its nova-compute
    """

    now: datetime.datetime
    on: bool | None
    service: ComputeService | None
    needed: datetime.datetime | None
    spare: bool
    record: PowerRecord

    @property
    def marked(self) -> bool:
        """Whether climate-power disabled its nova-compute."""
        return self._reason in _OURS

    @property
    def disabled_by_others(self) -> bool:
        """Whether it was disabled by another user or program."""
        return self._reason is not None and self._reason not in _OURS

    @property
    def given_up(self) -> bool:
        """Whether it was disabled in Nova because it did not wake up."""
        return self._reason == FAILED

    @property
    def _reason(self) -> str | None:
        if self.service is None or self.service.status != 'disabled':
            return None
        return self.service.disabled_reason

    def since(self, instant: datetime.datetime | None) -> float:
        """Return the seconds since *instant*; 0 if it is None."""
        return 0.0 if instant is None else (self.now - instant).total_seconds()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PowerDecision:
    """The next action on a host.

    :ivar record: the record after the action
    :ivar ready: whether the host can be used
    :ivar detail: why not, for operators and users
    """

    record: PowerRecord
    action: PowerAction = PowerAction.NOTHING
    ready: bool = False
    detail: str = ''

    @property
    def under_way(self) -> bool:
        """Whether the state is expected to change soon."""
        record = self.record
        return self.action is not PowerAction.NOTHING or bool(record.woken_at or record.shutdown_at)


def decide(view: View, settings: PowerSettings) -> PowerDecision:
    """Return what to do with a host now."""
    record = view.record
    if view.service is not None and view.service.state == 'down' and not record.down_seen:
        record = dataclasses.replace(record, down_seen=True)
        view = dataclasses.replace(view, record=record)
    if view.disabled_by_others:
        assert view.service is not None
        detail = f'disabled by an operator or another service: {view.service.disabled_reason}'
        return PowerDecision(record=record.awake(), detail=detail)
    if view.on is None:
        return _blind(view)
    # A host that was woken completes its wake, and a failed one is recovered.
    if wanted(view, settings) or record.woken_at is not None or view.given_up:
        return _wake(view, settings)
    return _rest_on(view, settings) if view.on else _rest_off(view)


def wanted(view: View, settings: PowerSettings) -> bool:
    """Whether a host must be up now, or booting."""
    if view.needed is None:
        return False
    return (view.needed - view.now).total_seconds() <= settings.lead(view.record)


def idle(view: View, settings: PowerSettings) -> bool:
    """Whether leases and Nova's services allow a host to sleep."""
    if not settings.idle_after or view.service is None or view.disabled_by_others:
        return False
    if view.needed is None:
        return True
    left = (view.needed - view.now).total_seconds()
    return left > settings.lead(view.record) + settings.idle_after


def _blind(view: View) -> PowerDecision:
    """Do nothing with a host whose power state is unknown.

    It can be used if its nova-compute reports, unless it is on its way up or
    down. Whether it stays idle is unknown, so its idle time starts again.
    """
    record = dataclasses.replace(view.record, idle_since=None)
    still = record == record.awake() and not view.marked
    return PowerDecision(record=record, ready=still and _reports(view))


# -- hosts that are needed, or on their way up


def _wake(view: View, settings: PowerSettings) -> PowerDecision:
    if not view.on:
        return _switch_on(view, settings)
    record = view.record
    if record.shutdown_at is not None:
        if view.since(record.shutdown_at) < settings.shutdown_timeout:
            return PowerDecision(record=record, detail='it is shutting down')
        # It ignored the request to shut down, so it has been up the whole time.
        record = record.awake()
    if _is_up(view, record, settings):
        return _up(view, record)
    if view.marked and record.woken_at is None:
        record = dataclasses.replace(record, woken_at=view.now)
    return _not_up(view, record, settings)


def _switch_on(view: View, settings: PowerSettings) -> PowerDecision:
    record = view.record
    if view.service is None and record.asleep_since is None and record.woken_at is None:
        # An operator may have switched it off; only Nova knows.
        return PowerDecision(record=record, detail='it is off; Nova does not respond')
    began = record.woken_at or view.now
    if record.asks and view.since(record.asked_at) < settings.pause(record.asks).total_seconds():
        return _not_up(view, record, settings)
    record = dataclasses.replace(
        record, woken_at=began, asked_at=view.now, asks=record.asks + 1, shutdown_at=None
    )
    if _overdue(view, record, settings):
        # The next round switches it on again anyway.
        return _not_up(view, record, settings)
    detail = _TRIED if view.given_up else 'it is being switched on'
    return PowerDecision(action=PowerAction.SWITCH_ON, record=record, detail=detail)


def _is_up(view: View, record: PowerRecord, settings: PowerSettings) -> bool:
    if view.service is None or view.service.state != 'up':
        return False
    # Nova reports a nova-compute as up for a while after it goes down.
    seen = record.down_seen or record.woken_at is None
    return seen or view.since(record.woken_at) >= settings.service_down_time


def _up(view: View, record: PowerRecord) -> PowerDecision:
    learned = record
    if record.asked_at is not None and record.asks == 1:
        learned = record.measured(view.since(record.woken_at))
    if view.marked:
        return PowerDecision(
            action=PowerAction.ENABLE, record=learned.awake(), detail='it is being enabled'
        )
    return PowerDecision(record=learned.awake(), ready=True)


def _not_up(view: View, record: PowerRecord, settings: PowerSettings) -> PowerDecision:
    if _overdue(view, record, settings):
        return PowerDecision(action=PowerAction.GIVE_UP, record=record, detail=_TRIED)
    detail = 'it boots' if view.on else 'it is being switched on'
    if view.on and view.service is not None and not view.marked:
        detail = 'its nova-compute is down'
    if view.on and view.service is None:
        detail = SILENT
    if view.given_up:
        detail = _TRIED
    return PowerDecision(record=record, detail=detail)


def _overdue(view: View, record: PowerRecord, settings: PowerSettings) -> bool:
    late = view.since(record.woken_at) > settings.wake_timeout
    return late and view.marked and not view.given_up


# -- a host that is not needed soon


def _rest_off(view: View) -> PowerDecision:
    if not view.marked:
        # It was switched off by other means, on purpose.
        return PowerDecision(record=view.record.awake(), detail='it is off')
    asleep_since = view.record.asleep_since or view.now
    record = dataclasses.replace(view.record, asleep_since=asleep_since, shutdown_at=None)
    return PowerDecision(record=record, detail='it is asleep')


def _rest_on(view: View, settings: PowerSettings) -> PowerDecision:
    record = view.record
    if view.marked and record.asleep_since is not None:
        # It was switched on by other means.
        woken = dataclasses.replace(record.awake(), woken_at=view.now, down_seen=record.down_seen)
        return PowerDecision(record=woken, detail='it boots')
    if view.marked:
        return _falling_asleep(view, settings)
    if not (view.spare and idle(view, settings)):
        return PowerDecision(record=record.awake(), ready=_reports(view))
    since = record.idle_since or view.now
    record = dataclasses.replace(record.awake(), idle_since=since)
    if _reports(view) and view.since(since) >= settings.idle_after:
        return PowerDecision(action=PowerAction.MARK, record=record, ready=True)
    return PowerDecision(record=record, ready=_reports(view))


def _falling_asleep(view: View, settings: PowerSettings) -> PowerDecision:
    record = view.record
    if not (view.spare and idle(view, settings)):
        if record.shutdown_at is None:
            return PowerDecision(action=PowerAction.ENABLE, record=record.awake())
        # It is already going down; it is woken when a lease needs it.
        return PowerDecision(record=record, detail='it is shutting down')
    if record.shutdown_at is None:
        asked = dataclasses.replace(record, shutdown_at=view.now, down_seen=False)
        return PowerDecision(
            action=PowerAction.SHUT_DOWN, record=asked, detail='it is shutting down'
        )
    if view.since(record.shutdown_at) < settings.shutdown_timeout:
        return PowerDecision(record=record, detail='it is shutting down')
    return PowerDecision(action=PowerAction.CUT_OFF, record=record, detail='it is shutting down')


def _reports(view: View) -> bool:
    return view.service is not None and view.service.state == 'up'
