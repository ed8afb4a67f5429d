# SPDX-License-Identifier: Apache-2.0

"""Dates and durations as people write them, and dates as they read them."""

from __future__ import annotations

import contextlib
import datetime
import re
import warnings
import zoneinfo
from typing import Final

from dateutil import tz

from climate.domain import periods

_UNIT: Final = r'(?:s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:eeks?)?)'
_PART: Final = re.compile(rf'(\d+)\s*({_UNIT})(?![a-z])', re.IGNORECASE)
_DURATION: Final = re.compile(rf'(?:{_PART.pattern}(?:\s+and\s+|,?\s*))+', re.IGNORECASE)
_UNITS: Final = (('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1))
_DAY: Final = datetime.timedelta(days=1)
_DAYS: Final = {'today': datetime.timedelta(), 'tomorrow': _DAY}
_WEEKDAYS: Final = ('mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun')
_WEEKDAY: Final = re.compile(
    r'(mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?', re.IGNORECASE
)
_HOURS: Final = {'noon': '12:00', 'midnight': '0:00'}
_CLOCK: Final = re.compile(r'\d{1,2}(?::\d{2}){1,2}\s*(?:[ap]m)?|\d{1,2}\s*[ap]m', re.IGNORECASE)
# The order of day and month in such a date differs between countries.
_AMBIGUOUS: Final = re.compile(r'\b\d{1,2}[/.-]\d{1,2}([/.-]\d{2,4})?\b(?!:)')
_ISO: Final = re.compile(r'\d{4}-\d{2}-\d{2}')
_MONTH: Final = re.compile(r'[^\W\d_]{3}')
_YEAR: Final = re.compile(r'\b\d{4}\b')


class TimeSyntaxError(ValueError):
    """A date or a duration cannot be read; the message says what would be accepted."""


def duration(text: str) -> datetime.timedelta:
    """Read a duration, such as ``4h``, ``1h30m``, ``2 hours``, ``7d`` or ``PT90M``.

    :raises TimeSyntaxError: if it cannot be read, or is zero
    """
    trimmed = text.strip()
    if _DURATION.fullmatch(trimmed):
        parts = [f'{count}{unit[0].lower()}' for count, unit in _PART.findall(trimmed)]
    else:
        parts = [trimmed]
    durations = [periods.duration(part) for part in parts]
    try:
        total = sum((each for each in durations if each is not None), datetime.timedelta())
    except OverflowError:
        total = datetime.timedelta()
    if None in durations or not total:
        raise TimeSyntaxError(
            f"Cannot read the duration {text!r}; write 90m, 4h, 1h30m, '2 hours', 7d or 2w"
        )
    return total


def write_duration(seconds: int) -> str:
    """Return a duration as :func:`duration` reads it, such as ``1h30m``; ``0s`` for zero."""
    parts = []
    for unit, length in _UNITS:
        count, seconds = divmod(seconds, length)
        if count:
            parts.append(f'{count}{unit}')
    return ''.join(parts) or '0s'


def instant(
    text: str, now: datetime.datetime, after: datetime.datetime | None = None
) -> datetime.datetime:
    """Read an instant; return it in aware UTC.

    :param text: ``now``, ``+4h`` or ``in 2 hours``; ``today``, ``tomorrow`` or a weekday, with a
        time or without; a time alone; or a date. A weekday or a time alone is the next one, and
        ``next tuesday`` is never today. An offset such as ``+02:00`` or a zone such as
        ``Europe/Berlin`` can follow; otherwise the zone is that of *now*. A time that clocks
        skip when they go forward is read with the offset before the change; of a time that
        occurs twice, the first one is meant (RFC 5545, section 3.3.5)
    :param now: the present instant, in the zone of the user
    :param after: when what ends at the instant begins: a time alone is on that day, though it
        may be earlier, and a weekday is the next one from there
    :raises TimeSyntaxError: if it cannot be read
    """
    words = text.split()
    if words == [periods.NOW]:
        return now.astimezone(datetime.UTC)
    if relative := re.fullmatch(r'\s*(?:\+|in\s)(.+)', text, re.IGNORECASE):
        try:
            return now.astimezone(datetime.UTC) + duration(relative[1])
        except (OverflowError, TimeSyntaxError):
            raise _unreadable(text) from None
    zone, words = _zone(words, now)
    if not words:
        raise _unreadable(text)
    try:
        base = None if after is None else after.astimezone(zone)
        local = tz.resolve_imaginary(_local(words, now.astimezone(zone), base))
        return local.astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        raise _unreadable(text) from None


def read(text: str) -> datetime.datetime:
    """Return an instant of the API, in aware UTC.

    :param text: ISO 8601
    """
    moment = datetime.datetime.fromisoformat(text)
    # Microversion 1.0 has times in UTC without a zone.
    return moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)


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


def _local(
    words: list[str], now: datetime.datetime, after: datetime.datetime | None
) -> datetime.datetime:
    """Return the instant that words name, none of which is a zone."""
    words = _day_first([_HOURS.get(word.lower(), word) for word in words])
    first, rest = words[0].lower(), words[1:]
    if first in _DAYS:
        return _at(_midnight(now) + _DAYS[first], rest)
    follows = first == 'next'
    if follows:
        first, rest = rest[0].lower() if rest else '', rest[1:]
    if _WEEKDAY.fullmatch(first) and not follows and _YEAR.search(' '.join(rest)):
        return _dated(first, ' '.join(rest), now)
    if _WEEKDAY.fullmatch(first):
        return _weekday(first, rest, after or now, follows)
    if follows:
        raise ValueError(first)
    written = ' '.join(words)
    if _CLOCK.match(written) and not _MONTH.search(written):
        moment = _at(_midnight(after or now), words)
        return moment if after or moment > now else moment + _DAY
    return _date(written, now)


def _day_first(words: list[str]) -> list[str]:
    """Return words such as ``9:00 next tuesday`` in the order ``next tuesday 9:00``."""
    for at, word in enumerate(words):
        if word.lower() in (*_DAYS, 'next') or _WEEKDAY.fullmatch(word.rstrip(',')):
            return [word.rstrip(','), *words[at + 1 :], *words[:at]]
    return words


def _date(text: str, now: datetime.datetime) -> datetime.datetime:
    """Return a date, whose year can be missing; with a time or without."""
    if not re.search(r'\d', text):
        raise ValueError(text)
    if not _ISO.search(text) and (_AMBIGUOUS.search(text) or text.isdigit()):
        raise ValueError(text)
    return _parsed(text, _midnight(now))


def _dated(weekday: str, text: str, now: datetime.datetime) -> datetime.datetime:
    """Return a date that must be on a weekday."""
    date = _date(text, now)
    if date.weekday() != _WEEKDAYS.index(weekday[:3]):
        raise ValueError(text)
    return date


def _weekday(
    name: str, clock: list[str], base: datetime.datetime, follows: bool
) -> datetime.datetime:
    """Return the first such day that is later than *base*; with *follows*, not on its day."""
    ahead = (_WEEKDAYS.index(name[:3]) - base.weekday()) % 7
    moment = _at(_midnight(base) + ahead * _DAY, clock)
    if moment > base and not (follows and not ahead):
        return moment
    return _at(_midnight(base) + (ahead + 7) * _DAY, clock)


def _midnight(moment: datetime.datetime) -> datetime.datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)


def _at(day: datetime.datetime, clock: list[str]) -> datetime.datetime:
    """Return a time of a day; its beginning without a time."""
    if not clock:
        return day
    written = ' '.join(clock)
    if _ISO.search(written) or _AMBIGUOUS.search(written) or written.isdigit():
        raise ValueError(written)
    moment = _parsed(written, day)
    # What is read alike on every day is a date, or names a weekday.
    other = _parsed(written, day + _DAY)
    if moment.date() != day.date() or other.date() != (day + _DAY).date():
        raise ValueError(written)
    return moment


def _parsed(text: str, default: datetime.datetime) -> datetime.datetime:
    # Most commands read no time, and the parser takes a while to import.
    from dateutil import parser  # noqa: PLC0415  as above

    with warnings.catch_warnings():
        warnings.simplefilter('error', parser.UnknownTimezoneWarning)
        try:
            return parser.parse(text, default=default)
        except parser.UnknownTimezoneWarning:
            raise ValueError(text) from None


def _unreadable(text: str) -> TimeSyntaxError:
    return TimeSyntaxError(
        f"Cannot read the time {text!r}; write now, 'in 2 hours', '17:00', 'tomorrow noon', "
        "'friday 14:30', 'next tuesday 9:00' or '2030-01-31 09:00', with a zone such as "
        'Europe/Berlin or +02:00 at the end'
    )
