# SPDX-License-Identifier: Apache-2.0

"""Query parameters of availability."""

from __future__ import annotations

import datetime
import re
from typing import Final

from climate import exceptions
from climate.api.http import dates
from climate.api.http import queries
from climate.api.http.microversions import Microversion
from climate.api.http.microversions import V1_5
from climate.api.http.microversions import V1_8
from climate.domain import periods
from climate.domain.availability import AvailabilityQuery
from climate.domain.availability import MOST_BUCKETS
from climate.domain.periods import Period

PARAMETERS: Final = frozenset(
    {'resource_type', 'start', 'end', 'step', 'resources', 'resource_properties', 'group_by'}
)
LONGEST: Final = datetime.timedelta(days=400)
"""The longest period for availability and for offers."""

_malformed = exceptions.MalformedParameter.of
_USUAL: Final = datetime.timedelta(days=7)
_HOUR: Final = datetime.timedelta(hours=1)
_DEMAND: Final = re.compile('([A-Z0-9_]{1,255}):([0-9]{1,10})', re.ASCII)
_MOST_CLASSES: Final = 100
_LARGEST: Final = 2**31 - 1
_DIGITS: Final = 12
# The timelines count microseconds in 54 bits.
_FURTHEST: Final = datetime.timedelta(days=36525)


def read(
    parameters: queries.Parameters,
    version: Microversion,
    now: datetime.datetime,
    *,
    sees_private: bool,
    compares_private: bool,
) -> AvailabilityQuery:
    """Return the query that parameters describe.

    :param now: the instant that ``now`` means (aware UTC)
    :param sees_private: whether private properties exist for the caller
    :param compares_private: whether requirements may compare private properties
    :raises climate.exceptions.InvalidInput: naming the parameter and why
    """
    step = _step(queries.one(parameters, 'step'))
    return AvailabilityQuery(
        resource_type=queries.short(parameters, 'resource_type')
        or queries.required(parameters, 'resource_type'),
        period=_period(parameters, version, now, step),
        step=step,
        demand=_demand(queries.one(parameters, 'resources')),
        requirement=queries.one(parameters, 'resource_properties') or '',
        traits=version >= V1_5,
        group_by=queries.short(parameters, 'group_by'),
        sees_private=sees_private,
        compares_private=compares_private,
        movable=version >= V1_8,
    )


def check_length(start: datetime.datetime, end: datetime.datetime) -> None:
    """Check that a period has a length that queries may have.

    :raises climate.exceptions.MalformedParameter: otherwise
    """
    if end <= start:
        raise _malformed('end', 'a time after the start is required')
    if end - start > LONGEST:
        raise _malformed('end', f'at most {LONGEST.days} days after the start are allowed')


def _step(text: str | None) -> datetime.timedelta:
    if text is None:
        return _HOUR
    number = text.isascii() and text.isdigit() and len(text) <= _DIGITS
    return dates.parse_duration('step', int(text) if number else text)


def _period(
    parameters: queries.Parameters,
    version: Microversion,
    now: datetime.datetime,
    step: datetime.timedelta,
) -> Period:
    """Return the period of all buckets."""
    if step > LONGEST:
        raise _malformed('step', f'at most {LONGEST.days} days are allowed')
    start = _instant('start', parameters, version, now) or periods.floored(now, step)
    end = _instant('end', parameters, version, now)
    if start + step <= now:
        raise _malformed('start', 'the past is not shown: it is more than a step before now')
    until = start + _USUAL if end is None else end
    check_length(start, until)
    number = -(-(until - start) // step)
    if number > MOST_BUCKETS:
        raise _malformed(
            'step', f'at most {MOST_BUCKETS} buckets are allowed, and these would be {number}'
        )
    return Period(start=start, end=dates.add('step', start, number * step))


def _instant(
    key: str, parameters: queries.Parameters, version: Microversion, now: datetime.datetime
) -> datetime.datetime | None:
    text = queries.one(parameters, key)
    if text is None:
        return None
    instant = dates.parse(key, queries.with_plus_sign(text), now, version)
    if instant - now > _FURTHEST:
        raise _malformed(key, 'at most a hundred years ahead are allowed')
    return instant


def _demand(text: str | None) -> dict[str, int]:
    """Return units by resource class, written as in Placement: ``VCPU:2,MEMORY_MB:4096``."""
    amounts: dict[str, int] = {}
    for part in (text or '').split(',') if text else ():
        match = _DEMAND.fullmatch(part)
        amount = int(match[2]) if match else 0
        if match is None or not 0 < amount <= _LARGEST:
            raise _malformed('resources', 'CLASS:AMOUNT pairs are required, such as VCPU:2')
        if match[1] in amounts:
            raise _malformed('resources', f'{match[1]} may be given once only')
        amounts[match[1]] = amount
    if len(amounts) > _MOST_CLASSES:
        raise _malformed('resources', f'at most {_MOST_CLASSES} classes are allowed')
    return amounts
