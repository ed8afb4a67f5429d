# SPDX-License-Identifier: Apache-2.0

"""What the reservations of a request need of resources, as timelines answer it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence

import numpy as np

from climate.allocation import extracts
from climate.allocation.blocks import Block
from climate.allocation.joint import SlotCondition
from climate.allocation.matches import Match
from climate.booking.choosing import matching
from climate.booking.choosing.requirements import Requirements
from climate.db.transactions.store import Transaction
from climate.domain.leases import Allocation
from climate.domain.resources import Spread
from climate.domain.resources import used_classes


class MatchingBlocks:
    """The resources that match requirements, as timelines; for one transaction.

    :param gone: allocations that do not count
    """

    def __init__(self, tx: Transaction, gone: Iterable[Allocation] = ()) -> None:
        self._tx = tx
        self._gone = extracts.bookings(gone)
        self._known: list[tuple[Match, Sequence[Block]]] = []
        self._every: dict[str, Sequence[Block]] = {}
        self._whole: MatchingBlocks | None = None

    def of(self, match: Match) -> Sequence[Block]:
        """Return all resources of a type; those that do not match are closed.

        :raises climate.exceptions.RequirementsTooSlow: if the request has spent its budget
        """
        for known, found in self._known:
            if known == match:
                return found
        found = self._read(match)
        self._known.append((match, found))
        return found

    def _read(self, match: Match) -> Sequence[Block]:
        if self._whole is not None:
            return extracts.vacated(self._whole.of(match), self._gone)
        # Many comparisons on many resources take longer than all that follows.
        self._tx.budget.check()
        blocks = self._all(match.resource_type)
        if not match.is_any:
            hidden = matching.hidden(self._tx, match)
            blocks = [block.only(matching.rows(block, match, hidden)) for block in blocks]
        return blocks

    def without(self, gone: Iterable[Allocation]) -> MatchingBlocks:
        """Return the same without some allocations; nothing is read twice."""
        found = MatchingBlocks(self._tx, gone)
        found._whole = self
        return found

    def _all(self, resource_type: str) -> Sequence[Block]:
        # Read once: to check that a timeline is current takes a while as well.
        if resource_type not in self._every:
            blocks: Sequence[Block] = self._tx.timeline(resource_type)
            if self._gone:
                blocks = extracts.vacated(blocks, self._gone)
            self._every[resource_type] = blocks
        return self._every[resource_type]


def conditions(matching: MatchingBlocks, needed: Sequence[Requirements]) -> list[SlotCondition]:
    """Return the conditions that each reservation sets on its own, and equal ones together.

    :param needed: the requirements of the reservations, in any period
    """
    found = [
        one
        for place, requirements in enumerate(needed)
        for one in _conditions_of(matching, place, requirements)
    ]
    return [*found, *_shared(found)]


def _conditions_of(
    matching: MatchingBlocks, place: int, needed: Requirements
) -> Iterator[SlotCondition]:
    search, match = needed.search, needed.match
    if search.names:
        blocks = matching.of(dataclasses.replace(match, names=search.names))
        count = len(search.names)
        if is_thing(needed):
            # Those without a row are not booked yet.
            count = sum(int(block.bookable.sum()) for block in blocks)
        if count:
            yield SlotCondition(place=place, blocks=blocks, demand={}, count=count)
    if search.minimum > len(search.names):
        yield SlotCondition(
            place=place,
            blocks=matching.of(match),
            demand=used_classes(search.demand),
            count=search.minimum,
            spread=search.spread,
        )


def kept(
    matching: MatchingBlocks, place: int, needed: Requirements, has: Mapping[int, int]
) -> Iterator[SlotCondition]:
    """Yield the conditions for a reservation to keep the resources that it has.

    They need neither match nor be open to new bookings.

    :param has: slots by resource id
    """
    demand = used_classes(needed.search.demand)
    every = Match(resource_type=needed.search.resource_type, private=needed.private)
    found: list[Block] = []
    left = set(has)
    for block in matching.of(every):
        # Without some allocations, a resource is in two blocks, and right in the first.
        rows = np.flatnonzero(np.isin(block.ids, list(left)))
        if len(rows):
            mine = extracts.extract(block, rows)
            left.difference_update(mine.ids.tolist())
            found.append(dataclasses.replace(mine, bookable=np.ones(len(mine), dtype=np.bool_)))
    if not demand and found:
        yield SlotCondition(place=place, blocks=found, demand={}, count=len(has))
        return
    for block in found:
        for row, resource_id in enumerate(block.ids.tolist()):
            only = extracts.extract(block, np.array([row], dtype=np.int64))
            yield SlotCondition(place=place, blocks=[only], demand=demand, count=has[resource_id])


def is_thing(needed: Requirements) -> bool:
    """Whether a reservation is of existing objects of the project, which no other can have."""
    return bool(needed.plugin.things(needed.request))


def _shared(found: Sequence[SlotCondition]) -> Iterator[SlotCondition]:
    """Yield what reservations need together that need the same of the same resources."""
    for one in found:
        same = [other for other in found if _is_same(one, other)]
        if len(same) > 1 and same[0] is one:
            yield dataclasses.replace(one, count=sum(other.count for other in same))


def _is_same(one: SlotCondition, other: SlotCondition) -> bool:
    return (
        one.blocks is other.blocks
        and one.demand == other.demand
        and one.spread is other.spread is Spread.ANY
    )
