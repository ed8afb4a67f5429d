# SPDX-License-Identifier: Apache-2.0

"""The bodies of reservations that were requested, as an offer needs them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

from climate.allocation import property_values
from climate.allocation import requirements
from climate.domain import placements
from climate.domain.offers import Offer
from climate.domain.offers import OfferKind
from climate.domain.offers import PropertyValues
from climate.domain.requests import LeaseDraft

_KEY: Final = 'resource_properties'
_OTHER_KEY: Final = 'hypervisor_properties'


def amended(
    bodies: Sequence[Mapping[str, Any]], required: Sequence[PropertyValues]
) -> tuple[Mapping[str, Any], ...]:
    """Return the bodies of reservations with further requirements.

    :param bodies: as received
    :param required: the values, one of which a reservation is to require
    """
    found = [dict(body) for body in bodies]
    for one in required:
        body = found[one.place]
        body[_KEY] = _both(body.get(_KEY), _any_of(one))
    return tuple(found)


def _any_of(required: PropertyValues) -> list[Any]:
    found = [['==', f'${required.name}', value] for value in required.values]
    return found[0] if len(found) == 1 else ['or', *found]


def _both(stated: Any, further: list[Any]) -> str:
    """Return both requirements as JSON text; *stated* may be JSON text, a list, or nothing."""
    expression = json.loads(stated) if isinstance(stated, str) and stated.strip() else stated
    return json.dumps(['and', expression, further] if expression else further)


def of_alternative(draft: LeaseDraft, offer: Offer) -> tuple[Mapping[str, Any], ...] | None:
    """Return the reservations of an alternative to a lease, as a client would send them.

    :returns: None if no body says what the alternative is
    """
    found: list[Mapping[str, Any]] | None = list(draft.reservations)
    match offer.kind:
        case OfferKind.MOST:
            found = _counted(draft.reservations, offer)
        case OfferKind.OTHER_PROPERTY:
            found = _replaced(draft.reservations, offer.requirements)
    if found is None:
        return None
    for place, one in enumerate(draft.placements):
        if one is not None:
            found[place] = {**found[place], 'placement': placements.stated(one)}
    return tuple(found)


def _counted(bodies: Sequence[Mapping[str, Any]], offer: Offer) -> list[Mapping[str, Any]] | None:
    """Return the bodies of reservations with the amounts of an offer."""
    amounts = {one.place: one.amount for one in offer.reservations}
    if len(amounts) < len(offer.reservations):
        # The parts of a reservation have no bodies.
        return None
    found: list[Mapping[str, Any]] = []
    for place, body in enumerate(bodies):
        amount = amounts.get(place, 0)
        if 'max' in body:
            found.append({**body, 'min': min(int(body.get('min', 0)), amount), 'max': amount})
        elif amount and 'amount' in body:
            found.append({**body, 'amount': amount})
        else:
            return None
    return found


def _replaced(
    bodies: Sequence[Mapping[str, Any]], required: Sequence[PropertyValues]
) -> list[Mapping[str, Any]] | None:
    """Return the bodies of reservations that require other values of a property."""
    found = list(bodies)
    for one in required:
        body = found[one.place]
        stated = requirements.parse(body.get(_KEY))
        mine = [each for each in property_values.comparisons(stated) if each.key == one.name]
        if not mine or one.name in requirements.keys(requirements.parse(body.get(_OTHER_KEY))):
            return None
        for each in mine:
            stated = property_values.without(stated, each)
        found[one.place] = {**body, _KEY: _both(requirements.dumps(stated), _any_of(one))}
    return found
