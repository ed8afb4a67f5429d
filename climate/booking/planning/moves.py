# SPDX-License-Identifier: Apache-2.0

"""Moves flexible leases within their windows."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Collection
from typing import Final

from climate import exceptions
from climate.booking.choosing.choose import Choice
from climate.booking.requests import changed_requests
from climate.booking.writing import change as changes
from climate.booking.writing import commit
from climate.booking.writing.change import ChangeRequest
from climate.booking.writing.revise import Revision
from climate.db.transactions.store import Transaction
from climate.domain.events import EventKind
from climate.domain.history import StepState
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.periods import Period
from climate.domain.requests import Caller
from climate.domain.requests import LeaseChange
from climate.domain.requests import WindowChange
from climate.leases import history
from climate.leases import notices
from climate.messaging import schemas

_MOST_NAMES: Final = 20


@dataclasses.dataclass(frozen=True, kw_only=True)
class PlannedMove(changes.ChangeWork):
    """Moves a flexible lease to another start, and notifies its owner.

    :ivar reason: why, for its owner
    :ivar cause: the same, for metrics
    """

    reason: str
    cause: str = commit.ROOM

    def write(
        self, tx: Transaction, request: changes.Changed, charge_id: str | None = None
    ) -> Lease:
        """Write the move."""
        lease = super().write(tx, request, charge_id)
        start = next(event for event in lease.events if event.kind is EventKind.START)
        before, after = request.old.period.start, lease.period.start
        way = 'forward' if after < before else 'back'
        text = f'moved {way} to {_written(after)} from {_written(before)}, {self.reason}'
        if request.old.period == lease.period:
            text = _rebound(request, self.reason)
        elif before == after:
            text = f'lasts until {_written(lease.period.end)}, {self.reason}'
        history.note(tx, start, StepState.DONE, text=text)
        notices.notify(tx, self.context.plugins, schemas.MOVED, lease, reason=text)
        return lease

    def committed(self, request: changes.Changed) -> None:
        """Record the move, for metrics."""
        commit.record_move(request, self.cause)


@dataclasses.dataclass(frozen=True, kw_only=True)
class DecidedMove(PlannedMove):
    """Moves a flexible lease to a place that a plan has found.

    :ivar had: what the plan has seen it have
    :ivar choice: of the resources
    :ivar allocations: all that it gets
    """

    had: tuple[Allocation, ...]
    choice: Choice
    allocations: tuple[Allocation, ...]

    def choose(self, tx: Transaction) -> changes.Changed:
        """Return the move, if the lease is as the plan has seen it.

        :raises climate.exceptions.Conflict: if it is not, or is firm
        """
        old = changed_requests.locked(tx, self.new.lease_id, None, self.new.change)
        had = tuple(tx.allocations.live_of([one.id for one in old.reservations]))
        if old.is_firm(tx.now) or had != self.had:
            raise exceptions.Conflict('It was changed meanwhile')
        revisions = [self._revision(tx, one) for one in old.reservations]
        return self.changed(tx, old, had, revisions, self.choice)

    def _revision(self, tx: Transaction, reservation: Reservation) -> Revision:
        """Return what a reservation keeps, gives up and gets."""
        gets = {_what(one): one for one in self.allocations if _is_of(reservation, one)}
        kept, dropped = list[Allocation](), list[Allocation]()
        for item in (one for one in self.had if _is_of(reservation, one)):
            stays = gets.pop(_what(item), None) is not None
            (kept if stays else dropped).append(item)
        added = tuple(gets.values())
        (new,) = tx.reservations.with_members([reservation], (*kept, *added))
        return Revision(
            old=reservation, new=new, kept=tuple(kept), dropped=tuple(dropped), added=added
        )


def _is_of(reservation: Reservation, item: Allocation) -> bool:
    return item.reservation_id == reservation.id


def _what(item: Allocation) -> tuple[int, str | None, int]:
    return item.resource_id, item.resource_class, item.amount


def owner(lease: Lease) -> Caller:
    """Return the owner of a lease, who may require what the lease was booked with."""
    return Caller(user_id=lease.user_id, project_id=lease.project_id, all_projects=True)


def to(lease: Lease, period: Period) -> ChangeRequest:
    """Return the request to move a flexible lease, unless it changes meanwhile."""

    def check(current: Lease) -> None:
        if current.updated_at != lease.updated_at or current.period != lease.period:
            raise exceptions.Conflict('It was changed meanwhile')

    change = LeaseChange(
        start=period.start,
        end=period.end,
        window=WindowChange(duration=period.length, sliced=True),
        strict=True,
        grain=datetime.timedelta(0),
        # What begins at once was found a moment ago.
        asked_at=period.start,
        check=check,
    )
    return ChangeRequest(caller=owner(lease), lease_id=lease.id, project_id=None, change=change)


def _rebound(request: changes.Changed, reason: str) -> str:
    """Return which resources a lease has instead of which others."""
    had = {item.resource_name for item in request.had}
    has = {item.resource_name for item in request.allocations}
    return f'has {_names(has - had)} instead of {_names(had - has)}, {reason}'


def _names(found: Collection[str]) -> str:
    names = sorted(found)
    more = [f'{len(names) - _MOST_NAMES} more'] if len(names) > _MOST_NAMES else []
    return ', '.join([*names[:_MOST_NAMES], *more])


def _written(time: datetime.datetime) -> str:
    return f'{time:%Y-%m-%dT%H:%M:%SZ}'
