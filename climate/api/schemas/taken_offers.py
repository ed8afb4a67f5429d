# SPDX-License-Identifier: Apache-2.0

"""Bodies of leases that take an offer: they have no period and no reservations of their own."""

from __future__ import annotations

from typing import Any
from typing import Final

from climate import exceptions
from climate.api import path_ids
from climate.api.http import dates
from climate.api.http.microversions import Microversion
from climate.api.http.validation import Validator
from climate.api.schemas.leases import CREATE_1_4
from climate.domain.offers import StoredOffer

OFFER_ID: Final = 'offer_id'
_FROM_THE_OFFER: Final = ('start_date', 'end_date', 'duration', 'reservations')

TAKE_1_4: dict[str, Any] = {
    **CREATE_1_4,
    'required': ['name', OFFER_ID],
    'properties': {
        **{
            name: schema
            for name, schema in CREATE_1_4['properties'].items()
            if name not in _FROM_THE_OFFER
        },
        OFFER_ID: {'type': 'string', 'minLength': 1, 'maxLength': 36},
    },
}

_TAKE = Validator(TAKE_1_4)


def read(body: dict[str, Any]) -> str:
    """Return the id of the offer that a body takes.

    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    for name in _FROM_THE_OFFER:
        if name in body:
            raise exceptions.MalformedParameter.of(
                name, f'{OFFER_ID} and {name} exclude each other'
            )
    _TAKE.check(body)
    return path_ids.uuid(OFFER_ID, body[OFFER_ID])


def filled(body: dict[str, Any], offer: StoredOffer, version: Microversion) -> dict[str, Any]:
    """Return a body with the period and the reservations of an offer."""
    return {
        **{name: value for name, value in body.items() if name != OFFER_ID},
        'start_date': dates.write(offer.offer.period.start, version),
        'end_date': dates.write(offer.offer.period.end, version),
        'reservations': list(offer.reservations),
    }
