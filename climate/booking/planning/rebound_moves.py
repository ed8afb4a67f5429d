# SPDX-License-Identifier: Apache-2.0

"""Moves flexible leases forward for which others have to get other resources."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Final

from climate.allocation import joint
from climate.allocation.free_totals import FreeTotals
from climate.allocation.matches import Match
from climate.allocation.steps import instant
from climate.allocation.steps import microseconds
from climate.booking.choosing.candidates import MatchingBlocks
from climate.booking.planning import displacement
from climate.booking.planning import moves
from climate.booking.planning.displacement import Displacing
from climate.booking.planning.late_binding import Wish
from climate.booking.planning.seekers import Seeker
from climate.booking.requests.prepare import Missing
from climate.booking.writing import change
from climate.booking.writing.change import Changed
from climate.db.transactions.store import Transaction
from climate.domain.leases import Lease
from climate.domain.lifecycles import LeaseStatus
from climate.domain.periods import Period

_MICROSECOND: Final = datetime.timedelta(microseconds=1)
# Of so many leases, the first ones in order, it is found out.
_CONSIDERED: Final = 500


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReboundMove(Displacing[Changed], moves.PlannedMove):
    """Moves a flexible lease to a start at which others get other resources."""

    def fixed(self, tx: Transaction) -> None:
        """Return None: it takes the place of no other lease."""

    def wishes(self, tx: Transaction) -> list[Wish]:
        """Return what the lease needs there."""
        return displacement.changed_wishes(tx, self.context, self.new)

    def free(self, tx: Transaction) -> Changed | Missing:
        """Choose what the lease keeps, gets and gives up."""
        return change.ChangeWork.choose(self, tx)

    def book(self, tx: Transaction, request: Changed, charge_id: str | None) -> Lease:
        """Write the move."""
        return moves.PlannedMove.write(self, tx, request, charge_id)


def sooner(tx: Transaction, seekers: Sequence[Seeker]) -> Iterator[tuple[Lease, Period]]:
    """Yield leases with a sooner period in which enough is free, though on no resource throughout.

    :param seekers: in order, none of which finds free resources at a sooner start
    """
    blocks = MatchingBlocks(tx)
    last = max((one.before + one.length for one in seekers), default=0)
    known: list[tuple[Match, FreeTotals]] = []
    now = microseconds(tx.now)
    for one in seekers[:_CONSIDERED]:
        match = _match(one)
        if match is None:
            continue
        totals = next((found for each, found in known if each == match), None)
        if totals is None:
            totals = FreeTotals.of(blocks.of(match), {}, now, last)
            known.append((match, totals))
        start = _start(one, totals, now)
        if start is not None:
            period = Period(start=instant(start), end=instant(start + one.length))
            yield one.lease, period


def _match(one: Seeker) -> Match | None:
    """Return what all resources of a lease have to match; None if counts do not suffice."""
    lease, needed = one.lease, one.one.needed
    plain = all(Wish(needed=each).is_possible and not each.search.names for each in needed)
    if one.searches or lease.status is not LeaseStatus.PENDING or lease.yields or not plain:
        return None
    return needed[0].match if all(each.match == needed[0].match for each in needed) else None


def _start(one: Seeker, totals: FreeTotals, now: int) -> int | None:
    first, before = max(one.first, now), microseconds(one.lease.period.start)
    if first + joint.MINUTE > before:
        return None
    end = microseconds(one.lease.period.end)
    count = sum(each.minimum for each in one.one.needed)
    there = totals.between(first, end).with_more(before, end, len(one.own))
    return there.first_start(count, one.length, first, before)
