# SPDX-License-Identifier: Apache-2.0

"""Shows the queue of flexible leases: what is ahead of each, and when it may begin.

A forecast is what the planner would find if it booked the lease now: timelines in memory answer
it, without a choice of resources. Leases ahead that wait count as long as they have no booking,
but take nothing from the forecast: there is no room for them.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime
import itertools
import json
import logging
import operator
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

from climate import exceptions
from climate.allocation import joint
from climate.allocation.joint import Frame
from climate.allocation.joint import SearchBudget
from climate.allocation.joint import Shortfall
from climate.allocation.steps import instant
from climate.allocation.steps import microseconds
from climate.booking.choosing import candidates
from climate.booking.choosing.candidates import MatchingBlocks
from climate.booking.offers.period_searches import MOST_SEARCHES
from climate.booking.planning import replanning
from climate.booking.planning import waiting
from climate.booking.planning.replanning import MovableLease
from climate.booking.requests.context import Context
from climate.booking.writing import rests
from climate.db.transactions import expired_holds
from climate.db.transactions.store import Transaction
from climate.domain.budgets import RequestBudget
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.lifecycles import LeaseStatus
from climate.domain.offers import Shortage
from climate.domain.periods import Period
from climate.domain.queue import Forecast
from climate.domain.queue import LeasesAhead
from climate.domain.queue import QueuedLease
from climate.domain.queue import QueuedReservation
from climate.domain.queue import QueueQuery
from climate.leases import reading

LOG = logging.getLogger(__name__)

_MICROSECOND: Final = datetime.timedelta(microseconds=1)


def show(context: Context, budget: RequestBudget, query: QueueQuery) -> list[QueuedLease]:
    """Return a page of the queue; one more than its limit if there is another page.

    :param budget: what is left for the request
    :raises climate.exceptions.InvalidInput: if the marker does not exist
    """
    expired_holds.release(context.store)
    with context.store.reading(budget) as tx:
        leases = tx.queue.page(query)
        if not leases:
            return []
        ahead = QueueAhead(context, tx.queue.ahead(leases[-1]))
        forecasts = Forecasts(tx, context, leases)
        return [
            QueuedLease(lease=one, ahead=ahead.before(one), forecast=forecasts.of(one))
            for one in leases
        ]


def resumes(context: Context, tx: Transaction, lease: Lease) -> datetime.datetime | None:
    """Return when a lease that yields will probably resume; None if that cannot be forecast.

    :param lease: while it still has its resources
    """
    held = rests.held(tx, [lease]).get(lease.id, ())
    if held:
        return min(item.period.start for item in held)
    end, rest = lease.period.end, lease.rest
    waits = dataclasses.replace(
        lease,
        status=LeaseStatus.WAITING,
        period=Period(start=end, end=end + rest),
        earliest=end,
        time_left=int(rest.total_seconds()),
    )
    try:
        return Forecasts(tx, context, [waits]).of(waits).start
    except exceptions.ClimateError as error:
        # The notification must not wait for it.
        LOG.info('Lease %s: it is not known when it resumes: %s', lease.id, error.message)
        return None


class QueueAhead:
    """Counts what comes before leases.

    :param reservations: of the leases that come before the last one, in that order
    """

    def __init__(self, context: Context, reservations: Sequence[QueuedReservation]) -> None:
        self._plugins = context.plugins
        self._least: dict[tuple[str, str], int] = {}
        self._left = collections.deque(
            list(group) for _, group in itertools.groupby(reservations, operator.attrgetter('turn'))
        )
        self._numbers: collections.Counter[frozenset[str]] = collections.Counter()
        self._amounts: collections.Counter[str] = collections.Counter()

    def before(self, lease: Lease) -> LeasesAhead:
        """Return what competes with a lease and comes before it.

        :param lease: one that comes after the last one that was asked for
        """
        while self._left and self._left[0][0].turn < lease.turn:
            self._count([one.reservation for one in self._left.popleft()])
        types = {one.resource_type for one in lease.reservations}
        number = sum(count for some, count in self._numbers.items() if some & types)
        amounts = {name: self._amounts[name] for name in sorted(types) if self._amounts[name]}
        return LeasesAhead(leases=number, amounts=amounts)

    def _count(self, reservations: Sequence[Reservation]) -> None:
        self._numbers[frozenset(one.resource_type for one in reservations)] += 1
        for one in reservations:
            self._amounts[one.resource_type] += self._amount(one)

    def _amount(self, one: Reservation) -> int:
        """Return how many slots a reservation requires at least; 0 if it cannot be read."""
        # Most leases of a queue have one of a few requests.
        key = one.resource_type, json.dumps(one.request, sort_keys=True)
        if key not in self._least:
            plugin = self._plugins.get(one.resource_type)
            self._least[key] = 0 if plugin is None else reading.least(plugin, one)
        return self._least[key]


class Forecasts:
    """When flexible leases may begin, as one transaction has read the timelines.

    :param leases: those that are asked for
    """

    def __init__(self, tx: Transaction, context: Context, leases: Sequence[Lease]) -> None:
        self._tx = tx
        self._context = context
        self._matching = MatchingBlocks(tx)
        found = replanning.movable(tx, context, leases)
        self._movable: Mapping[str, MovableLease] = {one.lease.id: one for one in found}

    def resource_ids(self, lease: Lease) -> set[int]:
        """Return the ids of the resources that match what a lease requires."""
        one = self._movable.get(lease.id)
        if one is None:
            return set()
        conditions = candidates.conditions(self._matching, one.needed)
        return {
            int(number)
            for need in conditions
            for block in need.blocks
            for number in block.ids[block.bookable]
        }

    def of(self, lease: Lease) -> Forecast:
        """Return the forecast of a lease.

        Where a lease with a booking is when others begin earlier is not forecast.
        """
        booked = lease.status is LeaseStatus.PENDING
        start = lease.period.start if booked else None
        one = self._movable.get(lease.id)
        if one is None or lease.earliest is None:
            return Forecast(start=start, room_at=start)
        first = max(lease.earliest, self._tx.now)
        if booked and lease.period.start <= first:
            return Forecast(start=start, room_at=start)
        last = lease.period.start if booked else self._tx.now + self._context.settings.plan_horizon
        frame = Frame(
            length=one.shortest // _MICROSECOND,
            pause=self._context.settings.cleaning_time // _MICROSECOND,
            earliest=microseconds(first),
            latest=microseconds(max(first, last)),
        )
        budget = SearchBudget(MOST_SEARCHES, self._tx.budget)
        matching = self._matching.without(one.allocations) if booked else self._matching
        conditions = candidates.conditions(matching, one.needed)
        lacks = tuple(_shortages(one, budget.shortages(conditions, frame, frame.earliest)))
        if booked:
            return Forecast(start=start, room_at=start, waits_for=lacks)
        found = budget.first(conditions, frame)
        room_at = None if found is None else instant(found)
        in_time = room_at is not None and room_at <= waiting.last_start(self._context, lease)
        return Forecast(start=room_at if in_time else None, room_at=room_at, waits_for=lacks)


def _shortages(one: MovableLease, found: Sequence[Shortfall]) -> Iterator[Shortage]:
    """Yield what is missing, once for each reservation and class."""
    seen: set[tuple[int, str | None]] = set()
    for lack in found:
        if (lack.place, lack.resource_class) in seen:
            continue
        seen.add((lack.place, lack.resource_class))
        until = None if lack.until is None else instant(joint.rounded(lack.until))
        yield Shortage(
            place=lack.place,
            resource_type=one.needed[lack.place].search.resource_type,
            resource_class=lack.resource_class,
            missing=lack.missing,
            until=until,
        )
