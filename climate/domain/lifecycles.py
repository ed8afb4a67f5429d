# SPDX-License-Identifier: Apache-2.0

"""The life cycles of leases, reservations and events: three tables.

Each machine is data, ``(old, trigger) -> new``; a pair that is not in the
table is refused. The diagrams in the documentation are drawn from the tables::

    LEASE.table[lease.status, LeaseTrigger.START]
    (lease.status, LeaseTrigger.START) in LEASE.table
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Generic
from typing import NoReturn
from typing import TypeVar


class LeaseStatus(enum.StrEnum):
    """The status of a lease, in the words that existing clients know."""

    WAITING = 'WAITING'
    PENDING = 'PENDING'
    STARTING = 'STARTING'
    ACTIVE = 'ACTIVE'
    UPDATING = 'UPDATING'
    TERMINATING = 'TERMINATING'
    TERMINATED = 'TERMINATED'
    DELETING = 'DELETING'
    DELETED = 'DELETED'
    ERROR = 'ERROR'


class LeaseTrigger(enum.StrEnum):
    """What changes the status of a lease."""

    BOOK = 'book'
    START = 'start'
    STARTED = 'started'
    CHANGE = 'change'
    CHANGED = 'changed'
    END = 'end'
    ENDED = 'ended'
    YIELDED = 'yielded'
    DELETE = 'delete'
    DELETED = 'deleted'
    FAIL = 'fail'


class ReservationStatus(enum.StrEnum):
    """The status of a reservation; lower case in the API."""

    PENDING = 'pending'
    ACTIVE = 'active'
    DELETED = 'deleted'
    ERROR = 'error'


class ReservationTrigger(enum.StrEnum):
    """What changes the status of a reservation."""

    STARTED = 'started'
    YIELDED = 'yielded'
    ENDED = 'ended'
    FAIL = 'fail'


class EventState(enum.StrEnum):
    """The state of an event."""

    UNDONE = 'UNDONE'
    IN_PROGRESS = 'IN_PROGRESS'
    DONE = 'DONE'
    ERROR = 'ERROR'


class EventTrigger(enum.StrEnum):
    """What changes the state of an event."""

    BEGIN = 'begin'
    POSTPONE = 'postpone'
    FINISH = 'finish'
    FAIL = 'fail'
    REARM = 'rearm'
    CANCEL = 'cancel'


class TransitionRefused(Exception):
    """The table has no such transition."""

    def __init__(self, machine: str, old: str, trigger: str) -> None:
        super().__init__(f'{machine}: no {trigger!r} from {old!r}')
        self.old = old
        self.trigger = trigger


S = TypeVar('S', bound=enum.StrEnum)
T = TypeVar('T', bound=enum.StrEnum)


class LifeCycle(Generic[S, T]):
    """A named table of transitions.

    :ivar beginnings: the states in which it can begin, the usual one first
    :ivar table: the state that each trigger leads to from each state, read only;
        :class:`TransitionRefused` for a pair that it does not have
    """

    def __init__(
        self, name: str, beginnings: tuple[S, ...], table: Mapping[tuple[S, T], S]
    ) -> None:
        self.name = name
        self.beginnings = beginnings
        self.table: Mapping[tuple[S, T], S] = MappingProxyType(_Transitions(name, table))


class _Transitions(dict[tuple[S, T], S]):
    def __init__(self, machine: str, table: Mapping[tuple[S, T], S]) -> None:
        super().__init__(table)
        self._machine = machine

    def __missing__(self, key: tuple[S, T]) -> NoReturn:
        raise TransitionRefused(self._machine, *key)


def _lease_table() -> dict[tuple[LeaseStatus, LeaseTrigger], LeaseStatus]:
    s, t = LeaseStatus, LeaseTrigger
    table = {
        # The usual life: booked, perhaps after a wait, started, used, ended.
        (s.WAITING, t.BOOK): s.PENDING,
        (s.PENDING, t.START): s.STARTING,
        (s.STARTING, t.STARTED): s.ACTIVE,
        (s.ACTIVE, t.END): s.TERMINATING,
        (s.TERMINATING, t.ENDED): s.TERMINATED,
        **dict.fromkeys([(s.TERMINATING, t.YIELDED), (s.ERROR, t.YIELDED)], s.WAITING),
        # A manager that takes over continues where the last one stopped.
        (s.STARTING, t.START): s.STARTING,
        (s.TERMINATING, t.END): s.TERMINATING,
        (s.DELETING, t.DELETE): s.DELETING,
        # It waited for too long, or the whole period passed while no manager ran.
        (s.WAITING, t.END): s.TERMINATING,
        (s.PENDING, t.END): s.TERMINATING,
        # The end comes while the start is still being tried.
        (s.STARTING, t.END): s.TERMINATING,
        # A change of an active lease requires effects in the cloud.
        (s.ACTIVE, t.CHANGE): s.UPDATING,
        (s.UPDATING, t.CHANGE): s.UPDATING,
        (s.UPDATING, t.CHANGED): s.ACTIVE,
        (s.UPDATING, t.END): s.TERMINATING,
        # Failures: the status shows them, and the lease still ends.
        (s.STARTING, t.FAIL): s.ERROR,
        (s.TERMINATING, t.FAIL): s.ERROR,
        (s.DELETING, t.FAIL): s.ERROR,
        (s.ERROR, t.FAIL): s.ERROR,
        (s.ERROR, t.END): s.TERMINATING,
        # An end or a deletion that succeeds after failures.
        (s.ERROR, t.ENDED): s.TERMINATED,
        (s.ERROR, t.DELETED): s.DELETED,
        (s.DELETING, t.DELETED): s.DELETED,
        # A waiting, pending or ended lease holds nothing and is deleted at once.
        (s.WAITING, t.DELETED): s.DELETED,
        (s.PENDING, t.DELETED): s.DELETED,
        (s.TERMINATED, t.DELETED): s.DELETED,
    }
    ended = (s.TERMINATED, s.DELETING, s.DELETED)
    return table | {(status, t.DELETE): s.DELETING for status in s if status not in ended}


def _reservation_table() -> dict[tuple[ReservationStatus, ReservationTrigger], ReservationStatus]:
    s, t = ReservationStatus, ReservationTrigger
    return {
        (s.PENDING, t.STARTED): s.ACTIVE,
        (s.ACTIVE, t.STARTED): s.ACTIVE,
        (s.ACTIVE, t.YIELDED): s.PENDING,
        (s.PENDING, t.FAIL): s.ERROR,
        (s.ACTIVE, t.FAIL): s.ERROR,
        (s.ERROR, t.FAIL): s.ERROR,
        (s.PENDING, t.ENDED): s.DELETED,
        (s.ACTIVE, t.ENDED): s.DELETED,
        (s.ERROR, t.ENDED): s.DELETED,
        (s.DELETED, t.ENDED): s.DELETED,
    }


def _event_table() -> dict[tuple[EventState, EventTrigger], EventState]:
    s, t = EventState, EventTrigger
    return {
        (s.UNDONE, t.BEGIN): s.IN_PROGRESS,
        # The manager that began it died; the next one begins it again.
        (s.IN_PROGRESS, t.BEGIN): s.IN_PROGRESS,
        (s.IN_PROGRESS, t.POSTPONE): s.UNDONE,
        (s.IN_PROGRESS, t.FINISH): s.DONE,
        (s.IN_PROGRESS, t.FAIL): s.ERROR,
        # The lease's dates changed: it is announced, even if it already was.
        (s.UNDONE, t.REARM): s.UNDONE,
        (s.DONE, t.REARM): s.UNDONE,
        # The lease was deleted, so the event does not happen.
        (s.UNDONE, t.CANCEL): s.DONE,
        (s.IN_PROGRESS, t.CANCEL): s.DONE,
    }


LEASE = LifeCycle('lease', (LeaseStatus.PENDING, LeaseStatus.WAITING), _lease_table())
RESERVATION = LifeCycle('reservation', (ReservationStatus.PENDING,), _reservation_table())
EVENT = LifeCycle('event', (EventState.UNDONE,), _event_table())
