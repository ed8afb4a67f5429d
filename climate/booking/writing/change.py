# SPDX-License-Identifier: Apache-2.0

"""Changes a lease, wholly or not at all."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import logging
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from climate import exceptions
from climate.booking.choosing import refusals
from climate.booking.choosing.choose import Choice
from climate.booking.choosing.choose import Chooser
from climate.booking.choosing.choose import lock
from climate.booking.choosing.choose import LostRace
from climate.booking.requests import changed_requests
from climate.booking.requests import prepare
from climate.booking.requests import requests
from climate.booking.requests import trusts
from climate.booking.requests.changed_requests import ReservationUpdate
from climate.booking.requests.context import Context
from climate.booking.writing import commit
from climate.booking.writing import revise
from climate.booking.writing.commit import AllocationRequest
from climate.booking.writing.revise import Revision
from climate.db.booking.writer import BookingWriter
from climate.db.transactions.store import Transaction
from climate.domain import events
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.lifecycles import LEASE
from climate.domain.lifecycles import LeaseStatus
from climate.domain.lifecycles import LeaseTrigger
from climate.domain.periods import Period
from climate.domain.requests import Caller
from climate.domain.requests import LeaseChange
from climate.leases import dates
from climate.leases import following
from climate.leases import notices
from climate.leases import schedule
from climate.leases import states

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ChangeRequest:
    """A change of a lease that a caller requests.

    :ivar project_id: None looks in every project
    :ivar trust_id: of the trust that the lease gets; None for the one it has
    :ivar most: the largest number of slots by reservation id, where fewer than requested
        would do
    """

    caller: Caller
    lease_id: str
    project_id: str | None
    change: LeaseChange
    trust_id: str | None = None
    most: Mapping[str, int] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Changed(AllocationRequest):
    """A change that is not written yet.

    :ivar old: the lease as it is
    :ivar revisions: of its reservations
    :ivar choice: None if only details change, such as the name, or the lease waits for resources
    """

    old: Lease
    revisions: tuple[Revision, ...] = ()
    choice: Choice | None = None


def change(
    context: Context,
    caller: Caller,
    lease_id: str,
    project_id: str | None,
    change: LeaseChange,
    work: type[ChangeWork] | None = None,
) -> Lease:
    """Change a lease, wholly or not at all.

    :param project_id: None looks in every project
    :param work: what changes it; None for :class:`ChangeWork`
    :raises climate.exceptions.ClimateError: if it cannot be changed; it is then as before
    """
    new = ChangeRequest(caller=caller, lease_id=lease_id, project_id=project_id, change=change)
    return booked((work or ChangeWork)(context=context, caller=caller, new=new))


def booked(work: ChangeWork) -> Lease:
    """Change a lease, after everything that its effects need has been made.

    :param work: before any cloud call
    :raises climate.exceptions.ClimateError: if it cannot be changed; it is then as before
    """
    context, caller, new = work.context, work.caller, work.new
    with trusts.renewed(context, caller, new.lease_id, work.last_end) as trust_id:
        work = dataclasses.replace(work, new=dataclasses.replace(new, trust_id=trust_id))

        def book(findings: prepare.Findings) -> Lease | prepare.Missing:
            return commit.book(dataclasses.replace(work, findings=findings))

        lease = prepare.booked(context, caller, book, commit.book(work))
    LOG.info(
        'Lease %s: changed, it lasts from %s to %s',
        lease.id,
        lease.period.start.isoformat(),
        lease.period.end.isoformat(),
    )
    return lease


@dataclasses.dataclass(frozen=True, kw_only=True)
class ChangeWork(commit.BookingWork[Changed]):
    """Changes a lease."""

    new: ChangeRequest

    @property
    def last_end(self) -> datetime.datetime | None:
        """The last end that the lease can get; None if its end stays."""
        return self.new.change.end

    def choose(self, tx: Transaction) -> Changed | prepare.Missing:
        """Lock the lease, check the change and choose what it needs; write nothing.

        :returns: the choice, or the cloud calls that are needed first
        :raises climate.exceptions.ClimateError: if the change is not possible
        """
        context, new = self.context, self.new
        old = changed_requests.locked(tx, new.lease_id, new.project_id, new.change)
        if dates.changes_waiting(old, new.change):
            return self.changed_waiting(tx, old)
        changed_requests.check_state(old, new.change)
        if dates.only_details(new.change):
            return Changed(lease=dates.with_details(old, new.change), old=old, filtered=False)
        lease = self._lease(tx, old)
        ids = [reservation.id for reservation in old.reservations]
        current = tx.allocations.live_of(ids) if ids else []
        make_chooser = functools.partial(Chooser, tx, context.settings, context.rng, changing=ids)
        chooser = make_chooser()
        try:
            found = self._revisions(chooser, old, lease.period, current)
        except exceptions.NotEnoughResources as error:
            if old.status is not LeaseStatus.PENDING or not revise.are_linked(old.reservations):
                raise
            chooser = make_chooser()
            found = self._revisions(chooser, old, lease.period, current, error)
        if isinstance(found, prepare.Missing):
            return found
        revisions = self._made(old, found)
        if isinstance(revisions, prepare.Missing):
            return revisions
        return self.changed(tx, old, current, revisions, chooser.choice)

    def changed_waiting(self, tx: Transaction, old: Lease) -> Changed | prepare.Missing:
        """Return the change of a lease that goes on to wait; the next plan looks at it.

        :raises climate.exceptions.MalformedParameter: if its new window is too short
        """
        settings, new = self.context.settings, self.new
        lease = dates.changed_waiting(old, new.change, tx.now, settings.plan_horizon)
        revisions: Sequence[Revision] = ()
        if new.change.reservations:
            read = self._requests(old)
            if isinstance(read, prepare.Missing):
                return read
            made = self._made(old, [_unbooked(*one) for one in read])
            if isinstance(made, prepare.Missing):
                return made
            revisions = made
        return Changed(
            lease=dataclasses.replace(
                lease,
                trust_id=new.trust_id or old.trust_id,
                origin=new.caller.origin or old.origin,
                reservations=tuple(one.new for one in revisions) or old.reservations,
            ),
            old=old,
            limits=settings.limits.of(old.project_id),
        )

    def changed(
        self,
        tx: Transaction,
        old: Lease,
        had: Sequence[Allocation],
        revisions: Sequence[Revision],
        choice: Choice,
    ) -> Changed:
        """Return the change of a lease of which all resources have been chosen."""
        settings = self.context.settings
        allocations = tuple(item for one in revisions for item in (*one.kept, *one.added))
        lead_time = tx.search.lead_times.longest({item.resource_id for item in allocations})
        lease = dataclasses.replace(
            self._lease(tx, old),
            reservations=tuple(one.new for one in revisions),
            lead_time=lead_time,
        )
        firm_before = schedule.firm_before(lease, _preparation(self.context, lease), settings)
        return Changed(
            lease=dataclasses.replace(lease, firm_before=firm_before),
            allocations=allocations,
            old=old,
            had=tuple(had),
            limits=settings.limits.of(old.project_id),
            revisions=tuple(revisions),
            choice=choice,
        )

    def _lease(self, tx: Transaction, old: Lease) -> Lease:
        """Return the lease as it would be, with the reservations that it has."""
        new = self.new
        return dataclasses.replace(
            dates.changed(old, new.change, tx.now),
            trust_id=old.trust_id if new.trust_id is None else new.trust_id,
            origin=new.caller.origin or old.origin,
        )

    def recheck(self, tx: Transaction, request: Changed) -> None:
        """Lock the lease again, in a later transaction than the choice.

        :raises climate.booking.choosing.choose.LostRace: if it has changed
        """
        now = tx.leases.get(self.new.lease_id, self.new.project_id, lock=True)
        ids = [reservation.id for reservation in now.reservations]
        current = tuple(tx.allocations.live_of(ids)) if ids and request.choice else request.had
        if now != request.old or current != request.had:
            raise LostRace

    def write(self, tx: Transaction, request: Changed, charge_id: str | None = None) -> Lease:
        """Write a change; the lease is locked, and as it was when :meth:`choose` read it.

        :raises climate.booking.choosing.choose.LostRace: if the choice is out of date
        """
        context = self.context
        if request.choice is None:
            return _write_details(tx, context, request, self.new.trust_id)
        if request.old.holds_rest and not request.lease.holds_rest:
            tx.rests.release(request.lease.id)
        touched = {
            item.resource_id
            for one in request.revisions
            for item in (*one.kept, *one.leaving, *one.dropped)
        }
        _write_allocations(lock(tx, context.settings, request.choice, touched), tx, request)
        return self._write_lease(tx, request, charge_id)

    def _revisions(
        self,
        chooser: Chooser,
        old: Lease,
        period: Period,
        current: Sequence[Allocation],
        error: exceptions.NotEnoughResources | None = None,
    ) -> list[Revision] | prepare.Missing:
        """Decide what each reservation keeps, gets and gives up.

        :param error: why that failed for one after the other; None at first
        """
        chooser.occupy(current)
        cases = self._cases(chooser, old, period, current)
        if isinstance(cases, prepare.Missing):
            return cases
        known: Mapping[str, Revision] = {}
        if error is not None:
            placed = revise.together(chooser, cases)
            if placed is None:
                raise error
            known = placed
        found = []
        resource_types = [item.resource_type for item in old.reservations]
        for place, case in enumerate(cases):
            with refusals.naming(resource_types, place):
                found.append(known.get(case.reservation.id) or revise.revise(chooser, case))
        return found

    def _cases(
        self, chooser: Chooser, old: Lease, period: Period, current: Sequence[Allocation]
    ) -> list[revise.RevisedCase] | prepare.Missing:
        found, new = [], self.new
        read = self._requests(old)
        if isinstance(read, prepare.Missing):
            return read
        for one, request in read:
            reservation = one.reservation
            found.append(
                revise.case_of(
                    chooser,
                    old,
                    period,
                    reservation,
                    one.before,
                    request,
                    plugin=one.plugin,
                    current=[item for item in current if item.reservation_id == reservation.id],
                    private=new.caller.all_projects,
                    most=new.most.get(reservation.id),
                )
            )
        return found

    def _requests(self, old: Lease) -> list[tuple[ReservationUpdate, Any]] | prepare.Missing:
        """Return what the change requests, as it was inspected in the cloud."""
        found, new = [], self.new
        for one in changed_requests.read(self.context.plugins, old, new.change, new.caller.budget):
            request = one.request
            if one.plugin.inspects and request != one.before:
                inspected, seen = self.findings.inspected.get(one.reservation.id, (None, None))
                if inspected != request:
                    look = prepare.Inspection(
                        plugin=one.plugin,
                        reservation_id=one.reservation.id,
                        request=request,
                        project_id=old.project_id,
                    )
                    return prepare.Missing(inspections=(look,))
                request = seen
            found.append((one, request))
        return found

    def _made(
        self, old: Lease, found: Sequence[Revision]
    ) -> tuple[Revision, ...] | prepare.Missing:
        """Return the revisions with facts about what was made, or what the user has to make."""
        revisions, creations = self._with_facts(old, found)
        if creations and self.new.caller.project_id != old.project_id:
            # The lease could not use things made in another project.
            raise exceptions.Conflict('Only members of its project can make such a change')
        return prepare.Missing(creations=creations) if creations else revisions

    def _with_facts(
        self, lease: Lease, revisions: Sequence[Revision]
    ) -> tuple[tuple[Revision, ...], tuple[prepare.Creation, ...]]:
        """Return the revisions with facts about what was made, and what is still to make.

        The caller makes it again if the plugin's word for it changes.
        """
        found, missing = [], []
        for one in revisions:
            plugin = requests.plugin_of(self.context.plugins, one.new.resource_type)
            request = plugin.load(one.new.request)
            what = plugin.makes(request)
            if what == plugin.makes(plugin.load(one.old.request)):
                found.append(one)
                continue
            facts = self.findings.facts(one.new.id, what)
            if what is not None and facts is None:
                missing.append(
                    prepare.Creation(
                        plugin=plugin,
                        request=request,
                        reservation_id=one.new.id,
                        project_id=lease.project_id,
                        what=what,
                        booked=True,
                    )
                )
            new = dataclasses.replace(one.new, facts={**one.new.facts, **(facts or {})})
            found.append(dataclasses.replace(one, new=new))
        return tuple(found), tuple(missing)

    def _write_lease(self, tx: Transaction, changed: Changed, charge_id: str | None) -> Lease:
        context, new = self.context, self.new
        old, lease, revisions = changed.old, changed.lease, changed.revisions
        seen = tuple(dataclasses.replace(one.new, resources_changed=False) for one in revisions)
        lease = states.write(tx, old, dataclasses.replace(lease, reservations=seen))
        timetable = _reschedule(tx, context, old, lease)
        status = old.status
        moves = any(one.added or one.leaving or one.follows for one in revisions)
        if old.status is LeaseStatus.ACTIVE and moves:
            status = LEASE.table[old.status, LeaseTrigger.CHANGE]
            leaving = [item for one in revisions for item in one.leaving]
            before = {one.old.id: one.old.request for one in revisions if one.new != one.old}
            event = following.new_event(tx, lease, changed.had, leaving, before, charge_id)
            timetable.append(event)
        written = dataclasses.replace(
            lease,
            status=status,
            events=tuple(sorted(timetable, key=events.order)),
            next_due=events.next_due(timetable),
            updated_at=tx.now,
        )
        tx.leases.update(written)
        if new.trust_id is not None:
            tx.trusts.give(new.trust_id, written.id)
        notices.notify(tx, context.plugins, 'lease.update', written)
        return written


def _unbooked(one: ReservationUpdate, request: Any) -> Revision:
    """Return the change of a reservation that has no resources."""
    new = dataclasses.replace(one.reservation, request=one.plugin.dump(request))
    return Revision(old=one.reservation, new=new)


def _write_details(
    tx: Transaction, context: Context, request: Changed, trust_id: str | None
) -> Lease:
    if request.lease == request.old:
        return request.old
    new = dataclasses.replace(states.write(tx, request.old, request.lease), updated_at=tx.now)
    tx.leases.update(new)
    if trust_id is not None:
        tx.trusts.give(trust_id, new.id)
    notices.notify(tx, context.plugins, 'lease.update', new)
    return new


def _write_allocations(writer: BookingWriter, tx: Transaction, changed: Changed) -> None:
    """Write the allocations: first remove, last add.

    So no resource is over capacity in between.
    """
    dropped = {item.id for one in changed.revisions for item in one.dropped}
    writer.remove([number for number in dropped if number is not None])
    stays = {one.old.id for one in changed.revisions if one.kept}
    ids = [
        item.id
        for item in changed.had
        if item.reservation_id in stays and item.id is not None and item.id not in dropped
    ]
    period = changed.lease.period.after(tx.now)
    # Allocations in use keep the instant at which their use began.
    start = None if changed.old.status is LeaseStatus.ACTIVE else period.start
    writer.move(ids, start=start, end=period.end)
    writer.insert(item for one in changed.revisions for item in one.added)


def _reschedule(tx: Transaction, context: Context, old: Lease, new: Lease) -> list[events.Event]:
    moved = schedule.rescheduled(
        old, new, prepares=_preparation(context, old), now=tx.now, settings=context.settings
    )
    changed = [dataclasses.replace(event, updated_at=tx.now) for event in moved.changed]
    added = [dataclasses.replace(event, created_at=tx.now) for event in moved.added]
    tx.events.update_all(changed)
    tx.events.delete(moved.removed)
    tx.events.insert(added)
    timetable = {event.id: event for event in old.events if event.id not in moved.removed}
    timetable.update({event.id: event for event in (*changed, *added)})
    return list(timetable.values())


def _preparation(context: Context, lease: Lease) -> schedule.Preparation:
    return schedule.preparation(context.plugins[one.resource_type] for one in lease.reservations)
