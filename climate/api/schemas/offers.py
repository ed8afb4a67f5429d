# SPDX-License-Identifier: Apache-2.0

"""Bodies of requests for offers."""

from __future__ import annotations

import datetime
from typing import Any
from typing import Final

from climate import exceptions
from climate.api.http import dates
from climate.api.http.json_schema import choice
from climate.api.http.json_schema import form
from climate.api.http.json_schema import TEXT
from climate.api.http.microversions import Microversion
from climate.api.http.microversions import V1_5
from climate.api.http.microversions import V1_8
from climate.api.http.validation import Validator
from climate.api.schemas import placements
from climate.api.schemas.availability import LONGEST
from climate.api.schemas.leases import RESERVATIONS_1_4
from climate.domain.offers import OfferPreference
from climate.domain.offers import OfferQuery

MOST: Final = 10
"""The largest number of offers in a response."""

_DURATION: dict[str, Any] = {'type': ['integer', 'string']}
CREATE = form(
    'reservations',
    reservations={**RESERVATIONS_1_4, 'minItems': 1},
    duration=_DURATION,
    min_duration=_DURATION,
    earliest=TEXT,
    latest=TEXT,
    limit={'type': 'integer', 'minimum': 1, 'maximum': MOST},
    hold=_DURATION,
    prefer=choice(OfferPreference),
    property={'type': 'string', 'minLength': 1, 'maxLength': 255},
)

_malformed = exceptions.MalformedParameter.of
_CREATE = Validator(CREATE)
_USUAL: Final = 3
_AHEAD: Final = datetime.timedelta(days=14)
_MINUTE: Final = datetime.timedelta(minutes=1)


def read(
    body: dict[str, Any], now: datetime.datetime, version: Microversion, max_reservations: int
) -> OfferQuery:
    """Return the request for offers in a body.

    :param now: the instant that ``now`` means (aware UTC)
    :param max_reservations: the maximum number of reservations
    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    _CREATE.check(body)
    if len(body['reservations']) > max_reservations:
        raise _malformed('reservations', f'at most {max_reservations} items are allowed')
    key, duration = _duration(body)
    earliest = _earliest(body, now, version)
    until = dates.add(key, dates.add(key, earliest, duration), _AHEAD)
    latest = until
    if 'latest' in body:
        latest = dates.parse('latest', body['latest'], now, version)
    if latest - earliest > LONGEST:
        raise _malformed('latest', f'at most {LONGEST.days} days after earliest are allowed')
    if earliest + duration > latest:
        raise _malformed('latest', f'a time at least {key} after earliest is required')
    prefer = _preference(body, key)
    reservations, placed = placements.split(body['reservations'])
    return OfferQuery(
        reservations=reservations,
        stated=tuple(body['reservations']),
        placements=placed,
        duration=duration,
        extended=key == 'min_duration',
        earliest=earliest,
        latest=latest,
        limit=int(body.get('limit', _USUAL)),
        traits=version >= V1_5,
        displacing=version >= V1_8,
        asked_at=now,
        hold=dates.parse_duration('hold', body['hold']) if 'hold' in body else None,
        prefer=prefer,
        same=body.get('property', ''),
    )


def _preference(body: dict[str, Any], key: str) -> OfferPreference:
    """Return what the caller prefers.

    :param key: the field that sets the duration
    """
    preference = OfferPreference(body.get('prefer', OfferPreference.SOONEST))
    if preference is OfferPreference.SAME and 'property' not in body:
        raise exceptions.MissingParameter(param='property')
    if preference is not OfferPreference.SAME and 'property' in body:
        raise _malformed('property', f'it requires that prefer is {OfferPreference.SAME.value}')
    if preference is not OfferPreference.SOONEST and key == 'min_duration':
        reason = f'it requires that prefer is {OfferPreference.SOONEST.value}'
        raise _malformed('min_duration', reason)
    return preference


def _duration(body: dict[str, Any]) -> tuple[str, datetime.timedelta]:
    """Return the field that sets the duration, and its value."""
    given = [key for key in ('duration', 'min_duration') if key in body]
    if not given:
        raise exceptions.MissingParameter(param='duration')
    if len(given) > 1:
        raise _malformed('min_duration', 'duration and min_duration exclude each other')
    length = dates.parse_duration(given[0], body[given[0]])
    if length > LONGEST:
        raise _malformed(given[0], f'at most {LONGEST.days} days are allowed')
    return given[0], length


def _earliest(
    body: dict[str, Any], now: datetime.datetime, version: Microversion
) -> datetime.datetime:
    earliest = dates.parse('earliest', body.get('earliest', 'now'), now, version)
    if earliest < now - _MINUTE:
        raise _malformed('earliest', 'it lies in the past')
    if earliest - now > LONGEST:
        raise _malformed('earliest', f'at most {LONGEST.days} days ahead are allowed')
    return max(earliest, now)
