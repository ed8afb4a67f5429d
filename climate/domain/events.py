# SPDX-License-Identifier: Apache-2.0

"""Events of a lease: their kinds, their order, their lateness."""

from __future__ import annotations

import dataclasses
import datetime
import enum
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

from climate.domain import payloads
from climate.domain.copies import with_changes
from climate.domain.lifecycles import EVENT
from climate.domain.lifecycles import EventState
from climate.domain.lifecycles import EventTrigger


class EventKind(enum.StrEnum):
    """The kinds of events of a lease."""

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


# Of several events at one instant, those that release resources precede those
# that assign them, and an announcement precedes what it announces.
RANK = {
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

# Kinds that change the cloud; the others only notify.
EFFECTS = frozenset(EventKind) - {EventKind.BEFORE_START, EventKind.NOTIFICATION}

# Kinds that existing clients know and that every microversion shows.
PUBLIC_AT_1_0 = frozenset(
    {EventKind.START, EventKind.END, EventKind.BEFORE_END, EventKind.NOTIFICATION}
)
PUBLIC_AT_1_1 = PUBLIC_AT_1_0 | {EventKind.BEFORE_START}

PAYLOADS: Mapping[EventKind, type[payloads.Payload]] = {
    **dict.fromkeys(EFFECTS, payloads.EffectPayload),
    EventKind.BEFORE_START: payloads.AnnouncementPayload,
    EventKind.UPDATE: payloads.ChangePayload,
    EventKind.NOTIFICATION: payloads.Payload,
    EventKind.END: payloads.EndPayload,
    EventKind.DELETE: payloads.EndPayload,
}

OPEN = frozenset({EventState.UNDONE, EventState.IN_PROGRESS})


NO_PAYLOAD = payloads.Payload()
"""The default of a payload; an event replaces it by the empty payload of its kind."""
_NOTHING = datetime.timedelta(0)
_UNTRIED: Mapping[str, Any] = {
    'tried': _NOTHING,
    'tried_when_well': _NOTHING,
    'wait_notified': False,
}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """One event of a lease.

    :ivar time: the scheduled instant (aware UTC); shown to users
    :ivar due: when a manager should take up the event: *time*, or later if it
        was postponed
    :ivar begun_at: when a manager first took it up; None if none did
    :ivar attempts: how often a manager took it up
    :ivar error: why it last failed, in a form for people
    :ivar payload: facts that its kind needs; by default an empty payload of its kind
    :raises TypeError: if the payload is not one of its kind
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
    payload: payloads.Payload = NO_PAYLOAD
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None

    def __post_init__(self) -> None:
        """Check that the payload is one of the kind of the event."""
        expected = PAYLOADS[self.kind]
        if self.payload is NO_PAYLOAD:
            object.__setattr__(self, 'payload', expected())
        elif type(self.payload) is not expected:
            raise TypeError(f'{self.kind} needs an {expected.__name__}')

    @property
    def effect(self) -> payloads.EffectPayload:
        """The payload of an event with effects.

        :raises TypeError: if it has none
        """
        if isinstance(self.payload, payloads.EffectPayload):
            return self.payload
        raise TypeError(f'{self.kind} has no effects')

    @property
    def change(self) -> payloads.ChangePayload | None:
        """The payload of a change of a running lease; None for other events."""
        return self.payload if isinstance(self.payload, payloads.ChangePayload) else None

    @property
    def end(self) -> payloads.EndPayload | None:
        """The payload of an end or a deletion; None for other events."""
        return self.payload if isinstance(self.payload, payloads.EndPayload) else None

    @property
    def open(self) -> bool:
        """Whether the event is still to happen."""
        return self.state in OPEN

    @property
    def undoing(self) -> bool:
        """Whether the event undoes a change of a running lease."""
        return self.change is not None and self.change.undoing

    @property
    def forced(self) -> bool:
        """Whether an operator forces the end despite failures."""
        return self.end is not None and self.end.forced

    def after(self, trigger: EventTrigger, **changes: Any) -> Event:
        """Return the event after *trigger*; success clears its error.

        :raises climate.domain.lifecycles.TransitionRefused: if it cannot happen now
        """
        if trigger is EventTrigger.FINISH:
            changes.setdefault('error', None)
        return with_changes(self, state=EVENT.table[self.state, trigger], **changes)

    # -- time spent on attempts
    #
    # A manager retries a failed event until a deadline. It waits until the same
    # deadline for an operation under way, or for as long as the effect allows. A
    # failure during the wait, such as a service that restarts, has the whole
    # deadline, counted from the last moment without a failure.
    #
    # Only the time in which a manager works on the event counts: the attempts and
    # the pauses between them, not an outage of the managers. The count is in the
    # payload, so that it outlives the manager.

    @property
    def tried(self) -> datetime.timedelta:
        """How long managers have tried the event, or have waited for its turn."""
        return self.effect.tried

    def taken_up(self, now: datetime.datetime, unfinished: datetime.timedelta) -> Event:
        """Return the event as a manager takes it up.

        :param unfinished: the longest time that counts for a try that no manager
            finished
        :raises climate.domain.lifecycles.TransitionRefused: if it cannot happen now
        """
        if self.begun_at is None:
            counted = self._with(**_UNTRIED, tried_until=now)
        elif self.state is EventState.IN_PROGRESS:
            counted = self._counted(now, min(now - self._until(now), unfinished))
        else:
            counted = self.looked_at(now)
        return counted.after(EventTrigger.BEGIN, begun_at=self.begun_at or now)

    def looked_at(self, now: datetime.datetime) -> Event:
        """Return the event after a pause; time by which it is late does not count."""
        return self._counted(now, min(now, self.due) - self._until(now))

    def settled(self, now: datetime.datetime, deadline: datetime.timedelta) -> Event:
        """Return the event after a try that a manager finished.

        A single try counts for at most a quarter of the deadline, however long the
        manager hung.
        """
        return self._counted(now, min(now - self._until(now), deadline / 4))

    def untried(self) -> Event:
        """Return the event as if no manager had tried it."""
        return self._with(**_UNTRIED, tried_until=None)

    def progressing(self) -> Event:
        """Return the event with the note that its operation is progressing."""
        return self._with(tried_when_well=self.tried)

    def expired(self, deadline: datetime.timedelta) -> bool:
        """Whether the event has failed until its deadline and is abandoned."""
        return self.tried - self.effect.tried_when_well >= deadline

    def wait_notified(self) -> Event:
        """Return the event with the note that its owner was notified of the wait."""
        return self._with(wait_notified=True)

    def failure_notified(self) -> Event:
        """Return the event with the note that its owner was notified of the failures."""
        return self._with(failure_notified=True)

    def _until(self, now: datetime.datetime) -> datetime.datetime:
        return self.effect.tried_until or now

    def _counted(self, now: datetime.datetime, more: datetime.timedelta) -> Event:
        return self._with(tried=self.tried + max(more, _NOTHING), tried_until=now)

    def _with(self, **changes: Any) -> Event:
        return with_changes(self, payload=with_changes(self.effect, **changes))


def order(event: Event) -> tuple[datetime.datetime, int, str]:
    """Sort key: by due time, ends before starts, then by id to be stable."""
    return (event.due, RANK[event.kind], event.id)


def first_due(events: Iterable[Event], now: datetime.datetime) -> Event | None:
    """Return the first open event that is due at *now*; None if there is none."""
    due = [event for event in events if event.state in OPEN and event.due <= now]
    return min(due, key=order, default=None)


def next_due(events: Iterable[Event]) -> datetime.datetime | None:
    """Return when the first open event is due; None if no event is open."""
    return min((event.due for event in events if event.open), default=None)


def lateness(event: Event, now: datetime.datetime) -> datetime.timedelta:
    """The delay of *event* if it happens at *now*; never negative.

    The nominal start of a lease that starts "now" is the beginning of the minute,
    but the delay counts from the request at the earliest.
    """
    possible = max(event.time, event.created_at or event.time)
    return max(now - possible, datetime.timedelta(0))


def is_news(attempts: int) -> bool:
    """Whether to log the *attempts*-th failure: the 1st, 2nd, 4th, 8th, …

    Retries continue indefinitely, and most repeat what is already in the log.

    :param attempts: failures so far, from 1
    """
    return attempts & (attempts - 1) == 0


def backoff(attempts: int, first: float, longest: float) -> datetime.timedelta:
    """The pause after the *attempts*-th failure: doubles each time, up to a bound.

    :param attempts: failures so far, from 1
    :param first: the first pause, in seconds
    :param longest: the longest pause, in seconds
    """
    exponent = min(max(attempts, 1) - 1, 30)
    return datetime.timedelta(seconds=min(first * 2**exponent, longest))
