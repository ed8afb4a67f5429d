# SPDX-License-Identifier: Apache-2.0

"""Finds offers whose resources all have the same value of a property, such as the rack."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Final

from climate import exceptions
from climate.allocation import property_values
from climate.allocation import requirements
from climate.booking.choosing import candidates
from climate.booking.choosing.requirements import Requirements
from climate.booking.offers.offers import OfferSearch
from climate.domain import offers

MOST_VALUES: Final = 20
"""How many values of a property one request tries."""


def find(search: OfferSearch, request: offers.OfferQuery) -> offers.OfferPage:
    """Return the soonest offer for each value of a property, the soonest first.

    If there is none, return offers without that condition. Types of which no resource has
    the property do not count.

    :raises climate.exceptions.InvalidInput: if the caller can see no such property
    :raises climate.exceptions.LeaseRefused: if a limit or a filter forbids every one
    """
    places = [place for place, one in enumerate(search.needed) if _has(search, one, request.same)]
    values = sorted(
        {value for place in places for value in _values(search, search.needed[place], request.same)}
    )
    if not values:
        raise exceptions.InvalidInput.of(
            'property', 'no resource of the requested types has such a property'
        )
    found = list(_each(search, request, places, values[:MOST_VALUES]))
    if not found:
        return search.offers(request)
    found.sort(key=lambda one: one.period)
    return offers.OfferPage(
        offers=tuple(found[: request.limit]), searched_until=found[0].period.start
    )


def _each(
    search: OfferSearch, request: offers.OfferQuery, places: Sequence[int], values: Sequence[str]
) -> Iterator[offers.Offer]:
    """Yield the soonest offer for each value, until the search has taken too long."""
    for value in values:
        if search.late:
            return
        try:
            offer = _soonest(search, request, places, value)
        except exceptions.RequirementsTooSlow:
            return
        if offer is not None:
            yield offer


def _has(search: OfferSearch, needed: Requirements, name: str) -> bool:
    return not candidates.is_thing(needed) and bool(_values(search, needed, name))


def _values(search: OfferSearch, needed: Requirements, name: str) -> Sequence[str]:
    """Return the values that resources of a reservation have and the caller may know."""
    resource_type = needed.search.resource_type
    if not needed.private and name in search.tx.properties.private_names(resource_type):
        return ()
    return property_values.of(search.matching.of(needed.match), name)


def _soonest(
    search: OfferSearch, request: offers.OfferQuery, places: Sequence[int], value: str
) -> offers.Offer | None:
    equal = property_values.equal(request.same, value)
    needed = list(search.needed)
    for place in places:
        one = needed[place]
        both = requirements.all_of(one.search.requirement, equal)
        needed[place] = dataclasses.replace(
            one, search=dataclasses.replace(one.search, requirement=both)
        )
    limited = search.limited_to(needed)
    try:
        found = limited.next(limited.frame(request.latest), offers.OfferKind.SAME)
    except exceptions.LeaseRefused:
        return None
    if found is None:
        return None
    asked = sorted({search.asked(place) for place in places})
    return dataclasses.replace(
        found,
        requirements=tuple(
            offers.PropertyValues(place=place, name=request.same, values=(value,))
            for place in asked
        ),
    )
