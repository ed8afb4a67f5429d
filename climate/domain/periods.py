# SPDX-License-Identifier: Apache-2.0

"""Periods, and the parsing of instants and durations that users write."""

from __future__ import annotations

import dataclasses
import datetime
import re
from typing import Final

NOW: Final = 'now'
SECOND: Final = datetime.timedelta(seconds=1)

# No lease is older; years of one digit are typing errors.
_FIRST: Final = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)

_NAIVE = re.compile(r'\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?', re.ASCII)
_ZONED = re.compile(rf'{_NAIVE.pattern}(?:Z|[+-]\d{{2}}(?::?\d{{2}})?)?', re.ASCII)
_ISO_DURATION = re.compile(
    r'P(?=[\dT])(?:(?P<weeks>\d{1,9})W)?(?:(?P<days>\d{1,9})D)?'
    r'(?:T(?=\d)(?:(?P<hours>\d{1,9})H)?(?:(?P<minutes>\d{1,9})M)?(?:(?P<seconds>\d{1,12})S)?)?',
    re.ASCII,
)
_SHORT_DURATION = re.compile(r'(?P<number>\d{1,12})(?P<unit>[smhdw])', re.ASCII)
_UNITS = {'s': 'seconds', 'm': 'minutes', 'h': 'hours', 'd': 'days', 'w': 'weeks'}


@dataclasses.dataclass(frozen=True, kw_only=True, order=True, slots=True)
class Period:
    """``[start, end)`` in aware UTC; adjacent periods do not overlap.

    :raises ValueError: if one of the two is naive, or the end is not after the start
    """

    start: datetime.datetime
    end: datetime.datetime

    def __post_init__(self) -> None:
        for instant in (self.start, self.end):
            if instant.tzinfo is None:
                raise ValueError('a period needs aware datetimes')
        if self.end <= self.start:
            raise ValueError('a period ends after it starts')

    @property
    def length(self) -> datetime.timedelta:
        """The duration."""
        return self.end - self.start

    def overlaps(self, other: Period) -> bool:
        """Whether the two share an instant."""
        return self.start < other.end and other.start < self.end

    def contains(self, other: Period) -> bool:
        """Whether *other* is entirely within this period."""
        return self.start <= other.start and other.end <= self.end

    def beyond(self, other: Period) -> tuple[Period, ...]:
        """Return the parts that are outside *other*, in order."""
        if not self.overlaps(other):
            return (self,)
        parts = []
        if self.start < other.start:
            parts.append(Period(start=self.start, end=other.start))
        if self.end > other.end:
            parts.append(Period(start=other.end, end=self.end))
        return tuple(parts)

    def after(self, now: datetime.datetime) -> Period:
        """Return the part that is not over at *now*, or the last microsecond.

        A lease that starts "now" starts at the beginning of the minute; an
        allocation that ended a moment ago must not block it.
        """
        if now <= self.start:
            return self
        return Period(start=min(now, self.end - datetime.timedelta.resolution), end=self.end)

    def padded(self, pause: datetime.timedelta) -> Period:
        """Return the period with *pause* (not negative) added on both sides."""
        return Period(start=self.start - pause, end=self.end + pause)


def floored(instant: datetime.datetime, grain: datetime.timedelta) -> datetime.datetime:
    """Return the last multiple of *grain* that is not after *instant*.

    Clients that send minutes mean the beginning of the current minute.
    """
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    return instant - ((instant - epoch) % grain) if grain else instant


def instant(
    text: str, now: datetime.datetime | None = None, *, zoned: bool = True
) -> datetime.datetime | None:
    """Parse an instant; return it in aware UTC, or None if the text is invalid.

    :param text: ISO 8601 with a date and a time, in UTC if it names no zone; or ``now``
    :param now: the value of ``now`` (aware UTC); None if ``now`` is invalid
    :param zoned: whether the text may name a zone
    """
    if text == NOW:
        return now
    if (_ZONED if zoned else _NAIVE).fullmatch(text) is None:
        return None
    try:
        moment = datetime.datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=datetime.UTC)
        moment = moment.astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        return None
    return moment if moment >= _FIRST else None


def duration(text: str) -> datetime.timedelta | None:
    """Parse a duration; return None if the text is invalid.

    :param text: such as ``PT1H30M``, ``90m``, ``30d``
    """
    try:
        if match := _SHORT_DURATION.fullmatch(text):
            return datetime.timedelta(**{_UNITS[match['unit']]: int(match['number'])})
        if match := _ISO_DURATION.fullmatch(text):
            parts = {name: int(number) for name, number in match.groupdict().items() if number}
            return datetime.timedelta(**parts)
    except OverflowError:
        return None
    return None
