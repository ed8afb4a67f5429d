# SPDX-License-Identifier: Apache-2.0

"""Finds offers for a request, in the order that the caller prefers; writes nothing.

How much is free, and what it costs, changes at certain starts only. For the cheapest offers,
and those with the fewest resources, these are tried in the order of what an offer there would
cost at least, or of how many resources it would need at least, so that the first offers that
can be booked are the best.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Final

import numpy as np

from climate import exceptions
from climate.allocation import joint
from climate.allocation.joint import Frame
from climate.allocation.steps import instant
from climate.booking.offers import offers
from climate.booking.offers import same_property
from climate.booking.offers.offers import OfferSearch
from climate.booking.requests.context import Context
from climate.booking.requests.new_leases import NewLease
from climate.domain.leases import Allocation
from climate.domain.offers import Offer
from climate.domain.offers import OfferKind
from climate.domain.offers import OfferPage
from climate.domain.offers import OfferPreference
from climate.domain.offers import OfferQuery
from climate.domain.periods import Period
from climate.domain.resources import used_classes

MOST_STARTS: Final = 300
"""How many starts one request compares."""

_DIGITS: Final = 6


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, order=True)
class _Start:
    """A start to try.

    :ivar least: the smallest cost, or number of resources, of an offer there
    :ivar time: in microseconds since 1970
    """

    least: float
    time: int


def find(context: Context, new: NewLease, request: OfferQuery) -> OfferPage:
    """Return periods in which a request can be booked.

    :param new: the lease that is requested
    :raises climate.exceptions.InvalidInput: naming the field that is wrong
    :raises climate.exceptions.LeaseRefused: if a limit or a filter forbids every one
    """
    with offers.searching(context, new) as search:
        match request.prefer:
            case OfferPreference.SOONEST:
                return search.offers(request)
            case OfferPreference.SAME:
                return same_property.find(search, request)
            case _:
                return _Comparison(search, request).found()


class _Comparison:
    """A search for the cheapest offers, or those with the fewest resources."""

    def __init__(self, search: OfferSearch, request: OfferQuery) -> None:
        self._search = search
        self._request = request
        self._frame: Frame = search.frame(request.latest)
        self._cheap = request.prefer is OfferPreference.CHEAPEST
        self._prices = search.context.settings.prices
        self._tried = 0
        self._compared = True
        self._refusal: exceptions.LeaseRefused | None = None

    def found(self) -> OfferPage:
        """Return the offers, the best first.

        :raises climate.exceptions.LeaseRefused: if a limit or a filter forbids all of them
        """
        pool: list[tuple[float, Offer]] = []
        starts = list(self._by_cost() if self._cheap else self._by_resources())
        complete = self._compared
        for one in starts:
            best = _apart(pool, self._request.limit)
            if len(best) == self._request.limit and best[-1][0] <= one.least:
                break
            if any(score <= one.least and self._overlaps(one, offer) for score, offer in best):
                continue
            if self._search.exhausted or self._tried >= MOST_STARTS:
                complete = False
                break
            offer = self._offer(one.time)
            if offer is not None:
                pool.append((_score(offer), offer))
        if not pool and self._refusal is not None:
            raise self._refusal
        return OfferPage(
            offers=tuple(offer for _, offer in _apart(pool, self._request.limit)),
            searched_until=instant(self._frame.latest if complete else self._frame.earliest),
        )

    def _overlaps(self, one: _Start, offer: Offer) -> bool:
        return offer.period.overlaps(self._period(one.time))

    def _period(self, start: int) -> Period:
        return Period(start=instant(start), end=instant(start + self._frame.length))

    def _by_cost(self) -> Iterator[_Start]:
        frame, length = self._frame, self._frame.length
        turns = self._prices.turns(frame.earliest, frame.latest, length)
        times = np.union1d(joint.turns(self._search.conditions, frame), turns)
        costs = self._prices.hours(times, length) * self._least_rate()
        for place in np.lexsort((times, costs)).tolist():
            yield _Start(least=round(float(costs[place]), _DIGITS), time=int(times[place]))

    def _least_rate(self) -> float:
        return sum(
            self._prices.rate(
                one.plugin.resource_type,
                one.minimum,
                {
                    name: units * one.minimum
                    for name, units in used_classes(one.search.demand).items()
                },
            )
            for one in self._search.needed
        )

    def _by_resources(self) -> Sequence[_Start]:
        found = []
        # Those that share resources may need no more together than one of them alone.
        times = joint.turns(self._search.conditions, self._frame)
        self._compared = len(times) <= MOST_STARTS
        for time in times[:MOST_STARTS].tolist():
            if self._search.late:
                self._compared = False
                break
            bounds = self._frame.bounds(time)
            pieces = [one.pieces(bounds) for one in self._search.conditions]
            if all(number is not None for number in pieces):
                least = max((number for number in pieces if number is not None), default=0)
                found.append(_Start(least=float(least), time=time))
        return sorted(found)

    def _offer(self, start: int) -> Offer | None:
        """Return the offer at a start, if it can be booked."""
        self._tried += 1
        bounds = self._frame.bounds(start)
        if not all(one.fits(bounds) for one in self._search.conditions):
            return None
        period = self._period(start)
        try:
            chosen = self._search.choice(period, self._search.needed)
        except exceptions.LeaseRefused as error:
            self._refusal = self._refusal or error
            return None
        return None if chosen is None else self._described(period, chosen, start)

    def _described(self, period: Period, chosen: Sequence[Allocation], start: int) -> Offer:
        if not self._cheap:
            found = self._search.offer(period, chosen, OfferKind.FEWEST_RESOURCES)
            number = len({item.resource_id for item in chosen})
            return dataclasses.replace(found, resources=number)
        found = self._search.offer(period, chosen, OfferKind.CHEAPEST)
        rate = sum(
            self._prices.rate(one.resource_type, one.amount, one.classes)
            for one in found.reservations
        )
        [hours] = self._prices.hours(np.array([start], dtype=np.int64), self._frame.length)
        return dataclasses.replace(found, cost=round(float(hours) * rate, _DIGITS))


def _score(offer: Offer) -> float:
    return float(offer.resources or 0) if offer.cost is None else offer.cost


def _apart(pool: Iterable[tuple[float, Offer]], limit: int) -> list[tuple[float, Offer]]:
    """Return the best offers of which no two overlap."""
    found: list[tuple[float, Offer]] = []
    for score, offer in sorted(pool, key=lambda one: (one[0], one[1].period)):
        if len(found) < limit and not any(
            other.period.overlaps(offer.period) for _, other in found
        ):
            found.append((score, offer))
    return found
