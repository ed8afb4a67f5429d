# SPDX-License-Identifier: Apache-2.0

"""Decides late which resources a lease has: others may get them until it is firm.

A request can find too little although enough resources are free at each instant of its period:
not the same ones all the time. Then the pending bookings of the type are distributed again, each
in its own period, so that the request finds what it needs. Those that name their resources, that
are placed, or whose owner knows which ones they have, keep theirs.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Final

from climate.allocation import joint
from climate.allocation.free_totals import FreeTotals
from climate.allocation.steps import instant
from climate.allocation.steps import microseconds
from climate.booking.choosing.candidates import MatchingBlocks
from climate.booking.choosing.requirements import Requirements
from climate.booking.planning import repacking
from climate.booking.planning.repacking import LooseBooking
from climate.booking.planning.repacking import Repacking
from climate.booking.planning.repacking import RoomRequest
from climate.booking.requests.context import Context
from climate.booking.writing.change import Changed
from climate.db.transactions.store import Transaction
from climate.domain.periods import Period

MOST: Final = 200
"""How many leases can get other resources at once."""

_MOST_STARTS: Final = 3
_MICROSECOND: Final = datetime.timedelta(microseconds=1)


def moved(
    tx: Transaction,
    context: Context,
    room_requests: Sequence[RoomRequest],
    has: Collection[str] = (),
) -> list[Changed] | None:
    """Return leases that get other resources, so that all requests can be met.

    :param has: ids of the reservations that have the requests, if they have anything
    :returns: None if they cannot, or without it
    """
    if not room_requests or not all(one.is_possible for one in room_requests):
        return None
    found: list[LooseBooking] = []
    generations: dict[int, int] = {}
    for resource_type in sorted({one.needed.search.resource_type for one in room_requests}):
        mine = [one for one in room_requests if one.needed.search.resource_type == resource_type]
        if not _may_fit(tx, mine):
            return None
        packed = _packed(tx, context, resource_type, mine, has)
        if packed is None:
            return None
        bookings, others = packed
        found += others
        generations |= bookings.generations
    if not 0 < len({booking.one.lease.id for booking in found}) <= MOST:
        return None
    return repacking.changed(tx, context, found, generations)


def _packed(
    tx: Transaction,
    context: Context,
    resource_type: str,
    room_requests: Sequence[RoomRequest],
    has: Collection[str],
) -> tuple[Repacking, list[LooseBooking]] | None:
    """Return what gets other resources of a type, of all that was read; None if nothing helps."""
    gone = [item for one in room_requests for item in one.had]
    since = min(one.needed.padded.start for one in room_requests)
    until = max(one.needed.padded.end for one in room_requests)
    # Most find room if only those in their period move, which are few.
    near = Repacking(tx, context, resource_type, since, until)
    if not near.has_any:
        return None
    found = near.found(room_requests, has, gone, later=0)
    if found is not None:
        return near, found
    every = Repacking(tx, context, resource_type, since)
    found = every.first_found(room_requests, has, gone)
    return None if found is None else (every, found)


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
    if not all(RoomRequest(needed=one).is_possible and not one.search.names for one in needed):
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


def _may_fit(tx: Transaction, room_requests: Sequence[RoomRequest]) -> bool:
    """Whether enough resources are free at each instant."""
    blocks = MatchingBlocks(tx)
    for one in room_requests:
        alike = [other for other in room_requests if other.needed == one.needed]
        if alike[0] is not one or any(other.had for other in alike):
            # What they have counts, too.
            continue
        start, end = microseconds(one.needed.period.start), microseconds(one.needed.period.end)
        totals = FreeTotals.of(blocks.of(one.needed.match), {}, start, end).between(start, end - 1)
        needed = sum(other.needed.minimum for other in alike)
        if min(totals.numbers.tolist(), default=0) < needed:
            return False
    return True
