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

"""Events of a lease: their kinds, their order, their lateness."""

from __future__ import annotations

import dataclasses
import datetime
import enum
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

from climate.domain.lifecycles import EventState


class EventKind(enum.StrEnum):
    """What must happen to a lease."""

    PREPARE = 'prepare'
    BEFORE_START = 'before_start_lease'
    START = 'start_lease'
    UPDATE = 'update_lease'
    CHECK = 'check_lease'
    NOTIFICATION = 'notification'
    BEFORE_END = 'before_end_lease'
    END = 'end_lease'
    UNDO = 'undo_lease'
    DELETE = 'delete_lease'


# Of several events at one instant, what takes away comes before what gives,
# and a message about an instant before the instant itself.
_RANK = {
    kind: rank
    for rank, kind in enumerate(
        (
            EventKind.DELETE,
            EventKind.UNDO,
            EventKind.BEFORE_END,
            EventKind.NOTIFICATION,
            EventKind.END,
            EventKind.PREPARE,
            EventKind.BEFORE_START,
            EventKind.START,
            EventKind.UPDATE,
            EventKind.CHECK,
        )
    )
}

# Kinds that bring the cloud to a state; the others only tell.
EFFECTS = frozenset(
    {
        EventKind.PREPARE,
        EventKind.START,
        EventKind.UPDATE,
        EventKind.CHECK,
        EventKind.BEFORE_END,
        EventKind.END,
        EventKind.UNDO,
        EventKind.DELETE,
    }
)

# Kinds that existing clients know and that are shown at every version.
PUBLIC_AT_1_0 = frozenset(
    {EventKind.START, EventKind.END, EventKind.BEFORE_END, EventKind.NOTIFICATION}
)
PUBLIC_AT_1_1 = PUBLIC_AT_1_0 | {EventKind.BEFORE_START}

OPEN = frozenset({EventState.UNDONE, EventState.IN_PROGRESS})


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """One thing that must happen to a lease.

    :ivar time: the instant it is meant for (aware UTC); shown to users
    :ivar due: when a manager is to take it up: *time*, or later when it was
        postponed
    :ivar begun_at: when it was first taken up; None if it never was
    :ivar attempts: how often it was taken up
    :ivar error: why it failed last, for people
    :ivar payload: facts its kind needs, JSON
    """

    id: str
    lease_id: str
    kind: EventKind
    time: datetime.datetime
    due: datetime.datetime
    state: EventState = EventState.UNDONE
    attempts: int = 0
    begun_at: datetime.datetime | None = None
    error: str | None = None
    payload: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None

    @property
    def open(self) -> bool:
        """Whether it has still to happen."""
        return self.state in OPEN


def order(event: Event) -> tuple[datetime.datetime, int, str]:
    """Sort key: by due time, ends before starts, then by id to be stable."""
    return (event.due, _RANK[event.kind], event.id)


def next_due(events: Iterable[Event]) -> datetime.datetime | None:
    """When the first open event is due; None if nothing is left to happen."""
    return min((event.due for event in events if event.open), default=None)


def lateness(event: Event, now: datetime.datetime) -> datetime.timedelta:
    """How long after its time *event* happens at *now*; never negative.

    A lease that starts "now" begins on paper with the minute, but nobody could
    have started it before it was asked for.
    """
    possible = max(event.time, event.created_at or event.time)
    return max(now - possible, datetime.timedelta(0))


def is_news(attempts: int) -> bool:
    """Whether the *attempts*-th failure is worth a line in a log: the 1st, 2nd, 4th, 8th, …

    What goes on failing is tried for ever, and says nothing new each time.

    :param attempts: failures so far, from 1
    """
    return attempts & (attempts - 1) == 0


def backoff(attempts: int, first: float, longest: float) -> datetime.timedelta:
    """The pause after the *attempts*-th failure: doubled each time, bounded.

    :param attempts: failures so far, from 1
    :param first: the first pause, in seconds
    :param longest: the longest pause, in seconds
    """
    exponent = min(max(attempts, 1) - 1, 30)
    return datetime.timedelta(seconds=min(first * 2**exponent, longest))
