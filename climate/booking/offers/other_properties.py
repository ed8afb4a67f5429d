# SPDX-License-Identifier: Apache-2.0

"""Offers of the same at the same time, on resources with another value of a property."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Final

from climate.allocation import property_values
from climate.allocation import requirements
from climate.allocation.blocks import Bounds
from climate.allocation.requirements import Comparison
from climate.allocation.steps import microseconds
from climate.booking.choosing import candidates
from climate.booking.choosing.requirements import Requirements
from climate.booking.offers.offers import OfferSearch
from climate.domain import offers
from climate.domain.periods import Period
from climate.domain.resources import used_classes

MOST_VALUES: Final = 10
"""How many values of properties one request tries."""
MOST_COMPARISONS: Final = 10
"""For how many comparisons one request looks for other values; each takes a search."""


def find(search: OfferSearch, period: Period) -> Iterator[offers.Offer]:
    """Yield offers of the same in the same period, if one comparison is in the way.

    Each names the values of the property that would do, each of them on its own. Private
    properties are only compared for callers who may know them.
    """
    bounds = search.frame(period.end).bounds(microseconds(period.start))
    short = {one.place for one in search.conditions if not one.fits(bounds)}
    search.renew(MOST_VALUES)
    asked: set[tuple[str, Comparison]] = set()
    for place in sorted(short):
        one = search.needed[place]
        hidden = _hidden(search, one)
        for comparison in property_values.comparisons(one.search.requirement):
            key = one.search.resource_type, comparison
            if comparison.key in hidden or key in asked:
                continue
            if search.exhausted or len(asked) == MOST_COMPARISONS:
                return
            asked.add(key)
            yield from _offers(search, period, bounds, one, comparison)


def _hidden(search: OfferSearch, needed: Requirements) -> set[str]:
    if needed.private or candidates.is_thing(needed):
        return set()
    return search.tx.properties.private_names(needed.search.resource_type)


def _offers(
    search: OfferSearch, period: Period, bounds: Bounds, short: Requirements, other: Comparison
) -> Iterator[offers.Offer]:
    """Yield an offer for each amount that there is with other values."""
    found: list[tuple[tuple[offers.OfferedReservation, ...], list[str]]] = []
    for value in _values(search, bounds, short, other)[:MOST_VALUES]:
        equal = property_values.equal(other.key, value)
        needed = [_replaced(one, short, other, equal) for one in search.needed]
        chosen = search.choice(period, needed)
        if chosen is None:
            continue
        offered = search.offer(period, chosen, offers.OfferKind.OTHER_PROPERTY).reservations
        same = next((values for known, values in found if known == offered), None)
        if same is None:
            found.append((offered, [value]))
        else:
            same.append(value)
    for reservations, values in found:
        yield offers.Offer(
            period=period,
            reservations=reservations,
            kind=offers.OfferKind.OTHER_PROPERTY,
            requirements=tuple(
                offers.PropertyValues(place=place, name=other.key, values=tuple(values))
                for place in _places(search, short, other)
            ),
        )


def _places(search: OfferSearch, short: Requirements, other: Comparison) -> Sequence[int]:
    """Return the places of the reservations that have a comparison, as the caller counts."""
    found = [
        search.asked(place) for place, one in enumerate(search.needed) if _has(one, short, other)
    ]
    return sorted(set(found))


def _values(
    search: OfferSearch, bounds: Bounds, short: Requirements, other: Comparison
) -> list[str]:
    """Return the values with which there may be enough."""
    rest = property_values.without(short.search.requirement, other)
    blocks = search.matching.of(dataclasses.replace(short.match, requirement=rest))
    demand = used_classes(short.search.demand)
    slots = [block.slots(demand, bounds) for block in blocks]
    return property_values.sufficient(blocks, slots, other.key, short.minimum, short.search.spread)


def _replaced(
    one: Requirements, short: Requirements, other: Comparison, equal: Comparison
) -> Requirements:
    if not _has(one, short, other):
        return one
    rest = property_values.without(one.search.requirement, other)
    changed = requirements.all_of(rest, equal)
    return dataclasses.replace(one, search=dataclasses.replace(one.search, requirement=changed))


def _has(one: Requirements, short: Requirements, other: Comparison) -> bool:
    same = one.search.resource_type == short.search.resource_type
    return same and other in property_values.comparisons(one.search.requirement)
