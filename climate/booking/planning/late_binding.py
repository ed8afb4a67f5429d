# SPDX-License-Identifier: Apache-2.0

"""Decides late which resources a lease has: others may get them until it is firm.

A request can find too little although enough resources are free at each instant of its period:
not the same ones all the time. Then the pending bookings of the type are distributed again, each
in its own period, so that the request finds what it needs. Those that name their resources, that
are placed, or whose owner knows which ones they have, keep theirs.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections import defaultdict
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

import numpy as np

from climate.allocation import joint
from climate.allocation.free_totals import FreeTotals
from climate.allocation.matches import Match
from climate.allocation.packing import PackedBooking
from climate.allocation.packing import Packing
from climate.allocation.rearrangements import Rearrangement
from climate.allocation.steps import Bools
from climate.allocation.steps import instant
from climate.allocation.steps import Ints
from climate.allocation.steps import microseconds
from climate.booking.choosing import candidates
from climate.booking.choosing import matching
from climate.booking.choosing.candidates import MatchingBlocks
from climate.booking.choosing.choose import Choice
from climate.booking.choosing.choose import ChosenResources
from climate.booking.choosing.requirements import Requirements
from climate.booking.planning import replanning
from climate.booking.planning.replanning import FoundPlace
from climate.booking.planning.replanning import MovableLease
from climate.booking.requests.context import Context
from climate.booking.writing.change import Changed
from climate.db.transactions.store import Transaction
from climate.domain.events import EventKind
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.lifecycles import EventState
from climate.domain.lifecycles import LeaseStatus
from climate.domain.periods import Period
from climate.leases import schedule
from climate.leases.settings import LeasingSettings

MOST: Final = 200
"""How many leases can get other resources at once."""

_CONSIDERED: Final = 1_000
_MOST_STARTS: Final = 3
_MICROSECOND: Final = datetime.timedelta(microseconds=1)
_TOLD: Final = frozenset({EventKind.PREPARE, EventKind.BEFORE_START})


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """Whole resources that a reservation is to get.

    :ivar needed: what it requires, and when
    :ivar only: ids of the resources that it has and keeps; None for any
    :ivar had: what its lease has, which makes room for it
    """

    needed: Requirements
    only: frozenset[int] | None = None
    had: tuple[Allocation, ...] = ()

    @property
    def is_possible(self) -> bool:
        """Whether other bookings can make room for it: it needs whole resources, anywhere."""
        needed = self.needed
        return not (needed.search.demand or needed.placement or candidates.is_thing(needed))


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Booking:
    """What a reservation of a lease has that is not firm."""

    one: MovableLease
    needed: Requirements
    allocations: tuple[Allocation, ...]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Rebound(_Booking):
    """What a reservation has then.

    :ivar gets: the generations of resources that it has not had, by id
    """

    gets: Mapping[int, int]


def is_loose(lease: Lease, settings: LeasingSettings, now: datetime.datetime) -> bool:
    """Whether a lease may get other resources: it is pending, and nothing depends on them yet."""
    before = max(
        lease.firm_before or 0, int(settings.firm_before.total_seconds()), lease.lead_time or 0
    )
    return (
        lease.status is LeaseStatus.PENDING
        and not lease.degraded
        and lease.readiness is None
        and lease.period.start - datetime.timedelta(seconds=before) > now
        and not any(
            event.state is not EventState.UNDONE or event.due <= now
            for event in lease.events
            if event.kind in _TOLD
        )
    )


def moved(
    tx: Transaction, context: Context, wishes: Sequence[Wish], has: Collection[str] = ()
) -> list[Changed] | None:
    """Return leases that get other resources, so that all wishes can be met.

    :param has: ids of the reservations that have the wishes, if they have anything
    :returns: None if they cannot, or without it
    """
    if not wishes or not all(one.is_possible for one in wishes):
        return None
    found: dict[str, list[_Rebound]] = defaultdict(list)
    for resource_type in sorted({one.needed.search.resource_type for one in wishes}):
        mine = [one for one in wishes if one.needed.search.resource_type == resource_type]
        if not _may_fit(tx, mine):
            return None
        packed = _Repacking(tx, context, resource_type, mine, has).found()
        if packed is None:
            return None
        for rebound in packed:
            found[rebound.one.lease.id].append(rebound)
    if not 0 < len(found) <= MOST:
        return None
    return [_changed(tx, context, some) for some in found.values()]


def _changed(tx: Transaction, context: Context, some: Sequence[_Rebound]) -> Changed:
    """Return a lease some reservations of which get other resources."""
    one = some[0].one
    ids = {rebound.needed.reservation_id for rebound in some}
    kept = [item for item in one.allocations if item.reservation_id not in ids]
    choice = Choice(
        generations={key: value for rebound in some for key, value in rebound.gets.items()},
        chosen=tuple(
            ChosenResources(requirements=rebound.needed, ids=frozenset(rebound.gets))
            for rebound in some
        ),
        changing=(),
    )
    allocations = [item for rebound in some for item in rebound.allocations]
    place = FoundPlace(one.lease.period, choice, (*kept, *allocations))
    return replanning.changed(tx, context, one, place)


def periods(
    tx: Transaction,
    needed: Sequence[Requirements],
    first: datetime.datetime,
    until: datetime.datetime,
) -> Iterator[Period]:
    """Yield periods in which enough whole resources are free, though not always the same ones.

    :param needed: what reservations require, in a period of the same length
    :param first: the first start
    :param until: each start is before this
    """
    matches = [one.match for one in needed]
    if not needed or any(one != matches[0] for one in matches):
        return
    if not all(Wish(needed=one).is_possible and not one.search.names for one in needed):
        return
    length = needed[0].period.length // _MICROSECOND
    count = sum(one.minimum for one in needed)
    start, before = microseconds(first), microseconds(until)
    if start >= before:
        return
    blocks = MatchingBlocks(tx).of(matches[0])
    totals = FreeTotals.of(blocks, {}, start, before + length)
    for _ in range(_MOST_STARTS):
        found = totals.between(start, before + length).first_start(count, length, start, before)
        if found is None:
            return
        yield Period(start=instant(found), end=instant(found + length))
        start = found + joint.MINUTE


def _may_fit(tx: Transaction, wishes: Sequence[Wish]) -> bool:
    """Whether enough resources are free at each instant."""
    blocks = MatchingBlocks(tx)
    for one in wishes:
        if one.had:
            # What it has counts, too.
            continue
        start, end = microseconds(one.needed.period.start), microseconds(one.needed.period.end)
        totals = FreeTotals.of(blocks.of(one.needed.match), {}, start, end).between(start, end - 1)
        if min(totals.numbers.tolist(), default=0) < one.needed.minimum:
            return False
    return True


class _Repacking:
    """Distributes what is booked of one resource type."""

    def __init__(
        self,
        tx: Transaction,
        context: Context,
        resource_type: str,
        wishes: Sequence[Wish],
        has: Collection[str],
    ) -> None:
        self._tx = tx
        self._context = context
        self._type = resource_type
        self._wishes = wishes
        self._has = has
        self._pause = context.settings.cleaning_time // _MICROSECOND

    def found(self) -> list[_Rebound] | None:
        """Return what gets other resources; None if that is of no use."""
        loose = list(self._loose())
        gone = [item for one in loose for item in one.allocations]
        gone += {item.id: item for one in self._wishes for item in one.had}.values()
        if not loose:
            return None
        rearranged = Rearrangement(self._pause)
        rearranged.remove(gone)
        blocks = rearranged.blocks(self._type, lambda: self._tx.timeline(self._type))
        self._ids: Ints = np.concatenate([block.ids for block in blocks])
        self._rows = {key: row for row, key in enumerate(self._ids.tolist())}
        self._names = [name for block in blocks for name in block.names]
        generations = np.concatenate([block.generations for block in blocks]).tolist()
        self._generations = dict(zip(self._ids.tolist(), generations, strict=True))
        self._blocks = blocks
        self._matches: list[tuple[Match, Bools]] = []
        wanted = [each for one in self._wishes for each in self._wanted(one)]
        rows = Packing(blocks, [*wanted, *map(self._packed, loose)]).rows()
        if rows is None:
            return None
        there = zip(loose, rows[len(wanted) :], strict=True)
        return [self._rebound(one, mine) for one, mine in there if self._moves(one, mine)]

    def _loose(self) -> Iterator[_Booking]:
        tx = self._tx
        leases = [
            lease for lease in tx.leases.pending([self._type], _CONSIDERED) if self._is_loose(lease)
        ]
        for one in replanning.movable(tx, self._context, leases):
            for needed in one.needed:
                mine = tuple(
                    item for item in one.allocations if item.reservation_id == needed.reservation_id
                )
                if (
                    needed.search.resource_type == self._type
                    and not needed.search.names
                    and not needed.search.demand
                    and needed.reservation_id not in self._has
                    and mine
                ):
                    yield _Booking(one=one, needed=needed, allocations=mine)

    def _is_loose(self, lease: Lease) -> bool:
        plugins = [self._context.plugins[item.resource_type] for item in lease.reservations]
        prepares = schedule.preparation(plugins)
        return (
            prepares is not schedule.Preparation.AT_ONCE
            and not any(item.part_of for item in lease.reservations)
            and is_loose(lease, self._context.settings, self._tx.now)
        )

    def _suiting(self, needed: Requirements) -> Bools:
        """Return which rows match and are open to bookings."""
        for match, known in self._matches:
            if match == needed.match:
                return known.copy()
        hidden = matching.hidden(self._tx, needed.match)
        found: Bools = np.concatenate(
            [block.bookable & matching.rows(block, needed.match, hidden) for block in self._blocks]
        )
        self._matches.append((needed.match, found))
        return found.copy()

    def _wanted(self, wish: Wish) -> Iterator[PackedBooking]:
        needed = wish.needed
        suits, nothing = self._suiting(needed), np.zeros(0, dtype=np.int64)
        if wish.only is not None:
            suits = np.isin(self._ids, list(wish.only))
            count = len(wish.only)
            yield PackedBooking(bounds=needed.bounds, count=count, suits=suits, has=nothing)
            return
        named = np.isin(np.array(self._names, dtype=object), list(needed.search.names))
        if named.any():
            count = len(needed.search.names)
            yield PackedBooking(bounds=needed.bounds, count=count, suits=named, has=nothing)
        rest = needed.minimum - len(needed.search.names)
        if rest > 0:
            suits = suits & ~named
            yield PackedBooking(bounds=needed.bounds, count=rest, suits=suits, has=nothing)

    def _packed(self, one: _Booking) -> PackedBooking:
        has = self._places(one)
        suits = self._suiting(one.needed)
        # It may keep what no longer matches, or is closed.
        suits[has] = True
        return PackedBooking(
            bounds=one.needed.bounds, count=len(one.allocations), suits=suits, has=has
        )

    def _places(self, one: _Booking) -> Ints:
        return np.array([self._rows[item.resource_id] for item in one.allocations], dtype=np.int64)

    def _moves(self, one: _Booking, rows: Ints) -> bool:
        return set(rows.tolist()) != set(self._places(one).tolist())

    def _rebound(self, one: _Booking, rows: Ints) -> _Rebound:
        ids = self._ids[rows].tolist()
        gets = {*ids} - {item.resource_id for item in one.allocations}
        return _Rebound(
            one=one.one,
            needed=one.needed,
            allocations=tuple(
                dataclasses.replace(
                    item, id=None, resource_id=int(key), resource_name=self._names[row]
                )
                for item, key, row in zip(one.allocations, ids, rows.tolist(), strict=True)
            ),
            gets={key: self._generations[key] for key in gets},
        )
