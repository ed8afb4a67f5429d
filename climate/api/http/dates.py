# SPDX-License-Identifier: Apache-2.0

"""Instants and durations in requests and responses.

At 1.0 a time is ``now`` or ``YYYY-MM-DD HH:MM`` in UTC, and responses have
six fractional digits and no zone, because existing clients parse exactly
that. From 1.1 on it is ISO 8601 with a zone, in both directions.
"""

from __future__ import annotations

import datetime
import functools
from typing import Any
from typing import Final

from climate import exceptions
from climate.api.http.microversions import Microversion
from climate.api.http.microversions import V1_1
from climate.domain import periods
from climate.domain.periods import SECOND

FORMAT_1_0: Final = '%Y-%m-%d %H:%M'
FORMAT_1_1: Final = 'YYYY-MM-DDTHH:MM[:SS[.ffffff]][Z|+HH:MM]'


def parse(
    field: str, value: Any, now: datetime.datetime, version: Microversion
) -> datetime.datetime:
    """Parse an instant; returns aware UTC.

    :param field: the name of the field, for the error message
    :param now: the current time (aware UTC)
    :raises climate.exceptions.InvalidDate: if it is invalid
    """
    present = now if version >= V1_1 else now.replace(second=0, microsecond=0)
    instant = None
    if isinstance(value, str):
        instant = periods.instant(value, present, zoned=version >= V1_1)
    if instant is None:
        raise invalid(field, value, version)
    return instant


def invalid(field: str, value: Any, version: Microversion) -> exceptions.InvalidDate:
    """Return the error for a value that is not a time at *version*."""
    wanted = FORMAT_1_1 if version >= V1_1 else FORMAT_1_0
    shown = value if isinstance(value, str) else repr(value)
    if len(shown) > 64:
        shown = shown[:61] + '...'
    # Tests of existing clients compare the text up to the parenthesis.
    text = exceptions.InvalidDate.template % {'date': shown, 'date_format': wanted}
    return exceptions.InvalidDate(f'{text} ({field})')


def parse_duration(field: str, value: Any) -> datetime.timedelta:
    """Parse a duration.

    :param value: seconds as an integer, ``PT1H30M``, or ``90m``
    :raises climate.exceptions.MalformedParameter: if it is invalid, or less
        than a second
    """
    length = _duration(value)
    if length is None or length < SECOND:
        raise exceptions.MalformedParameter.of(
            field,
            'seconds as an integer above 0, an ISO 8601 duration '
            'such as PT90M, or a number with a unit such as 90m, 2h or 1d is required',
        )
    return length


def _duration(value: Any) -> datetime.timedelta | None:
    if isinstance(value, str):
        return periods.duration(value)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    try:
        return datetime.timedelta(seconds=value)
    except OverflowError:
        return None


def add(field: str, start: datetime.datetime, length: datetime.timedelta) -> datetime.datetime:
    """Return ``start + length``.

    :raises climate.exceptions.InvalidInput: if the result is after the year 9999
    """
    try:
        return start + length
    except OverflowError:
        raise exceptions.InvalidInput.of(field, 'the lease would end after the year 9999') from None


# Of the zone at the end of an instant in UTC.
_OFFSET = len('+00:00')
# Dates repeat in lists: an event is at the start of its lease, which was created with it.
_KNOWN_INSTANTS = 8192


@functools.lru_cache(_KNOWN_INSTANTS)
def write(instant: datetime.datetime | None, version: Microversion) -> str | None:
    """Format *instant* like the dates of a lease, an event or an allocation."""
    if instant is None:
        return None
    if version >= V1_1:
        return instant.isoformat()[:-_OFFSET] + 'Z'
    return instant.isoformat(timespec='microseconds')[:-_OFFSET]


@functools.lru_cache(_KNOWN_INSTANTS)
def write_record(instant: datetime.datetime | None, version: Microversion) -> str | None:
    """Format *instant* like ``created_at`` and ``updated_at``."""
    if instant is None or version >= V1_1:
        return write(instant, version)
    return instant.isoformat(sep=' ', timespec='seconds')[:-_OFFSET]
