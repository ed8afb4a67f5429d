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

"""How long effects are waited for.

What fails is tried again until a deadline. What is under way is waited for
until then too, or for as long as the effect says that it may take; a failure
meanwhile, such as a service that restarts, is given the whole deadline from the
last time that all was well.

Only time in which a manager was at it counts: the tries themselves and the
pauses between them. An outage of the managers does not. The count stands in the
event's payload, so that it outlives the manager.
"""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any
from typing import Final

from climate.domain.events import Event
from climate.domain.lifecycles import EventState
from climate.leasing.jobs import Report

_NOTHING = datetime.timedelta(0)
_TRIED = 'tried_seconds'
_UNTIL = 'tried_until'
_WELL = 'well_seconds'
TOLD: Final = 'wait_told'
"""Whether it was told that the event has to wait."""
_KEYS = frozenset({_TRIED, _UNTIL, _WELL, TOLD})
# No single try uses the whole deadline up, however long its manager hung.
_SHARE = 4


def tried(event: Event) -> datetime.timedelta:
    """Return for how long managers have been at *event*, or have waited for its turn."""
    return datetime.timedelta(seconds=event.payload.get(_TRIED, 0.0))


def taken_up(event: Event, now: datetime.datetime, unfinished: datetime.timedelta) -> Event:
    """Return *event* as a manager takes it up.

    :param unfinished: what a try counts at most that no manager finished
    """
    if event.begun_at is None:
        return _counted(forgotten(event), now, _NOTHING)
    if event.state is EventState.IN_PROGRESS:
        return _counted(event, now, min(now - _until(event, now), unfinished))
    return looked_at(event, now)


def looked_at(event: Event, now: datetime.datetime) -> Event:
    """Return *event* after a pause: what it is late by does not count."""
    return _counted(event, now, min(now, event.due) - _until(event, now))


def settled(event: Event, now: datetime.datetime, deadline: datetime.timedelta) -> Event:
    """Return *event* after a try that a manager finished."""
    return _counted(event, now, min(now - _until(event, now), deadline / _SHARE))


def forgotten(event: Event) -> Event:
    """Return *event* as one that was never tried."""
    payload = {key: value for key, value in event.payload.items() if key not in _KEYS}
    return dataclasses.replace(event, payload=payload)


def well(event: Event, report: Report) -> Event:
    """Return an event that remembers that what it waits for went well until now."""
    if report.patience <= _NOTHING:
        return event
    return _with(event, {_WELL: event.payload.get(_TRIED, 0.0)})


def expired(event: Event, deadline: datetime.timedelta) -> bool:
    """Whether an event has failed for so long that it is given up."""
    since = datetime.timedelta(seconds=event.payload.get(_WELL, 0.0))
    return tried(event) - since >= deadline


def took_too_long(event: Event, report: Report, deadline: datetime.timedelta) -> bool:
    """Whether what is under way is not waited for any more."""
    return report.again is not None and tried(event) >= max(deadline, report.patience)


def _until(event: Event, now: datetime.datetime) -> datetime.datetime:
    stored = event.payload.get(_UNTIL)
    return now if stored is None else datetime.datetime.fromisoformat(stored)


def _counted(event: Event, now: datetime.datetime, more: datetime.timedelta) -> Event:
    total = tried(event) + max(more, _NOTHING)
    return _with(event, {_TRIED: total.total_seconds(), _UNTIL: now.isoformat()})


def _with(event: Event, more: dict[str, Any]) -> Event:
    return dataclasses.replace(event, payload={**event.payload, **more})
