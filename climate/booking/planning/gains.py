# SPDX-License-Identifier: Apache-2.0

"""Tells which flexible leases may begin earlier, without a search for each of them."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence

from climate.allocation import shares
from climate.allocation.free_totals import FreeTotals
from climate.allocation.matches import Match
from climate.allocation.steps import microseconds
from climate.booking.choosing.candidates import MatchingBlocks
from climate.booking.choosing.requirements import Requirements
from climate.booking.planning.replanning import MovableLease
from climate.db.transactions.store import Transaction
from climate.domain.resources import used_classes


class Gains:
    """What is free until the last of some leases begins, in one read-only transaction.

    :param leases: that may move
    """

    def __init__(self, tx: Transaction, leases: Sequence[MovableLease]) -> None:
        self._tx = tx
        self._matching = MatchingBlocks(tx)
        self._last = max((microseconds(one.lease.period.end) for one in leases), default=0)
        self._known: list[tuple[Match, Mapping[str, int], FreeTotals]] = []

    def possible(self, one: MovableLease) -> bool:
        """Whether a lease may have a place before its present one.

        As many slots are free then as it needs. Whether they are the same ones for the whole
        period is for a search to find out.
        """
        lease = one.lease
        if lease.earliest is None:
            return False
        first = max(microseconds(lease.earliest), microseconds(self._tx.now))
        return all(self._has_room(one, needed, first) for needed in one.needed)

    def _has_room(self, one: MovableLease, needed: Requirements, first: int) -> bool:
        start, end = microseconds(one.lease.period.start), microseconds(one.lease.period.end)
        count = max(needed.search.minimum, len(needed.search.names), 1)
        mine = [item for item in one.allocations if item.reservation_id == needed.reservation_id]
        own = sum(shares.slots(mine, needed.search.demand).values())
        totals = self._totals(needed).with_more(start, end, own)
        return totals.first_start(count, end - start, first, start) is not None

    def _totals(self, needed: Requirements) -> FreeTotals:
        demand = used_classes(needed.search.demand)
        for match, classes, found in self._known:
            if match == needed.match and classes == demand:
                return found
        blocks = self._matching.of(needed.match)
        found = FreeTotals.of(blocks, demand, microseconds(self._tx.now), self._last)
        self._known.append((needed.match, demand, found))
        return found
