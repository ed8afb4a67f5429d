# SPDX-License-Identifier: Apache-2.0

"""Tells which flexible leases may begin earlier, without a transaction for each of them."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

import numpy as np

from climate.allocation import joint
from climate.allocation import shares
from climate.allocation.free_totals import FreeTotals
from climate.allocation.joint import Frame
from climate.allocation.joint import SearchBudget
from climate.allocation.matches import Match
from climate.allocation.steps import instant
from climate.allocation.steps import Ints
from climate.allocation.steps import microseconds
from climate.booking.choosing import candidates
from climate.booking.choosing.candidates import MatchingBlocks
from climate.booking.choosing.requirements import Requirements
from climate.booking.offers.period_searches import MOST_SEARCHES
from climate.booking.planning.replanning import MovableLease
from climate.db.transactions.store import Transaction
from climate.domain.resources import used_classes

_MICROSECOND: Final = datetime.timedelta(microseconds=1)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Free:
    """What is free for some requirements.

    :ivar highest: the highest number up to each of the times
    """

    totals: FreeTotals
    highest: Ints

    def reaches(self, count: int, before: int) -> bool:
        """Whether enough slots are free at an instant before another."""
        place = int(np.searchsorted(self.totals.times, before, 'left')) - 1
        return place >= 0 and int(self.highest[place]) >= count


class Gains:
    """What is free until the last of some leases begins, as one transaction has read it.

    :param leases: that may move
    :param pause: the time for cleaning before and after an allocation of a whole resource
    """

    def __init__(
        self, tx: Transaction, leases: Sequence[MovableLease], pause: datetime.timedelta
    ) -> None:
        self._pause = pause // _MICROSECOND
        self._now = microseconds(tx.now)
        self._last = max((microseconds(one.lease.period.end) for one in leases), default=0)
        self._known: list[tuple[Match, Mapping[str, int], _Free]] = []
        self._matching = MatchingBlocks(tx)
        for needed in (needed for one in leases for needed in one.needed):
            if self._found(needed) is None:
                self._add(needed)

    def start(self, one: MovableLease) -> datetime.datetime | None:
        """Return the soonest start that a lease may have before its present one; None if none.

        Its reservations may compete for the same resources then, which only a choice finds out.
        """
        lease = one.lease
        if lease.earliest is None:
            return None
        first = max(microseconds(lease.earliest), self._now)
        if not all(self._has_room(one, needed, first) for needed in one.needed):
            return None
        if any(needed.search.names for needed in one.needed):
            return instant(first)
        frame = Frame(
            length=one.shortest // _MICROSECOND,
            pause=self._pause,
            earliest=first,
            latest=microseconds(lease.period.start) - joint.MINUTE,
        )
        wanted = candidates.wanted(self._matching.without(one.allocations), one.needed)
        found = SearchBudget(MOST_SEARCHES).first(wanted, frame)
        return None if found is None else instant(found)

    def _has_room(self, one: MovableLease, needed: Requirements, first: int) -> bool:
        """Whether as many slots are free as it needs, not always the same ones."""
        free = self._found(needed)
        if free is None:
            return True
        start, end = microseconds(one.lease.period.start), microseconds(one.lease.period.end)
        count = max(needed.search.minimum, len(needed.search.names), 1)
        if not free.reaches(count, start):
            return False
        mine = [item for item in one.allocations if item.reservation_id == needed.reservation_id]
        own = sum(shares.slots(mine, needed.search.demand).values())
        found = free.totals.between(first, end).with_more(start, end, own)
        length = one.shortest // _MICROSECOND
        return found.first_start(count, length, first, start) is not None

    def _found(self, needed: Requirements) -> _Free | None:
        """Return what is free for some requirements; None if that was not counted."""
        demand = used_classes(needed.search.demand)
        for match, classes, found in self._known:
            if match == needed.match and classes == demand:
                return found
        return None

    def _add(self, needed: Requirements) -> None:
        demand = used_classes(needed.search.demand)
        found = FreeTotals.of(self._matching.of(needed.match), demand, self._now, self._last)
        self._known.append((needed.match, demand, _Free(totals=found, highest=found.highest())))
