# SPDX-License-Identifier: Apache-2.0

"""Leases that wait for room: requested and checked, but without a booking.

Everything that needs the user is made when the lease is requested. A manager books it
as soon as there is room in its window, or ends it when that is too late.
"""

from __future__ import annotations

import dataclasses
import datetime
from typing import Final

from climate import exceptions
from climate.booking.choosing.choose import Choice
from climate.booking.choosing.choose import lock
from climate.booking.planning import replanning
from climate.booking.planning.places import Place
from climate.booking.planning.replanning import MovableLease
from climate.booking.requests import new_leases
from climate.booking.requests import prepare
from climate.booking.requests.context import Context
from climate.booking.writing import commit
from climate.booking.writing import create
from climate.booking.writing import rests
from climate.booking.writing.create import Chosen
from climate.db.transactions.store import Transaction
from climate.domain.events import EventKind
from climate.domain.history import StepState
from climate.domain.leases import Lease
from climate.domain.lifecycles import LeaseStatus
from climate.enforcement import limits
from climate.leases import history
from climate.leases import notices
from climate.leases import schedule

_TOO_LATE: Final = 'There was no room for it in time'


def unbooked(tx: Transaction, work: create.LeaseWork[Chosen]) -> Chosen | prepare.Missing:
    """Return a new lease that waits, or what its user has to make first.

    :raises climate.exceptions.LeaseRefused: if a limit of the project forbids it
    """
    new, findings = work.new, work.findings
    lease = new_leases.proposed(tx, new, findings, work.trust_id)
    has = tx.projects.leases(lease.project_id) if new.limits.leases else 0
    limits.check_new(new.limits, lease, has, tx.now)
    if new.makes and (missing := create.missing(new, findings)):
        return prepare.Missing(creations=missing)
    waits = dataclasses.replace(lease, status=LeaseStatus.WAITING)
    nothing = Choice(generations={}, chosen=(), changing=())
    return Chosen(lease=waits, limits=new.limits, choice=nothing)


def last_start(context: Context, lease: Lease) -> datetime.datetime:
    """Return the last start that a waiting lease can get."""
    length = lease.length
    requested = lease.created_at or lease.period.start
    latest = lease.latest or requested + context.settings.plan_horizon + length
    return latest - length


def is_late(context: Context, lease: Lease, now: datetime.datetime) -> bool:
    """Whether a lease has waited for too long."""
    return last_start(context, lease) < now or (
        # What has begun is to be brought to its end.
        lease.wait_until is not None and lease.wait_until <= now and not lease.ran
    )


def at(tx: Transaction, context: Context, one: MovableLease, earliest: datetime.datetime) -> Place:
    """Return the soonest place of a lease that waits.

    :raises climate.exceptions.NotEnoughResources: if there is none
    :raises climate.exceptions.ProjectLimit: if a limit of the project forbids each
    """
    search = replanning.PlaceSearch(tx, context, one, max(earliest, tx.now))
    found = search.place(last_start(context, one.lease) + one.lease.length)
    if found is None:
        raise search.limit or exceptions.NotEnoughResources
    return Place(one=one, **found._asdict())


def booked(tx: Transaction, context: Context, lease: Lease, place: Place) -> Lease:
    """Return a lease that waits as it is once it has a place, with its events."""
    ids = set(place.choice.generations)
    return rests.booked(tx, context.plugins, context.settings, lease, place.period, ids)


@dataclasses.dataclass(frozen=True, kw_only=True)
class WaitingLeaseWork(commit.BookingWork[Chosen]):
    """Books a lease that waits, at the soonest start in its window.

    :ivar place: where a plan has found room for it; None if it has to search
    """

    lease_id: str
    place: Place | None = None

    def choose(self, tx: Transaction) -> Chosen:
        """Choose the start, and free resources.

        :raises climate.exceptions.NotEnoughResources: if there is no room
        :raises climate.exceptions.Conflict: if it is not as the plan has seen it
        """
        context = self.context
        old = tx.leases.get(self.lease_id, lock=True)
        if old.status is not LeaseStatus.WAITING or old.earliest is None:
            raise exceptions.InvalidState(state=old.status, id=old.id)
        if self.place is not None and self.place.one.lease.updated_at != old.updated_at:
            raise exceptions.Conflict('It was changed meanwhile')
        place = self._found(tx, old) if self.place is None else self.place
        return Chosen(
            lease=booked(tx, context, old, place),
            allocations=place.since(tx.now),
            old=old,
            filtered=False,
            limits=context.settings.limits.of(old.project_id),
            choice=place.choice,
        )

    def _found(self, tx: Transaction, old: Lease) -> Place:
        """Return a place for the lease.

        :raises climate.exceptions.NotEnoughResources: if there is none
        """
        (one,) = replanning.read(tx, self.context, [old])
        return at(tx, self.context, one, old.earliest or tx.now)

    def write(self, tx: Transaction, request: Chosen, charge_id: str | None = None) -> Lease:
        """Write the booking."""
        lease, old = request.lease, request.old
        # Those of an earlier slice are in the history.
        tx.events.delete([] if old is None else [event.id for event in old.events])
        tx.events.insert(lease.events)
        tx.leases.update(lease)
        start = next(event for event in lease.events if event.kind is EventKind.START)
        since = lease.created_at if old is None or not old.events else old.updated_at
        text = f'booked, after waiting since {since:%Y-%m-%dT%H:%M:%SZ}'
        history.note(tx, start, StepState.DONE, text=text)
        notices.notify(tx, self.context.plugins, 'lease.update', lease)
        lock(tx, self.context.settings, request.choice).insert(request.allocations)
        return lease


def end(tx: Transaction, context: Context, lease_id: str) -> bool:
    """Have a lease end that has waited for too long; return whether it has."""
    lease = tx.leases.get(lease_id, lock=True)
    if lease.status is not LeaseStatus.WAITING or not is_late(context, lease, tx.now):
        return False
    event = schedule.new_event(lease.id, EventKind.END, tx.now)
    tx.events.insert([event])
    ended = dataclasses.replace(
        lease,
        end_reason=_TOO_LATE,
        events=(*lease.events, event),
        next_due=tx.now,
        updated_at=tx.now,
    )
    tx.leases.update(ended)
    return True
