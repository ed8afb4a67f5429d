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

"""Dates and durations as people write them, and dates as they read them."""

from __future__ import annotations

import contextlib
import datetime
import re
import warnings
import zoneinfo
from typing import Final

from dateutil import parser
from dateutil import tz

from climate.domain import periods

_PART: Final = re.compile(r'\d+[smhdw]')
_DURATION: Final = re.compile(rf'(?:{_PART.pattern})+')
_UNITS: Final = (('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1))
_DAY: Final = datetime.timedelta(days=1)
_DAYS: Final = {'today': datetime.timedelta(), 'tomorrow': _DAY}
_WEEKDAY: Final = re.compile(r'(?i:mon|tue|wed|thu|fri|sat|sun)[a-z]*\b')
# The order of day and month in such a date differs between countries.
_AMBIGUOUS: Final = re.compile(r'\b\d{1,2}[/.-]\d{1,2}([/.-]\d{2,4})?\b(?!:)')
_ISO: Final = re.compile(r'\d{4}-\d{2}-\d{2}')


class TimeSyntaxError(ValueError):
    """A date or a duration cannot be read; the message says what would be accepted."""


def duration(text: str) -> datetime.timedelta:
    """Read a duration, such as ``4h``, ``1h30m``, ``7d`` or ``PT90M``.

    :raises TimeSyntaxError: if it cannot be read, or is zero
    """
    compact = re.sub(r'\s', '', text)
    parts = _PART.findall(compact) if _DURATION.fullmatch(compact) else [compact]
    found = [periods.duration(part) for part in parts]
    try:
        total = sum((each for each in found if each is not None), datetime.timedelta())
    except OverflowError:
        total = datetime.timedelta()
    if None in found or not total:
        raise TimeSyntaxError(f'{text!r} is no duration; write 90m, 4h, 1h30m, 7d or 2w')
    return total


def write_duration(seconds: int) -> str:
    """Return a duration as :func:`duration` reads it, such as ``1h30m``; ``0s`` for zero."""
    parts = []
    for unit, length in _UNITS:
        count, seconds = divmod(seconds, length)
        if count:
            parts.append(f'{count}{unit}')
    return ''.join(parts) or '0s'


def instant(text: str, now: datetime.datetime) -> datetime.datetime:
    """Read an instant; return it in aware UTC.

    :param text: ``now``, ``+4h`` or ``in 4h``; ``today``, ``tomorrow`` or a weekday, with a
        time or without; a time alone, which is the next one; or a date. An offset such as
        ``+02:00`` or a zone such as ``Europe/Berlin`` can follow; otherwise the zone is that
        of *now*. A time that clocks skip when they go forward is read with the offset
        before the change; of a time that occurs twice, the first one is meant (RFC 5545,
        section 3.3.5)
    :param now: the present instant, in the zone of the user
    :raises TimeSyntaxError: if it cannot be read
    """
    words = text.split()
    if words == [periods.NOW]:
        return now.astimezone(datetime.UTC)
    if relative := re.fullmatch(r'\s*(?:\+|in\s)(.+)', text):
        try:
            return now.astimezone(datetime.UTC) + duration(relative[1])
        except OverflowError:
            raise _unreadable(text) from None
    zone, words = _zone(words, now)
    if not words:
        raise _unreadable(text)
    try:
        local = tz.resolve_imaginary(_local(words, now.astimezone(zone)))
        return local.astimezone(datetime.UTC)
    except (ValueError, OverflowError, parser.UnknownTimezoneWarning):
        raise _unreadable(text) from None


def read(text: str) -> datetime.datetime:
    """Return an instant of the API, in aware UTC.

    :param text: ISO 8601
    """
    found = datetime.datetime.fromisoformat(text)
    # Microversion 1.0 has times in UTC without a zone.
    return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)


def write(text: str | None, zone: datetime.tzinfo | None = None) -> str:
    """Return an instant of the API for people to read, with its zone.

    :param text: ISO 8601; '' is returned for None
    :param zone: None for the zone of the machine
    """
    if not text:
        return ''
    local = read(text).astimezone(zone)
    seconds = ':%S' if local.second else ''
    return local.strftime(f'%Y-%m-%d %H:%M{seconds} %Z')


def _zone(words: list[str], now: datetime.datetime) -> tuple[datetime.tzinfo | None, list[str]]:
    """Return the zone that the last word names, or else that of *now*; and the other words."""
    if words and ('/' in words[-1] or words[-1] in ('UTC', 'GMT')):
        # What is no zone belongs to the time.
        with contextlib.suppress(ValueError, zoneinfo.ZoneInfoNotFoundError):
            return zoneinfo.ZoneInfo(words[-1]), words[:-1]
    return now.tzinfo, words


def _local(words: list[str], now: datetime.datetime) -> datetime.datetime:
    """Return the instant that words name, none of which is a zone."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    ahead = _DAYS.get(words[0].lower())
    rest = ' '.join(words if ahead is None else words[1:])
    if ahead is not None and not rest:
        return midnight + ahead
    if not _ISO.search(rest) and (_AMBIGUOUS.search(rest) or rest.isdigit()):
        raise ValueError(rest)
    found = _parsed(rest, midnight)
    if ahead is not None:
        if found.date() != midnight.date() or _WEEKDAY.match(rest):
            raise ValueError(rest)
        return found + ahead
    if found > now:
        return found
    if _WEEKDAY.match(rest):
        return found + 7 * _DAY
    # What depends on the day it is read on is a time alone.
    alone = _parsed(rest, midnight + _DAY).date() != found.date()
    return found + _DAY if alone else found


def _parsed(text: str, default: datetime.datetime) -> datetime.datetime:
    with warnings.catch_warnings():
        warnings.simplefilter('error', parser.UnknownTimezoneWarning)
        return parser.parse(text, default=default)


def _unreadable(text: str) -> TimeSyntaxError:
    return TimeSyntaxError(
        f"{text!r} is no date; write now, +4h, 'tomorrow 9:00', 'friday 14:30' or "
        "'2030-01-31 09:00', with a zone such as Europe/Berlin or +02:00 at the end"
    )
