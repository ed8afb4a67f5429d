# SPDX-License-Identifier: Apache-2.0

"""Books a new lease."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import functools
import logging
import operator
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import TypeVar

from climate import exceptions
from climate.booking.choosing import placements
from climate.booking.choosing import requirements
from climate.booking.choosing.choose import Choice
from climate.booking.choosing.choose import lock
from climate.booking.choosing.choose import together
from climate.booking.choosing.requirements import Requirements
from climate.booking.requests import new_leases
from climate.booking.requests import prepare
from climate.booking.requests import trusts
from climate.booking.requests.context import Context
from climate.booking.requests.new_leases import NewLease
from climate.booking.writing import commit
from climate.booking.writing.commit import AllocationRequest
from climate.db.statements import inserts
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.domain import events
from climate.domain.copies import with_changes
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.requests import Caller
from climate.domain.requests import LeaseDraft
from climate.enforcement import limits
from climate.exceptions.failures import log_failure
from climate.leases import notices
from climate.leases import schedule

LOG = logging.getLogger(__name__)
_PLUGIN = operator.attrgetter('plugin')


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Chosen(AllocationRequest):
    """A lease that is not written yet.

    :ivar held: the new ids of reservations that have the allocations already, by the
        old ones; empty if the allocations are to be booked
    """

    choice: Choice
    held: Mapping[str, str] = dataclasses.field(default_factory=dict)


C = TypeVar('C', bound=Chosen)
Pick = Callable[[Sequence[Requirements]], tuple[Choice, tuple[Allocation, ...]]]
"""Chooses what the reservations of a new lease require."""


def create(
    context: Context, caller: Caller, draft: LeaseDraft, work: type[LeaseWork[Chosen]] | None = None
) -> Lease:
    """Book a lease.

    :param work: what books it; None for :class:`NewLeaseWork`
    :raises climate.exceptions.InvalidInput: naming the field that is wrong
    :raises climate.exceptions.NotEnoughResources: if the period is taken
    :raises climate.exceptions.LeaseRefused: if a limit or a filter forbids it
    """
    if draft.id is not None and (found := earlier(context, draft.id)) is not None:
        return found
    new = new_leases.checked(context, caller, draft)
    return booked((work or NewLeaseWork)(context=context, caller=caller, new=new))


def booked(work: LeaseWork[C]) -> Lease:
    """Book a lease, after everything that its effects need has been made.

    :param work: before any cloud call
    :raises climate.exceptions.ClimateError: if the lease cannot be booked
    """
    context, caller, new = work.context, work.caller, work.new

    def book(trust_id: str | None, findings: prepare.Findings) -> Lease | prepare.Missing:
        return commit.book(dataclasses.replace(work, trust_id=trust_id, findings=findings))

    with _trust(context, new) as trust_id, _things(context, new):
        outcome = book(trust_id, prepare.NOTHING)
        if not isinstance(outcome, Lease):
            outcome = prepare.booked(context, caller, functools.partial(book, trust_id), outcome)
    LOG.info('Lease %s: booked for project %s', outcome.id, outcome.project_id)
    return outcome


def earlier(context: Context, lease_id: str) -> Lease | None:
    """Return the lease that an earlier try has booked with this id; None if none has.

    :raises climate.exceptions.Conflict: if it was deleted since
    """
    with context.store.reading() as tx:
        if tx.leases.project_of(lease_id) is None:
            return None
        lease = tx.leases.find(lease_id)
    if lease is None:
        raise exceptions.Conflict(f'Lease {lease_id} was booked, and has been deleted since')
    return lease


@dataclasses.dataclass(frozen=True, kw_only=True)
class LeaseWork(commit.BookingWork[C]):
    """Books a new lease.

    :ivar trust_id: of the caller's trust; None if none is needed
    """

    new: NewLease
    trust_id: str | None = None

    def chosen(self, tx: Transaction, pick: Pick | None = None) -> Chosen | prepare.Missing:
        """Choose resources for the lease; write nothing but rows of things.

        :param pick: chooses what the reservations require; None for free resources
        :returns: the choice, or what the caller has to make first
        :raises climate.exceptions.NotEnoughResources: if the period is taken
        :raises climate.exceptions.LeaseRefused: if a limit of the project forbids it
        """
        context, new = self.context, self.new
        lease = new_leases.proposed(tx, new, self.findings, self.trust_id)
        if new.draft.id is not None and tx.leases.project_of(lease.id) is not None:
            # By another try of this request. The next one finds the lease, see earlier().
            raise exceptions.IdempotencyKeyInUse(retry_after=1)
        period = lease.period.after(tx.now)
        padded = period.padded(context.settings.cleaning_time)
        has = tx.projects.leases(lease.project_id) if new.limits.leases else 0
        limits.check_new(new.limits, lease, has, tx.now)
        for resource_type, name in new.things:
            tx.things.ensure(resource_type, name, new.caller.project_id)
        needed = requirements.of_new_lease(new, period, padded)
        if pick is None:
            choice, allocations = together(tx, context.settings, context.rng, needed)
        else:
            choice, allocations = pick(needed)
        # After the choice, because that is where most leases are refused.
        if new.makes and (makes := missing(new, self.findings)):
            return prepare.Missing(creations=makes)
        lead_time = tx.search.lead_times.longest(set(choice.generations))
        lease = with_changes(lease, lead_time=lead_time)
        prepares = schedule.preparation(map(_PLUGIN, new.requests))
        firm_before = schedule.firm_before(lease, prepares, context.settings)
        if new.draft.placements:
            lease = placements.shown(tx, lease, allocations)
        timetable = schedule.initial(
            lease, new.draft.events, prepares=prepares, now=tx.now, settings=context.settings
        )
        due = events.next_due(timetable)
        lease = with_changes(lease, firm_before=firm_before, next_due=due, events=tuple(timetable))
        return Chosen(lease=lease, allocations=allocations, limits=new.limits, choice=choice)

    def write(self, tx: Transaction, request: C, charge_id: str | None = None) -> Lease:
        """Write a lease that was chosen, in the same or a later transaction.

        :raises climate.booking.choosing.choose.LostRace: if the choice is out of date
        """
        lease = request.lease
        with inserts.together(tx.session):
            tx.leases.insert(lease)
            tx.reservations.insert(lease.reservations)
            tx.events.insert(lease.events)
            notices.notify(tx, self.context.plugins, 'lease.create', lease)
            # Last, since others wait for the rows of resources until the commit.
            writer = lock(tx, self.context.settings, request.choice)
            if not request.held:
                writer.insert(request.allocations)
        if request.held:
            writer.give(request.held)
        if lease.trust_id is not None:
            tx.trusts.give(lease.trust_id, lease.id)
        if self.findings.created:
            tx.intents.forget([reservation_id for reservation_id, _ in self.findings.created])
        return lease


class NewLeaseWork(LeaseWork[Chosen]):
    """Books a new lease, of free resources."""

    def choose(self, tx: Transaction) -> Chosen | prepare.Missing:
        """Choose free resources."""
        return self.chosen(tx)


def missing(new: NewLease, findings: prepare.Findings) -> tuple[prepare.Creation, ...]:
    """Return what the caller has to make first and has not made yet."""
    return tuple(
        prepare.Creation(
            plugin=one.plugin,
            request=one.request,
            reservation_id=reservation_id,
            project_id=new.caller.project_id,
            what=what,
        )
        for reservation_id, one in zip(new.ids, new.requests, strict=True)
        if (what := one.needs.makes) is not None and findings.facts(reservation_id, what) is None
    )


@contextlib.contextmanager
def _trust(context: Context, new: NewLease) -> Iterator[str | None]:
    """Create the caller's trust if effects need one; delete it if the booking fails."""
    wanted = [(one.plugin, one.needs.roles) for one in new.requests if one.needs.roles]
    if not wanted:
        yield None
        return
    with trusts.made(new.caller, wanted, context, _last_end(context, new)) as trust_id:
        yield trust_id


def _last_end(context: Context, new: NewLease) -> datetime.datetime:
    """Return the last end that a lease can get."""
    if new.draft.earliest is None:
        return new.draft.end
    return new.draft.latest or new.draft.end + context.settings.plan_horizon


def _things(context: Context, new: NewLease) -> contextlib.AbstractContextManager[None]:
    if not new.things:
        return contextlib.nullcontext()
    return _forgotten_unless_booked(context.store, new.things)


@contextlib.contextmanager
def _forgotten_unless_booked(store: Store, wanted: Collection[tuple[str, str]]) -> Iterator[None]:
    """Remove the resources of things if the booking fails.

    With a filter that waits, the transaction that chose has already committed them.
    """
    try:
        yield
    except BaseException:
        if wanted:
            try:
                store.run(lambda tx: tx.things.forget(wanted))
            except Exception as error:
                # The first error is the one to report.
                log_failure(LOG, error, 'Resources that were not booked stay until the next purge')
        raise
