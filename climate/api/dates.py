# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Instants and durations as clients write and read them.

At 1.0 a time is ``now`` or ``YYYY-MM-DD HH:MM`` in UTC, and is written with
six digits of a fraction and no zone, because existing clients parse exactly
that. From 1.1 on it is ISO 8601 with a zone, both ways.
"""

from __future__ import annotations

import datetime
import re
from typing import Any
from typing import Final

from climate import exceptions
from climate.api.microversions import Microversion
from climate.api.microversions import V1_1
from climate.domain import instants
from climate.domain.instants import NOW
from climate.domain.instants import SECOND

FORMAT_1_0: Final = '%Y-%m-%d %H:%M'
FORMAT_1_1: Final = 'YYYY-MM-DDTHH:MM[:SS[.ffffff]][Z|+HH:MM]'
MINUTE: Final = datetime.timedelta(minutes=1)

_TIME_1_0 = re.compile(r'\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?', re.ASCII)


def grain(version: Microversion) -> datetime.timedelta:
    """How exact a time is at *version*."""
    return SECOND if version >= V1_1 else MINUTE


def floor_to_minute(instant: datetime.datetime) -> datetime.datetime:
    """Return *instant* without its seconds."""
    return instant.replace(second=0, microsecond=0)


def parse(
    field: str, value: Any, now: datetime.datetime, version: Microversion
) -> datetime.datetime:
    """Return the instant that *value* means, in aware UTC.

    :param field: the name of the field, for the text of a refusal
    :param now: the present instant (aware UTC)
    :raises climate.exceptions.InvalidDate: if it means none
    """
    modern = version >= V1_1
    if value == NOW:
        return now if modern else floor_to_minute(now)
    known = isinstance(value, str) and (modern or _TIME_1_0.fullmatch(value) is not None)
    found = instants.instant(value) if known else None
    if found is None:
        raise _invalid(field, value, version)
    return found


def _invalid(field: str, value: Any, version: Microversion) -> exceptions.InvalidDate:
    wanted = FORMAT_1_1 if version >= V1_1 else FORMAT_1_0
    shown = value if isinstance(value, str) else repr(value)
    if len(shown) > 64:
        shown = shown[:61] + '...'
    # The text up to the parenthesis is what existing tests look for.
    text = exceptions.InvalidDate.template % {'date': shown, 'date_format': wanted}
    return exceptions.InvalidDate(f'{text} ({field})')


def parse_duration(field: str, value: Any) -> datetime.timedelta:
    """Return the length of time that *value* means.

    :param value: seconds as an integer, ``PT1H30M``, or ``90m``
    :raises climate.exceptions.MalformedParameter: if it means none, or less
        than a second
    """
    length = _duration(value)
    if length is None or length < SECOND:
        raise exceptions.MalformedParameter(
            f'Malformed parameter {field}: seconds as an integer above 0, an ISO 8601 duration '
            'such as PT90M, or a number with a unit such as 90m, 2h or 1d is required'
        )
    return length


def _duration(value: Any) -> datetime.timedelta | None:
    if isinstance(value, str):
        return instants.duration(value)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    try:
        return datetime.timedelta(seconds=value)
    except OverflowError:
        return None


def add(field: str, start: datetime.datetime, length: datetime.timedelta) -> datetime.datetime:
    """Return ``start + length``.

    :raises climate.exceptions.InvalidInput: if that is beyond the year 9999
    """
    try:
        return start + length
    except OverflowError:
        raise exceptions.InvalidInput(
            f'Malformed parameter {field}: the lease would end after the year 9999'
        ) from None


def write(instant: datetime.datetime | None, version: Microversion) -> str | None:
    """Return *instant* as the dates of a lease, an event or an allocation are written."""
    if instant is None:
        return None
    naive = instant.astimezone(datetime.UTC).replace(tzinfo=None)
    if version >= V1_1:
        return naive.isoformat() + 'Z'
    return naive.isoformat(timespec='microseconds')


def write_record(instant: datetime.datetime | None, version: Microversion) -> str | None:
    """Return *instant* as ``created_at`` and ``updated_at`` are written."""
    if instant is None or version >= V1_1:
        return write(instant, version)
    naive = instant.astimezone(datetime.UTC).replace(tzinfo=None)
    return naive.isoformat(sep=' ', timespec='seconds')
