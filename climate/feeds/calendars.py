# SPDX-License-Identifier: Apache-2.0

"""Writes calendars in the format of iCalendar (RFC 5545).

A calendar that has not changed has the same bytes: the time stamps in it are those of the
leases. So its tag is known before it is written.
"""

from __future__ import annotations

import datetime
import functools
import hashlib
import zoneinfo
from typing import Final

import icalendar

from climate.domain import addresses
from climate.domain.feeds import CalendarEntry
from climate.domain.lifecycles import LeaseStatus
from climate.feeds.links import Calendar
from climate.feeds.links import FeedSettings

CONTENT_TYPE: Final = 'text/calendar'
UTC: Final = 'UTC'

# Raised when calendars are written in another way, so that clients read them again.
_FORM: Final = 3
# Calendars that were written last: writing a large one takes most of a second.
_KEPT: Final = 16
_MOST_YEARS: Final = 10
_PRODUCT: Final = '-//OpenStack//Climate//EN'
_DOMAIN: Final = 'climate'
_RESERVED: Final = 'Reserved'
_MAINTENANCE: Final = 'Maintenance'
_UNSURE: Final = frozenset({LeaseStatus.ERROR})


def tag(calendar: Calendar, settings: FeedSettings) -> str:
    """Return the entity tag of a calendar, with quotes."""
    shown = repr((_FORM, calendar.feed.id, calendar.title, calendar.entries, settings))
    return f'"{hashlib.sha256(shown.encode()).hexdigest()[:32]}"'


@functools.lru_cache(_KEPT)
def write(calendar: Calendar, settings: FeedSettings) -> bytes:
    """Return a calendar as text, in UTF-8."""
    feed, written = calendar.feed, icalendar.Calendar()
    written.add('prodid', _PRODUCT)
    written.add('version', '2.0')
    written.add('calscale', 'GREGORIAN')
    written.add('name', calendar.title)
    written.add('x-wr-calname', calendar.title)
    refresh = icalendar.vDuration(settings.refresh)
    refresh.params['VALUE'] = 'DURATION'
    # Older versions of the library know the types of neither.
    written.add('refresh-interval', refresh)
    written.add('x-published-ttl', icalendar.vDuration(settings.refresh))
    zone: datetime.tzinfo = datetime.UTC
    last = 0
    if feed.time_zone != UTC:
        zone = zoneinfo.ZoneInfo(feed.time_zone)
        written.add('x-wr-timezone', feed.time_zone)
        if calendar.entries:
            _, last = _years(calendar)
            written.add_component(_timezone(calendar))
    for entry in calendar.entries:
        # Zones change their rules, and a table of them for centuries is of no use.
        ruled = entry.end.year <= last
        written.add_component(_event(entry, calendar, settings, zone if ruled else datetime.UTC))
    return bytes(written.to_ical())


def _timezone(calendar: Calendar) -> icalendar.Timezone:
    """Return the rules of the zone for the years that the calendar covers."""
    first, last = _years(calendar)
    return icalendar.Timezone.from_tzid(
        calendar.feed.time_zone,
        first_date=datetime.date(first - 1, 1, 1),
        last_date=datetime.date(last + 1, 12, 31),
    )


def _years(calendar: Calendar) -> tuple[int, int]:
    """Return the first and the last year for which a calendar has the rules of its zone."""
    first = min(entry.start for entry in calendar.entries).year
    last = max(entry.end for entry in calendar.entries).year
    return first, min(last, first + _MOST_YEARS, datetime.MAXYEAR - _MOST_YEARS)


def _event(
    entry: CalendarEntry, calendar: Calendar, settings: FeedSettings, zone: datetime.tzinfo
) -> icalendar.Event:
    event = icalendar.Event()
    event.add('uid', _uid(entry, calendar))
    # A calendar without a method shows in DTSTAMP when the entry last changed.
    event.add('dtstamp', _whole(entry.changed_at))
    event.add('created', _whole(entry.created_at))
    event.add('last-modified', _whole(entry.changed_at))
    event.add('sequence', _revision(entry))
    event.add('dtstart', _whole(entry.start).astimezone(zone))
    event.add('dtend', _whole(entry.end).astimezone(zone))
    event.add('summary', _summary(entry))
    event.add('status', _status(entry))
    event.add('transp', 'TRANSPARENT' if entry.cancelled else 'OPAQUE')
    event.add('class', 'PRIVATE')
    if entry.lease_id is not None:
        event.add('description', _description(entry))
        if settings.page_url:
            event.add('url', addresses.lease_page(settings.page_url, entry.lease_id))
        if not entry.cancelled:
            _add_alarms(event, entry, calendar)
    return event


def _add_alarms(event: icalendar.Event, entry: CalendarEntry, calendar: Calendar) -> None:
    feed = calendar.feed
    for related, verb, all_seconds in (
        ('START', 'starts', feed.before_start),
        ('END', 'ends', feed.before_end),
    ):
        for seconds in all_seconds:
            alarm = icalendar.Alarm()
            alarm.add('action', 'DISPLAY')
            alarm.add('description', f'Lease {entry.title} {verb}')
            before = datetime.timedelta(seconds=-seconds)
            alarm.add('trigger', before, parameters={'RELATED': related})
            event.add_component(alarm)


def _uid(entry: CalendarEntry, calendar: Calendar) -> str:
    """Return the id of an entry, which does not disclose ids of other projects."""
    if entry.status and entry.lease_id is None:
        hidden = f'{calendar.feed.id} {entry.uid}'.encode()
        return f'{hashlib.sha256(hidden).hexdigest()[:32]}@{_DOMAIN}'
    return f'{entry.uid}@{_DOMAIN}'


def _revision(entry: CalendarEntry) -> int:
    """Return a number that grows with each change: the seconds from the creation to it."""
    lasted = entry.changed_at - entry.created_at
    return min(max(int(lasted.total_seconds()), 0), 2**31 - 1)


def _summary(entry: CalendarEntry) -> str:
    if not entry.status:
        return f'{_MAINTENANCE}: {entry.title}' if entry.title else _MAINTENANCE
    return _RESERVED if entry.lease_id is None else entry.title


def _description(entry: CalendarEntry) -> str:
    lines = [f'Status: {entry.status}', f'Lease: {entry.lease_id}']
    return '\n'.join([*entry.held, *lines])


def _status(entry: CalendarEntry) -> str:
    if entry.cancelled:
        return 'CANCELLED'
    return 'TENTATIVE' if entry.moves or entry.status in _UNSURE else 'CONFIRMED'


def _whole(instant: datetime.datetime) -> datetime.datetime:
    """Return an instant in UTC without the fraction of a second, which the format lacks."""
    return instant.astimezone(datetime.UTC).replace(microsecond=0)
