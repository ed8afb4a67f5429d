# SPDX-License-Identifier: Apache-2.0

"""Distributes the pending bookings of whole resources of one type again, each in its own period.

Those that name their resources, that are placed, or whose owner knows which ones they have, keep
theirs.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import operator
from collections import defaultdict
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

import numpy as np

from climate.allocation.blocks import Block
from climate.allocation.matches import Match
from climate.allocation.packing import PackedBooking
from climate.allocation.packing import Packing
from climate.allocation.rearrangements import Rearrangement
from climate.allocation.steps import Bools
from climate.allocation.steps import Ints
from climate.booking.choosing import candidates
from climate.booking.choosing import matching
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

_CONSIDERED: Final = 1_000

LATER: Final = (200, 1_000)
"""So many get resources again at once, besides those in the requested period: more and more.

Few take little time, and most requests need no more.
"""
_MICROSECOND: Final = datetime.timedelta(microseconds=1)
_DEPENDENT: Final = frozenset({EventKind.PREPARE, EventKind.BEFORE_START})


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class RoomRequest:
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
            if event.kind in _DEPENDENT
        )
    )


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class LooseBooking:
    """What a reservation of a lease has that is not firm.

    :ivar one: the lease as it was read
    :ivar needed: what it requires, in the period that it has
    """

    one: MovableLease
    needed: Requirements
    allocations: tuple[Allocation, ...]

    @property
    def period(self) -> Period:
        """The period that it has."""
        return self.needed.period


class Repacking:
    """The bookings of one resource type, and which of them may get other resources.

    One object serves any number of requests in one transaction, which has written nothing yet.

    :param since: only bookings that end after this are read; None for all
    :param until: only bookings that begin before this are read; None for all
    """

    def __init__(
        self,
        tx: Transaction,
        context: Context,
        resource_type: str,
        since: datetime.datetime | None = None,
        until: datetime.datetime | None = None,
    ) -> None:
        self._tx = tx
        self._context = context
        self._type = resource_type
        leases = tx.leases.pending([resource_type], _CONSIDERED, since, until)
        self._read = {one.needed.reservation_id: one for one in self._loose(leases)}
        self._now = dict(self._read)
        self._matches: list[tuple[Match, Bools]] = []

    @functools.cached_property
    def _blocks(self) -> Sequence[Block]:
        return self._tx.timeline(self._type)

    @functools.cached_property
    def _ids(self) -> Ints:
        nothing: Ints = np.zeros(0, np.int64)
        return np.concatenate([nothing, *(block.ids for block in self._blocks)])

    @functools.cached_property
    def _rows(self) -> Mapping[int, int]:
        return {key: row for row, key in enumerate(self._ids.tolist())}

    @functools.cached_property
    def _names(self) -> Sequence[str]:
        return [name for block in self._blocks for name in block.names]

    def _loose(self, leases: Iterable[Lease]) -> Iterator[LooseBooking]:
        loose = [lease for lease in leases if self._is_loose(lease)]
        for one in replanning.movable(self._tx, self._context, loose):
            for needed in one.needed:
                mine = tuple(
                    item for item in one.allocations if item.reservation_id == needed.reservation_id
                )
                if (
                    needed.search.resource_type == self._type
                    and not needed.search.names
                    and not needed.search.demand
                    and mine
                ):
                    yield LooseBooking(one=one, needed=needed, allocations=mine)

    def _is_loose(self, lease: Lease) -> bool:
        plugins = [self._context.plugins[item.resource_type] for item in lease.reservations]
        prepares = schedule.preparation(plugins)
        return (
            prepares is not schedule.Preparation.AT_ONCE
            and not any(item.part_of for item in lease.reservations)
            and is_loose(lease, self._context.settings, self._tx.now)
        )

    def bookings(self, lease: Lease) -> list[LooseBooking]:
        """Return what a lease has that may be elsewhere."""
        found = (self._now.get(item.id) for item in lease.reservations)
        return [one for one in found if one is not None]

    def found(
        self,
        room_requests: Sequence[RoomRequest],
        has: Collection[str],
        gone: Iterable[Allocation] = (),
        *,
        later: int,
    ) -> list[LooseBooking] | None:
        """Return bookings with other resources, so that all requests can be met.

        :param has: ids of the reservations that have the requests
        :param gone: what their leases have
        :param later: how many bookings that begin after the requested periods may get others
            as well as those in it
        :returns: None if they cannot
        """
        loose = self._near(room_requests, has, later)
        if not loose:
            return None
        mine = [self._now[key].allocations for key in has if key in self._now]
        out = [item for some in (*mine, *(one.allocations for one in loose)) for item in some]
        out += [item for item in gone if item.reservation_id not in self._now]
        rearranged = Rearrangement(self._context.settings.cleaning_time // _MICROSECOND)
        rearranged.remove(out)
        blocks = rearranged.blocks(self._type, lambda: self._tx.timeline(self._type))
        wanted = [each for one in room_requests for each in self._wanted(one)]
        rows = Packing(blocks, [*wanted, *map(self._packed, loose)]).rows()
        if rows is None:
            return None
        there = zip(loose, rows[len(wanted) :], strict=True)
        return [self._elsewhere(one, mine) for one, mine in there if self._moves(one, mine)]

    def first_found(
        self,
        room_requests: Sequence[RoomRequest],
        has: Collection[str],
        gone: Iterable[Allocation] = (),
    ) -> list[LooseBooking] | None:
        """Return what :meth:`found` returns with more and more bookings that begin later."""
        end = max(one.needed.padded.end for one in room_requests)
        later, before = sum(one.period.start >= end for one in self._now.values()), 0
        for most in LATER:
            if (
                before < later
                and (found := self.found(room_requests, has, gone, later=most)) is not None
            ):
                return found
            before = most
        return None

    def _near(
        self, room_requests: Sequence[RoomRequest], has: Collection[str], most: int
    ) -> list[LooseBooking]:
        """Return the bookings that get resources again, those in the requested periods first.

        The sweep is as exact with those that begin in this period or later as with all.
        """
        start = min(one.needed.padded.start for one in room_requests)
        end = max(one.needed.padded.end for one in room_requests)
        others = [one for key, one in self._now.items() if key not in has]
        near = [one for one in others if one.period.start < end and one.period.end > start]
        later = (one for one in others if one.period.start >= end)
        return [*near, *sorted(later, key=operator.attrgetter('period.start'))[:most]]

    def take(self, bookings: Sequence[LooseBooking]) -> None:
        """Have bookings where they are to be, for the requests that follow."""
        self._now.update({one.needed.reservation_id: one for one in bookings})

    @property
    def has_any(self) -> bool:
        """Whether any booking may get other resources."""
        return bool(self._read)

    def now(self, booking: LooseBooking) -> LooseBooking:
        """Return where a booking is to be so far."""
        return self._now[booking.needed.reservation_id]

    @property
    def elsewhere(self) -> list[LooseBooking]:
        """The bookings that are not where they were read."""
        return [now for key, now in self._now.items() if now is not self._read[key]]

    @property
    def leases(self) -> set[str]:
        """The ids of their leases."""
        return {one.one.lease.id for one in self.elsewhere}

    @property
    def generations(self) -> dict[int, int]:
        """The generations of all resources, by id."""
        numbers = [number for block in self._blocks for number in block.generations.tolist()]
        return dict(zip(self._ids.tolist(), numbers, strict=True))

    def _elsewhere(self, one: LooseBooking, rows: Ints) -> LooseBooking:
        ids = self._ids[rows].tolist()
        return dataclasses.replace(
            one,
            allocations=tuple(
                dataclasses.replace(
                    item, id=None, resource_id=int(key), resource_name=self._names[row]
                )
                for item, key, row in zip(one.allocations, ids, rows.tolist(), strict=True)
            ),
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

    def _wanted(self, room_request: RoomRequest) -> Iterator[PackedBooking]:
        needed = room_request.needed
        suits, nothing = self._suiting(needed), np.zeros(0, dtype=np.int64)
        if room_request.only is not None:
            suits = np.isin(self._ids, list(room_request.only))
            count = len(room_request.only)
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

    def _packed(self, one: LooseBooking) -> PackedBooking:
        has = self._places(one)
        suits = self._suiting(one.needed)
        # It may keep what no longer matches, or is closed.
        suits[has] = True
        return PackedBooking(
            bounds=one.needed.bounds, count=len(one.allocations), suits=suits, has=has
        )

    def _places(self, one: LooseBooking) -> Ints:
        return np.array([self._rows[item.resource_id] for item in one.allocations], dtype=np.int64)

    def _moves(self, one: LooseBooking, rows: Ints) -> bool:
        return set(rows.tolist()) != set(self._places(one).tolist())


def changed(
    tx: Transaction,
    context: Context,
    elsewhere: Iterable[LooseBooking],
    generations: Mapping[int, int],
) -> list[Changed]:
    """Return the leases whose bookings are elsewhere.

    :param generations: of the resources, by id
    """
    leases: dict[str, list[LooseBooking]] = defaultdict(list)
    for booking in elsewhere:
        leases[booking.one.lease.id].append(booking)
    return [_changed(tx, context, some, generations) for some in leases.values()]


def _changed(
    tx: Transaction, context: Context, some: Sequence[LooseBooking], generations: Mapping[int, int]
) -> Changed:
    one = some[0].one
    ids = {each.needed.reservation_id for each in some}
    kept = [item for item in one.allocations if item.reservation_id not in ids]
    had = {(item.reservation_id, item.resource_id) for item in one.allocations}
    gets = [
        frozenset(
            item.resource_id
            for item in each.allocations
            if (item.reservation_id, item.resource_id) not in had
        )
        for each in some
    ]
    choice = Choice(
        generations={key: generations[key] for found in gets for key in found},
        chosen=tuple(
            ChosenResources(requirements=each.needed, ids=found)
            for each, found in zip(some, gets, strict=True)
        ),
        changing=(),
    )
    allocations = [item for each in some for item in each.allocations]
    place = FoundPlace(some[0].needed.period, choice, (*kept, *allocations))
    return replanning.changed(tx, context, one, place)
