# SPDX-License-Identifier: Apache-2.0

"""Moves flexible leases forward for which others have to get other resources.

All of it is decided in memory, as in a plan: the first lease in order for which enough is free at
each instant of a sooner period gets it, what it leaves is free, and so on. What several of them
have caused is written in one transaction.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Final

from climate import exceptions
from climate.allocation import joint
from climate.allocation.free_totals import FreeTotals
from climate.allocation.matches import Match
from climate.allocation.rearrangements import Rearrangement
from climate.allocation.steps import instant
from climate.allocation.steps import microseconds
from climate.booking.choosing.candidates import MatchingBlocks
from climate.booking.choosing.choose import together
from climate.booking.choosing.requirements import Requirements
from climate.booking.planning import displacement
from climate.booking.planning import late_binding
from climate.booking.planning import moves
from climate.booking.planning import repacking
from climate.booking.planning.repacking import LooseBooking
from climate.booking.planning.repacking import Repacking
from climate.booking.planning.repacking import RoomRequest
from climate.booking.planning.replanning import MovableLease
from climate.booking.planning.seekers import Seeker
from climate.booking.requests.context import Context
from climate.booking.writing import change
from climate.booking.writing import commit
from climate.booking.writing.change import Changed
from climate.db.transactions.store import Transaction
from climate.domain.leases import Lease
from climate.domain.lifecycles import LeaseStatus
from climate.domain.periods import Period
from climate.enforcement import limits

_MICROSECOND: Final = datetime.timedelta(microseconds=1)
# Of so many leases, the first ones in order, it is found out.
_CONSIDERED: Final = 500
# So many have enough by count, and find it on no resources, before the rest is left as it is.
_FAILURES: Final = 10


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReboundMoves(change.ChangeWork):
    """Moves flexible leases forward, and has others get other resources.

    :ivar plan: what has been decided, the leases that move first
    :ivar reason: why they move, for their owners
    """

    plan: tuple[Changed, ...]
    reason: str

    def choose(self, tx: Transaction) -> Changed:
        """Return the first one with all others, if the leases are as the plan has seen them.

        :raises climate.booking.choosing.choose.LostRace: if they are not
        """
        first, *others = self.plan
        request = dataclasses.replace(first, displaced=tuple(others))
        self.recheck(tx, request)
        displacement.lock(tx, request)
        for one in others:
            commit.check_filters(tx, self.context, moves.owner(one.old), one)
        return request

    def write(self, tx: Transaction, request: Changed, charge_id: str | None = None) -> Lease:
        """Write where all of them are then."""
        displacement.vacate(tx, self.context, dataclasses.replace(request, displaced=self.plan))
        found = [
            displacement.write_place(
                tx, self.context, one, self.reason if _is_moved(one) else displacement.REBOUND
            )
            for one in self.plan
        ]
        return found[0]

    def committed(self, request: Changed) -> None:
        """Record the moves, for metrics."""
        for one in self.plan:
            if _is_moved(one):
                commit.record_move(one, commit.ROOM)


def _is_moved(one: Changed) -> bool:
    return one.lease.period != one.old.period


def decided(
    tx: Transaction, context: Context, seekers: Sequence[Seeker], most: int
) -> tuple[Changed, ...]:
    """Return leases that begin sooner, and then those that get other resources for that.

    :param tx: which has rearranged nothing yet
    :param seekers: in order, none of which finds free resources at a sooner start
    :param most: how many begin sooner at most
    """
    tx.rearrangement = Rearrangement(context.settings.cleaning_time // _MICROSECOND)
    try:
        return _Rebinding(tx, context, seekers).decided(most)
    finally:
        tx.rearrangement = None


class _Rebinding:
    """Distributes bookings so that leases begin sooner, one after the other."""

    def __init__(self, tx: Transaction, context: Context, seekers: Sequence[Seeker]) -> None:
        if tx.rearrangement is None:
            raise ValueError('the bookings are rearranged')
        self._tx = tx
        self._context = context
        self._rearranged: Rearrangement = tx.rearrangement
        self._now = microseconds(tx.now)
        matches = ((one, _match(one)) for one in seekers[:_CONSIDERED])
        self._matches = {one: match for one, match in matches if match is not None}
        self._last = max((one.before + one.length for one in self._matches), default=0)
        self._types: dict[str, Repacking] = {}
        self._failed: set[str] = set()
        self._settled: set[str] = set()

    def decided(self, most: int) -> tuple[Changed, ...]:
        """Return the leases that move, and then the others."""
        moved = 0
        while moved < most and self._moves_one():
            moved += 1
        found = [one for each in self._types.values() for one in self._changed(each)]
        return tuple(sorted(found, key=_is_moved, reverse=True))

    def _changed(self, bookings: Repacking) -> list[Changed]:
        elsewhere = bookings.elsewhere
        return repacking.changed(self._tx, self._context, elsewhere, bookings.generations)

    def _moves_one(self) -> bool:
        """Have the first lease that can begin sooner do so; return whether there is one."""
        for one, start in self._sooner():
            if self._is_moved(one, start):
                return True
            self._failed.add(one.lease.id)
            if len(self._failed) >= _FAILURES:
                break
        return False

    def _sooner(self) -> Iterator[tuple[Seeker, int]]:
        """Yield leases with a sooner start at which enough is free, though not throughout."""
        blocks = MatchingBlocks(self._tx)
        known: list[tuple[Match, FreeTotals]] = []
        for one, match in self._matches.items():
            if one.lease.id in self._failed or one.lease.id in self._settled:
                continue
            totals = next((found for each, found in known if each == match), None)
            if totals is None:
                totals = FreeTotals.of(blocks.of(match), {}, self._now, self._last)
                known.append((match, totals))
            start = self._start(one, match, totals)
            if start is None:
                self._settled.add(one.lease.id)
            else:
                yield one, start

    def _start(self, one: Seeker, match: Match, totals: FreeTotals) -> int | None:
        period, slots, count = one.lease.period, len(one.own), one.one.slots
        if match.resource_type in self._types:
            has = self._types[match.resource_type].bookings(one.lease)
            if len(has) < len(one.one.needed):
                # It has to keep some of what it has.
                return None
            period = has[0].needed.period
            slots = sum(len(each.allocations) for each in has)
        first, before = max(one.first, self._now), microseconds(period.start)
        if first + joint.MINUTE > before:
            return None
        end = microseconds(period.end)
        there = totals.between(first, end).with_more(before, end, slots)
        return there.first_start(count, one.length, first, before)

    def _is_moved(self, one: Seeker, start: int) -> bool:
        """Have a lease begin at a start; return whether that is possible."""
        bookings = self._repacking(self._matches[one].resource_type)
        had = bookings.bookings(one.lease)
        if len(had) < len(one.one.needed):
            return False
        period = Period(start=instant(start), end=instant(start + one.length))
        lease = had[0].one
        needed = lease.within(period, self._context.settings.cleaning_time)
        room_requests = [RoomRequest(needed=each) for each in needed]
        has = {each.reservation_id for each in needed}
        others = bookings.found(room_requests, has, later=0)
        if others is None:
            others = bookings.found(room_requests, has, later=repacking.LATER[0])
        if others is None:
            return False
        gone = [*had, *map(bookings.now, others)]
        self._rearrange(gone, others)
        mine = self._chosen(lease, period, needed)
        if mine is None or len({*bookings.leases, *_leases([*mine, *others])}) > late_binding.MOST:
            self._rearrange(others, gone)
            return False
        self._rearrange((), mine)
        bookings.take([*mine, *others])
        self._unsettle(microseconds(had[0].period.start))
        return True

    def _unsettle(self, start: int) -> None:
        """Have leases looked at again that may gain from what is free from a start on."""
        for one in self._matches:
            if start < microseconds(one.lease.period.end):
                self._settled.discard(one.lease.id)

    def _repacking(self, resource_type: str) -> Repacking:
        if resource_type not in self._types:
            self._types[resource_type] = Repacking(self._tx, self._context, resource_type)
        return self._types[resource_type]

    def _rearrange(self, gone: Iterable[LooseBooking], there: Iterable[LooseBooking]) -> None:
        self._rearranged.remove([item for one in gone for item in one.allocations])
        self._rearranged.add([item for one in there for item in one.allocations])

    def _chosen(
        self, one: MovableLease, period: Period, needed: Sequence[Requirements]
    ) -> list[LooseBooking] | None:
        """Return what a lease gets in a period; None if it cannot, or may not."""
        settings, lease = self._context.settings, one.lease
        try:
            _, allocations = together(self._tx, settings, self._context.rng, needed)
            there = dataclasses.replace(lease, period=period)
            allowed = settings.limits.of(lease.project_id)
            limits.check_place(self._tx, allowed, there, lease, allocations)
        except (exceptions.NotEnoughResources, exceptions.ProjectLimit):
            return None
        return [
            LooseBooking(
                one=one,
                needed=each,
                allocations=tuple(
                    item for item in allocations if item.reservation_id == each.reservation_id
                ),
            )
            for each in needed
        ]


def _leases(bookings: Iterable[LooseBooking]) -> set[str]:
    return {one.one.lease.id for one in bookings}


def _match(one: Seeker) -> Match | None:
    """Return what all resources of a lease have to match; None if counts do not suffice."""
    lease, needed = one.lease, one.one.needed
    plain = all(RoomRequest(needed=each).is_possible and not each.search.names for each in needed)
    if one.searches or lease.status is not LeaseStatus.PENDING or lease.yields or not plain:
        return None
    return needed[0].match if all(each.match == needed[0].match for each in needed) else None
