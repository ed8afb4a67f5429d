# SPDX-License-Identifier: Apache-2.0

"""Gives leases with a fixed start the place of flexible ones, which get another at once.

What a fixed lease lacks may be booked by flexible leases that are not firm yet. It gets their
place if each of them finds another within its window. All of it is one transaction.

Of those in the way, the largest give way: as few of them as leave it room. The smaller ones of
these stay if they still can. The others move to the soonest starts that are left, in the order of
their requests. If one of them then has no place left, all of those in the way get places, and
those whose windows end first come first.

A flexible lease that finds no room in its window may do the same at its first or last start.
"""

from __future__ import annotations

import abc
import dataclasses
import datetime
import functools
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Hashable
from collections.abc import Sequence
from typing import cast
from typing import Final
from typing import TypeVar

from climate import exceptions
from climate.allocation.rearrangements import Rearrangement
from climate.booking.choosing import requirements
from climate.booking.choosing.choose import LostRace
from climate.booking.planning import late_binding
from climate.booking.planning import moves
from climate.booking.planning import preemption
from climate.booking.planning import replanning
from climate.booking.planning.preemption import Preempted
from climate.booking.planning.preemption import Preempting
from climate.booking.planning.rearranging import Replanning
from climate.booking.planning.repacking import RoomRequest
from climate.booking.planning.replanning import MovableLease
from climate.booking.requests.context import Context
from climate.booking.requests.new_leases import NewLease
from climate.booking.requests.prepare import Missing
from climate.booking.writing import change
from climate.booking.writing import commit
from climate.booking.writing import create
from climate.booking.writing import rests
from climate.booking.writing.change import Changed
from climate.booking.writing.rests import HeldRest
from climate.conf.planner import Displace
from climate.db.transactions.store import Transaction
from climate.domain.events import EventKind
from climate.domain.history import StepState
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.leases import rest_id
from climate.domain.lifecycles import LeaseStatus
from climate.domain.periods import Period
from climate.enforcement import limits
from climate.leases import dates
from climate.leases import history

MOST: Final = 50
"""How many leases can be displaced at once."""

_MICROSECOND: Final = datetime.timedelta(microseconds=1)
_LONGEST: Final = datetime.timedelta(seconds=2)
# So many of those in the way, which were requested last, can give it.
_CONSIDERED: Final = 256
_REASONS: Final = {
    False: 'because a lease with a fixed start needs the resources',
    True: 'because a lease with a shorter window needs the resources',
}

REBOUND: Final = 'so that another lease finds room'
"""Why a lease gets other resources, for its owner."""

R = TypeVar('R', bound=commit.AllocationRequest)


class Displacing(commit.BookingWork[R]):
    """Books what has a fixed start, if necessary in the place of flexible leases."""

    @abc.abstractmethod
    def fixed(self, tx: Transaction) -> tuple[Period, Collection[str]] | None:
        """Return the period and the resource types that are needed; None without a fixed start."""

    @abc.abstractmethod
    def free(self, tx: Transaction) -> R | Missing:
        """Choose free resources.

        :raises climate.exceptions.NotEnoughResources: if there are too few
        """

    @abc.abstractmethod
    def book(self, tx: Transaction, request: R, charge_id: str | None) -> Lease:
        """Write what was chosen, when its resources are free."""

    def choose(self, tx: Transaction) -> R | Missing:
        """Choose free resources, or else those of flexible leases."""
        try:
            return self.free(tx)
        except exceptions.NotEnoughResources as error:
            found = self.unless_futile(tx, functools.partial(self._giving_way, tx, error))
            if found is None:
                raise
            return found

    def _giving_way(
        self, tx: Transaction, error: exceptions.NotEnoughResources
    ) -> R | Missing | None:
        """Return a choice for which others move, or get other resources; None if there is none."""
        return self.rebinding(tx) or self.displacing(tx, error)

    def unless_futile(
        self, tx: Transaction, search: Callable[[], R | Missing | None]
    ) -> R | Missing | None:
        """Return what a search finds; None if it found nothing a moment ago.

        :param search: for what could give way
        """
        key, context = self.key, self.context
        settings = context.settings
        if key is None or not (settings.rebind or settings.displace is Displace.WINDOW):
            return search()
        state = tuple(tx.leases.planned().items()), tx.resources.generation_sums()
        project_id, ticks = self.caller.project_id, context.clock.ticks()
        if context.futile.knows(project_id, key, state, ticks):
            return None
        found = search()
        if found is None:
            context.futile.add(project_id, key, state, ticks)
        return found

    @property
    def key(self) -> Hashable | None:
        """What equal requests have in common; None if it is not known whether they are equal."""
        return None

    @abc.abstractmethod
    def room_requests(self, tx: Transaction) -> Sequence[RoomRequest]:
        """Return the whole resources that are needed; none if there are no such."""

    def rebinding(self, tx: Transaction) -> R | Missing | None:
        """Return a choice for which other leases get other resources; None if there is none."""
        room_requests = self.room_requests(tx) if self.context.settings.rebind else ()
        has = {item.reservation_id for one in room_requests for item in one.had}
        moved = late_binding.moved(tx, self.context, room_requests, has)
        if moved is None:
            return None
        tx.rearrangement = Rearrangement(self.context.settings.cleaning_time // _MICROSECOND)
        try:
            tx.rearrangement.remove([item for one in moved for item in one.had])
            tx.rearrangement.add([item for one in moved for item in one.allocations])
            request = self.free(tx)
        except exceptions.NotEnoughResources:
            return None
        finally:
            tx.rearrangement = None
        if isinstance(request, Missing):
            return request
        return dataclasses.replace(request, displaced=tuple(moved))

    def displacing(
        self, tx: Transaction, error: exceptions.NotEnoughResources
    ) -> R | Missing | None:
        """Return a choice with the leases that it displaces; None if there is none.

        :param error: why it needs their place
        """
        fixed = self.fixed(tx) if self.context.settings.displace is Displace.WINDOW else None
        if fixed is None:
            return None
        period, resource_types = fixed
        padded = period.padded(self.context.settings.cleaning_time)
        most = self.preempts(tx).rank
        leases = tx.leases.displaceable(resource_types, padded, _CONSIDERED, most)
        movable = replanning.by_size(replanning.movable(tx, self.context, leases))
        # Most of them get resources that others have had.
        tx.search.lead_times.read({item.resource_id for one in movable for item in one.allocations})
        ids = {one.lease.id for one in movable}
        rests = preemption.with_rests(tx, self.context, resource_types, padded, most)
        left = [one for one in rests if one.lease.id not in ids]
        until = self.context.clock.ticks() + _LONGEST.total_seconds()
        found = None
        if movable or left:
            found = self._in_place_of_largest(tx, movable, until, error.missing, left)
            if found is None and self.context.clock.ticks() <= until:
                found = self._in_place_of(tx, movable, until, by_window=True, left=left)
        return found or self._preempting(tx, fixed, movable, until, left)

    def _preempting(
        self,
        tx: Transaction,
        fixed: tuple[Period, Collection[str]],
        movable: Sequence[MovableLease],
        until: float,
        left: Sequence[MovableLease],
    ) -> R | Missing | None:
        """Return a choice that preempts leases that run, or are firm; None if there is none."""
        whose = self.preempts(tx)
        for some in preemption.more(preemption.found(tx, self.context, whose, *fixed)):
            if self.context.clock.ticks() > until:
                break
            firm = [each.one for each in some if each.period is None]
            running = [each for each in some if each.period is not None]
            others = replanning.by_size([*firm, *movable])
            ids = {each.one.lease.id for each in some}
            rests = [one for one in left if one.lease.id not in ids]
            found = self._in_place_of(tx, others, until, running=running, left=rests)
            if found is not None:
                return found
        return None

    def preempts(self, tx: Transaction) -> Preempting:
        """Return whose leases may be preempted: by default those of others."""
        return Preempting(project_id=self.caller.project_id)

    def _in_place_of_largest(
        self,
        tx: Transaction,
        movable: Sequence[MovableLease],
        until: float,
        missing: int,
        left: Sequence[MovableLease],
    ) -> R | Missing | None:
        """Return a choice that displaces the largest of *movable*; None if there is none.

        :param movable: the largest first
        :param missing: how many slots they have to leave at least
        :param left: what is held of leases after their present slices
        """
        count, more = replanning.leaving(movable, missing), 1
        while count <= len(movable) and self.context.clock.ticks() <= until:
            found = self._in_place_of(tx, movable[:count], until, left=left)
            if found is not None or count == len(movable):
                return found
            count, more = min(count + more, len(movable)), 2 * more
        return None

    def _in_place_of(
        self,
        tx: Transaction,
        movable: Sequence[MovableLease],
        until: float,
        *,
        by_window: bool = False,
        running: Sequence[Preempted] = (),
        left: Sequence[MovableLease] = (),
    ) -> R | Missing | None:
        """Return a choice that displaces some of *movable*; None if there is none.

        :param by_window: whether those whose windows end first come first
        :param running: those that may yield, too
        :param left: what is held of other leases after their present slices
        """
        tx.rearrangement = Rearrangement(self.context.settings.cleaning_time // _MICROSECOND)
        try:
            gone = [item for one in (*movable, *left) for item in one.everything]
            tx.rearrangement.remove(gone)
            preemption.begin(tx, running)
            try:
                request = self.free(tx)
            except exceptions.NotEnoughResources:
                return None
            if isinstance(request, Missing):
                return request
            tx.rearrangement.remove(request.had)
            tx.rearrangement.add(_booked(tx, request))
            cut, more = preemption.cut(tx, self.context, running)
            plan = Replanning(tx, self.context, MOST, until)
            find = plan.by_window if by_window else plan.by_size
            displaced = find(movable, [*left, *more])
        finally:
            tx.rearrangement = None
        if displaced is None:
            return None
        moved, rests = tuple(displaced), (*request.rests, *plan.rests)
        return dataclasses.replace(request, displaced=moved, cut=tuple(cut), rests=rests)

    def recheck(self, tx: Transaction, request: R) -> None:
        """Check a choice of an earlier transaction, and the leases that it displaces."""
        super().recheck(tx, request)
        lock(tx, request)

    def write(self, tx: Transaction, request: R, charge_id: str | None = None) -> Lease:
        """Write what was chosen, and where the displaced leases are then."""
        if not request.displaced and not request.cut and not request.rests:
            return self.book(tx, request, charge_id)
        lock(tx, request)
        vacate(tx, self.context, request)
        for one in request.cut:
            preemption.write(tx, self.context, cast(Changed, one))
        lease = self.book(tx, request, charge_id)
        gave_way = len(request.cut)
        with tx.outbox.gathered():
            for one in request.displaced:
                reason = _REASONS[lease.is_flexible]
                if one.lease.period.start == cast(Changed, one).old.period.start:
                    reason = REBOUND
                gave_way += reason != REBOUND
                write_place(tx, self.context, cast(Changed, one), reason)
        _hold(tx, self.context, request)
        _note(tx, lease, gave_way)
        return lease


def needed(new: NewLease, now: datetime.datetime) -> tuple[Period, Collection[str]]:
    """Return the period of a new lease as far as it lies ahead, and its resource types."""
    period = Period(start=new.draft.start, end=new.draft.end)
    return period.after(now), {one.needs.search.resource_type for one in new.requests}


def key(new: NewLease) -> Hashable:
    """Return what equal requests for a new lease have in common."""
    draft = new.draft
    asked = [(one.plugin.resource_type, one.needs.stored) for one in new.requests]
    return (
        *(draft.start, draft.end, draft.earliest, draft.latest, draft.priority),
        *(draft.preemptible, draft.yields, draft.min_duration, draft.preempt_own, draft.limited),
        *(repr(draft.placements), repr(draft.reservations), repr(asked), new.caller.all_projects),
    )


def preempting(new: NewLease) -> Preempting:
    """Return whose leases a new lease may preempt."""
    draft, project_id = new.draft, new.caller.project_id
    return Preempting(
        project_id=project_id,
        own=draft.preempt_own,
        in_time=draft.preemptible,
        rank=draft.priority or 0,
    )


def new_room_requests(context: Context, new: NewLease, now: datetime.datetime) -> list[RoomRequest]:
    """Return the whole resources that a new lease needs."""
    period = Period(start=new.draft.start, end=new.draft.end).after(now)
    padded = period.padded(context.settings.cleaning_time)
    return [RoomRequest(needed=one) for one in requirements.of_new_lease(new, period, padded)]


def changed_room_requests(
    tx: Transaction, context: Context, new: change.ChangeRequest
) -> list[RoomRequest]:
    """Return the whole resources that a lease needs in another period; none if more changes."""
    if new.change.reservations:
        return []
    old = tx.leases.get(new.lease_id, new.project_id)
    period = dates.changed(old, new.change, tx.now).period.after(tx.now)
    pause = context.settings.cleaning_time
    (one,) = replanning.read(tx, context, [old])
    found = []
    for needed in one.within(period, pause):
        mine = [item for item in one.allocations if item.reservation_id == needed.reservation_id]
        keeps = old.status is LeaseStatus.ACTIVE
        only = frozenset(item.resource_id for item in mine) if keeps else None
        found.append(RoomRequest(needed=needed, only=only, had=tuple(mine)))
    return found


class FixedLeaseWork(Displacing[create.Chosen], create.NewLeaseWork):
    """Books a new lease at the start of its draft."""

    @property
    def key(self) -> Hashable:
        """What equal requests have in common."""
        return key(self.new)

    def fixed(self, tx: Transaction) -> tuple[Period, Collection[str]]:
        """Return the period and the resource types that are needed."""
        return needed(self.new, tx.now)

    def preempts(self, tx: Transaction) -> Preempting:
        """Return whose leases may be preempted."""
        return preempting(self.new)

    def room_requests(self, tx: Transaction) -> list[RoomRequest]:
        """Return what the lease needs."""
        return new_room_requests(self.context, self.new, tx.now)

    def free(self, tx: Transaction) -> create.Chosen | Missing:
        """Choose free resources."""
        return create.NewLeaseWork.choose(self, tx)

    def book(self, tx: Transaction, request: create.Chosen, charge_id: str | None) -> Lease:
        """Write the lease."""
        return create.NewLeaseWork.write(self, tx, request, charge_id)


class FixedChangeWork(Displacing[Changed], change.ChangeWork):
    """Changes a lease with a fixed start."""

    def fixed(self, tx: Transaction) -> tuple[Period, Collection[str]] | None:
        """Return the new period and the resource types; None if the lease is flexible."""
        old = tx.leases.get(self.new.lease_id, self.new.project_id)
        lease = dates.changed(old, self.new.change, tx.now)
        if lease.is_flexible and lease.status is LeaseStatus.PENDING:
            return None
        plugins = self.context.plugins
        found = [(plugins[one.resource_type], one.request) for one in lease.reservations]
        types = {plugin.search(plugin.load(request)).resource_type for plugin, request in found}
        return lease.period.after(tx.now), types

    def preempts(self, tx: Transaction) -> Preempting:
        """Return whose leases may be preempted."""
        lease = tx.leases.get(self.new.lease_id, self.new.project_id)
        return Preempting(
            project_id=lease.project_id,
            own=self.new.change.preempt_own,
            in_time=lease.yields is not None,
            rank=lease.rank,
        )

    def room_requests(self, tx: Transaction) -> list[RoomRequest]:
        """Return what the lease needs in its new period, of what it has."""
        return changed_room_requests(tx, self.context, self.new)

    def free(self, tx: Transaction) -> Changed | Missing:
        """Choose what the lease keeps, gets and gives up."""
        return change.ChangeWork.choose(self, tx)

    def book(self, tx: Transaction, request: Changed, charge_id: str | None) -> Lease:
        """Write the change."""
        return change.ChangeWork.write(self, tx, request, charge_id)


def _booked(tx: Transaction, request: commit.AllocationRequest) -> list[Allocation]:
    """Return the allocations of a request in the period that they get."""
    period = request.lease.period.after(tx.now)
    return [dataclasses.replace(item, period=period) for item in request.allocations]


def _parts(request: commit.AllocationRequest) -> list[commit.AllocationRequest | HeldRest]:
    """Return all that is written: the lease first, and then what others have."""
    return [request, *request.displaced, *request.cut, *request.rests]


def lock(tx: Transaction, request: commit.AllocationRequest) -> None:
    """Lock the displaced leases, and those that yield.

    :raises climate.booking.choosing.choose.LostRace: if one of them has changed
    """
    every = (*request.displaced, *request.cut)
    old = {one.lease.id: one.lease for one in request.rests if one.lease.id != request.lease.id}
    old |= {one.lease.id: cast(Lease, one.old) for one in every}
    current = {lease.id: lease for lease in tx.leases.with_ids(sorted(old), lock=True)}
    mine = [item.id for one in every for item in cast(Lease, one.old).reservations]
    held = [rest_id(item.id) for lease in old.values() for item in lease.reservations]
    ids = [*mine, *(held if request.rests else ())]
    has = {item for one in _parts(request)[1:] for item in one.had}
    if current != old or set(tx.allocations.live_of(ids)) != has:
        raise LostRace


def vacate(tx: Transaction, context: Context, request: commit.AllocationRequest) -> None:
    """Lock all resources concerned, and remove what the displaced leases have."""
    every = _parts(request)
    writer = tx.book(
        {item.resource_id for one in every for item in (*one.allocations, *one.had)},
        pause=context.settings.cleaning_time,
    )
    gone = [item.id for one in request.displaced for item in one.had]
    gone += [item.id for one in request.rests for item in one.had]
    writer.remove([number for number in gone if number is not None])


def _hold(tx: Transaction, context: Context, request: commit.AllocationRequest) -> None:
    """Write what is held of leases after their present slices.

    :raises climate.exceptions.LeaseRefused: if the new lease may not have so much
    :raises climate.booking.choosing.choose.LostRace: if another one may not
    """
    written = {one.lease.id for one in (request, *request.displaced, *request.cut)}
    for one in request.rests:
        if one.lease.id not in written:
            # Planners read it again.
            tx.leases.update(one.lease)
        try:
            rests.write(tx, context.settings, one)
        except exceptions.LeaseRefused as error:
            if one.lease.id == request.lease.id:
                raise
            raise LostRace from error


def _note(tx: Transaction, lease: Lease, gave_way: int) -> None:
    """Record how many leases gave way to a lease; those of other projects have no names here."""
    start = next((event for event in lease.events if event.kind is EventKind.START), None)
    if gave_way and start is not None:
        leases = f'{gave_way} flexible lease{"s" * (gave_way > 1)}'
        history.note(tx, start, StepState.DONE, text=f'took the place of {leases}')


def write_place(tx: Transaction, context: Context, moved: Changed, reason: str) -> Lease:
    """Write where a displaced lease is, whose allocations have been removed.

    :param reason: for its owner
    :raises climate.booking.choosing.choose.LostRace: if its project may not have so much then
    """
    # The rows of others may have got their ids since.
    gone = tuple(dataclasses.replace(one, dropped=()) for one in moved.revisions)
    moved = dataclasses.replace(moved, revisions=gone)
    new = moves.to(moved.old, moved.lease.period)
    work = moves.PlannedMove(context=context, caller=new.caller, new=new, reason=reason)
    try:
        with limits.held(tx, moved.limits, moved.lease, moved.old, moved.allocations, moved.had):
            return work.write(tx, moved)
    except exceptions.ProjectLimit as error:
        raise LostRace from error
