# SPDX-License-Identifier: Apache-2.0

"""Offers, and rehearsed leases, as JSON."""

from __future__ import annotations

from typing import Any
from typing import Final

from climate.api.http import dates
from climate.api.http.json_schema import by_name
from climate.api.http.json_schema import COUNT
from climate.api.http.json_schema import listed
from climate.api.http.json_schema import or_null
from climate.api.http.json_schema import ref
from climate.api.http.json_schema import TEXT
from climate.api.http.microversions import Microversion
from climate.api.http.microversions import V1_8
from climate.api.views import fields
from climate.api.views.fields import AnswerField
from climate.api.views.fields import PLAIN
from climate.domain import offers

_PLACE: Final = AnswerField(name='reservation', of='place', write=PLAIN, schema=COUNT)
RESERVATION: Final = (
    _PLACE,
    AnswerField(name='resource_type', write=PLAIN, schema=TEXT),
    AnswerField(name='amount', write=PLAIN, schema=COUNT),
    AnswerField(name='classes', write='mapping', schema=by_name(COUNT)),
)
"""The fields of a reservation of an offer."""
REQUIREMENT: Final = (
    _PLACE,
    AnswerField(name='property', of='name', write=PLAIN, schema=TEXT),
    AnswerField(name='values', write='array', schema=listed(TEXT)),
)
"""The fields of the values of a property that an offer requires."""
SHORTAGE: Final = (
    _PLACE,
    AnswerField(name='resource_type', write=PLAIN, schema=TEXT),
    AnswerField(name='resource_class', write=PLAIN, schema=or_null(TEXT)),
    AnswerField(name='missing', write=PLAIN, schema=COUNT),
    AnswerField(name='until', write='date', schema=or_null(ref('Time'))),
)
"""The fields of what is missing for a reservation, and until when."""


def offer(value: offers.Offer, version: Microversion) -> dict[str, Any]:
    """Return one offer."""
    shown: dict[str, Any] = {
        'start_date': dates.write(value.period.start, version),
        'end_date': dates.write(value.period.end, version),
        'reason': value.kind.value,
        'reservations': [fields.shown(RESERVATION, version, one) for one in value.reservations],
        'blocked_before': [shortage(one, version) for one in value.blocked_before],
    }
    if version >= V1_8:
        shown['displaced'] = value.displaced
    if value.requirements:
        shown['requirements'] = [
            fields.shown(REQUIREMENT, version, one) for one in value.requirements
        ]
    if value.cost is not None:
        shown['cost'] = value.cost
    if value.resources is not None:
        shown['resources'] = value.resources
    return shown


def shortage(value: offers.Shortage, version: Microversion) -> dict[str, Any]:
    """Return what is missing for a reservation, and until when."""
    return fields.shown(SHORTAGE, version, value)


def extension(value: offers.Extension, version: Microversion) -> dict[str, Any]:
    """Return how far a lease can be extended."""
    return {
        'end_date': dates.write(value.end, version),
        'blocked_by': [shortage(one, version) for one in value.blocked_by],
        'offers': [offer(one, version) for one in value.offers],
        'searched_until': dates.write(value.searched_until, version),
    }
