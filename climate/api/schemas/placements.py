# SPDX-License-Identifier: Apache-2.0

"""The placement of a reservation in a request."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from climate import exceptions
from climate.api.http.json_schema import form
from climate.domain.placements import loaded
from climate.domain.placements import MemberPlacement

_MOST = 10
_NAME = {'type': 'string', 'minLength': 1, 'maxLength': 255}
_PLACE = {'type': 'integer', 'minimum': 0, 'maximum': 99}
_SKEW = {'type': 'integer', 'minimum': 1, 'maximum': 1000}
_VALUE = {'type': 'string', 'maxLength': 255}
_WEIGHT = {'type': 'integer', 'minimum': 1, 'maximum': 100}


def _list(one: dict[str, Any]) -> dict[str, Any]:
    return {'type': 'array', 'maxItems': _MOST, 'uniqueItems': True, 'items': one}


PLACEMENT: dict[str, Any] = {
    'type': 'object',
    'required': [],
    **form(
        same=_list(_NAME),
        same_as=_list(form('reservation', 'property', reservation=_PLACE, property=_NAME)),
        spread=_list(form('property', property=_NAME, max_skew=_SKEW)),
        apart_from=_list(_PLACE),
        prefer=_list(form(trait=_NAME, property=_NAME, value=_VALUE, weight=_WEIGHT)),
    ),
}


def with_placement(reservations: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a list of reservations that can have a placement."""
    one = reservations['items']
    properties = {**one['properties'], 'placement': PLACEMENT}
    return {**reservations, 'items': {**one, 'properties': properties}}


def split(
    bodies: Sequence[Mapping[str, Any]],
) -> tuple[tuple[Mapping[str, Any], ...], tuple[MemberPlacement | None, ...]]:
    """Return the bodies of reservations without their placements, and the placements.

    There are no placements if no reservation has one.

    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    plain = tuple(
        {key: value for key, value in body.items() if key != 'placement'} for body in bodies
    )
    by_member = []
    for place, body in enumerate(bodies):
        stated = body.get('placement')
        if stated:
            _check(stated, place, len(bodies))
        by_member.append(loaded(stated) if stated else None)
    return plain, tuple(by_member) if any(by_member) else ()


def _check(stated: Mapping[str, Any], place: int, count: int) -> None:
    field = f'reservations[{place}].placement'
    others = [*stated.get('apart_from', ())]
    others += [one['reservation'] for one in stated.get('same_as', ())]
    for other in others:
        if other == place or other >= count:
            raise exceptions.MalformedParameter.of(
                field, f'{other} is not the place of another reservation'
            )
    for one in stated.get('prefer', ()):
        if ('trait' in one) == ('property' in one) or ('property' in one) != ('value' in one):
            raise exceptions.MalformedParameter.of(
                f'{field}.prefer', 'either a trait, or a property with a value, is required'
            )
    for one in stated.get('spread', ()):
        if one['property'] in stated.get('same', ()):
            raise exceptions.MalformedParameter.of(
                f'{field}.spread', f"'{one['property']}' is in same too"
            )
