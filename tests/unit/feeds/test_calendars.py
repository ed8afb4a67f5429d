# SPDX-License-Identifier: Apache-2.0

"""Calendars, as libraries of calendars read them."""

from __future__ import annotations

import datetime
import io
import zoneinfo

import icalendar
from dateutil import tz

from climate.domain.feeds import CalendarEntry
from climate.domain.feeds import Feed
from climate.domain.feeds import FeedKind
from climate.feeds import calendars
from climate.feeds.links import Calendar
from climate.feeds.links import FeedSettings
from tests.base import TestCase

MADE = datetime.datetime(2030, 1, 1, 12, tzinfo=datetime.UTC)
HOUR = datetime.timedelta(hours=1)
SETTINGS = FeedSettings(page_url='https://reservation.example.org/ui')
# Europe, both hemispheres of America and of the Pacific, half an hour, and none at all.
ZONES = (
    'Europe/Berlin',
    'Europe/Dublin',
    'America/New_York',
    'America/Santiago',
    'Australia/Lord_Howe',
    'Pacific/Auckland',
    'Asia/Kolkata',
)


def entry(**facts: object) -> CalendarEntry:
    values = {
        'uid': 'l1',
        'title': 'night run',
        'start': datetime.datetime(2030, 3, 30, 23, tzinfo=datetime.UTC),
        'end': datetime.datetime(2030, 3, 31, 5, tzinfo=datetime.UTC),
        'status': 'PENDING',
        'lease_id': 'l1',
        'held': ('2 hosts: compute-3, compute-4', '1 network'),
        'cancelled': False,
        'moves': False,
        'created_at': MADE,
        'changed_at': MADE,
    }
    return CalendarEntry(**{**values, **facts})


def calendar(*entries: CalendarEntry, zone: str = 'UTC') -> Calendar:
    feed = Feed(
        id='f1',
        project_id='blue',
        user_id='alice',
        name='',
        kind=FeedKind.PROJECT,
        lease_id=None,
        resource_id=None,
        time_zone=zone,
        before_start=(900, 86400),
        before_end=(3600,),
        created_at=MADE,
        expires_at=MADE + HOUR,
    )
    return Calendar(feed=feed, title='ours', entries=entries)


def read(value: Calendar) -> icalendar.Calendar:
    return icalendar.Calendar.from_ical(calendars.write(value, SETTINGS))


class TestCalendars(TestCase):
    """Reads back what is written."""

    def only(self, **facts: object) -> icalendar.Event:
        (event,) = read(calendar(entry(**facts))).walk('VEVENT')
        return event

    def test_a_lease_in_utc(self) -> None:
        found = read(calendar(entry()))
        self.assertEqual('2.0', found['VERSION'])
        self.assertEqual('ours', found['X-WR-CALNAME'])
        # Older versions of the library read it as a text.
        self.assertEqual(b'PT1H', found['REFRESH-INTERVAL'].to_ical())
        self.assertEqual([], found.walk('VTIMEZONE'))
        (event,) = found.walk('VEVENT')
        self.assertEqual(entry().start, event['DTSTART'].dt)
        self.assertEqual(entry().end, event['DTEND'].dt)
        self.assertEqual('night run', event['SUMMARY'])
        self.assertEqual('l1@climate', event['UID'])
        self.assertEqual('CONFIRMED', event['STATUS'])
        self.assertEqual('https://reservation.example.org/ui/#/lease/l1', event['URL'])
        expected = ['2 hosts: compute-3, compute-4', '1 network', 'Status: PENDING', 'Lease: l1']
        self.assertEqual(expected, event['DESCRIPTION'].splitlines())

    def test_alarms_ring_before_the_start_and_before_the_end(self) -> None:
        event = self.only()
        rings = []
        for alarm in event.walk('VALARM'):
            trigger = alarm['TRIGGER']
            base = event['DTSTART' if trigger.params['RELATED'] == 'START' else 'DTEND'].dt
            rings.append(base + trigger.dt)
        start, end = entry().start, entry().end
        self.assertEqual([start - HOUR / 4, start - 24 * HOUR, end - HOUR], rings)

    def test_an_hour_that_does_not_exist(self) -> None:
        """A lease over the change of the clocks lasts as long as it does."""
        (event,) = read(calendar(entry(), zone='Europe/Berlin')).walk('VEVENT')
        start, end = event['DTSTART'].dt, event['DTEND'].dt
        self.assertEqual('2030-03-31T00:00:00+01:00', start.isoformat())
        self.assertEqual('2030-03-31T07:00:00+02:00', end.isoformat())
        self.assertEqual((entry().start, entry().end), (start, end))

    def test_every_hour_of_a_year_in_zones_as_another_library_reads_them(self) -> None:
        """By the rules in the calendar, whatever the reader knows of the zone."""
        first = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)
        for name in ZONES:
            known = zoneinfo.ZoneInfo(name)
            text = calendars.write(calendar(entry(), zone=name), SETTINGS).decode()
            rules = tz.tzical(io.StringIO(text)).get(name)
            wrong = []
            for number in range(366 * 24):
                there = (first + number * HOUR).astimezone(known)
                # Of two instants with the same wall clock, a calendar means the first.
                if there.fold:
                    continue
                same = there.replace(tzinfo=rules)
                if same.utcoffset() != there.utcoffset():
                    wrong.append(there.isoformat())
            self.assertEqual([], wrong, name)

    def test_a_changed_entry_differs_from_its_former_version(self) -> None:
        later = self.only(changed_at=MADE + HOUR)
        before = self.only()
        self.assertEqual(before['UID'], later['UID'])
        self.assertEqual((0, 3600), (before['SEQUENCE'], later['SEQUENCE']))
        self.assertLess(before['DTSTAMP'].dt, later['DTSTAMP'].dt)

    def test_unchanged_it_has_the_same_bytes_and_tag(self) -> None:
        values = [calendar(entry()), calendar(entry(), entry(uid='l2'))]
        tags = [calendars.tag(value, SETTINGS) for value in values]
        self.assertNotEqual(*tags)
        self.assertEqual(tags[0], calendars.tag(calendar(entry()), SETTINGS))
        calendars.write.cache_clear()
        found = calendars.write(calendar(entry()), SETTINGS)
        self.assertEqual(calendars.write(values[0], SETTINGS), found)

    def test_a_deleted_lease_is_cancelled_without_alarms(self) -> None:
        event = self.only(cancelled=True)
        self.assertEqual('CANCELLED', event['STATUS'])
        self.assertEqual([], event.walk('VALARM'))

    def test_a_failed_lease_is_tentative(self) -> None:
        self.assertEqual('TENTATIVE', self.only(status='ERROR')['STATUS'])

    def test_a_lease_that_may_still_move_is_tentative(self) -> None:
        self.assertEqual('CONFIRMED', self.only()['STATUS'])
        self.assertEqual('TENTATIVE', self.only(moves=True)['STATUS'])
        self.assertEqual('CANCELLED', self.only(moves=True, cancelled=True)['STATUS'])

    def test_leases_of_others_have_no_name_and_no_id(self) -> None:
        event = self.only(title='', lease_id=None)
        self.assertEqual('Reserved', event['SUMMARY'])
        self.assertNotIn('l1', event.to_ical().decode())
        self.assertEqual([], event.walk('VALARM'))
        self.assertEqual(event['UID'], self.only(title='', lease_id=None)['UID'])
        self.assertNotEqual(event['UID'], self.only(uid='l2', title='', lease_id=None)['UID'])

    def test_a_maintenance(self) -> None:
        event = self.only(uid='m1', title='a new fan', status='', lease_id=None)
        self.assert_has(event, SUMMARY='Maintenance: a new fan', UID='m1@climate')

    def test_a_name_adds_no_lines(self) -> None:
        name = 'x\r\nEND:VEVENT\r\nATTACH:https://example.org;,\\' + 'ä' * 70
        (event,) = read(calendar(entry(title=name))).walk('VEVENT')
        self.assertEqual(name.replace('\r\n', '\n'), event['SUMMARY'])
        self.assertNotIn('ATTACH', event)
        text = calendars.write(calendar(entry(title=name)), SETTINGS)
        self.assertLessEqual(max(map(len, text.split(b'\r\n'))), 75)

    def test_fractions_of_seconds_are_left_out(self) -> None:
        start = datetime.datetime(2030, 3, 30, 23, 0, 0, 250000, tzinfo=datetime.UTC)
        self.assertEqual(entry().start, self.only(start=start)['DTSTART'].dt)

    def test_an_empty_calendar_in_a_zone(self) -> None:
        self.assertEqual([], read(calendar(zone='Europe/Berlin')).walk('VEVENT'))

    def test_the_last_days_of_the_calendar(self) -> None:
        last = datetime.datetime(9999, 12, 30, tzinfo=datetime.UTC)
        value = calendar(entry(start=last, end=last + HOUR), zone='Europe/Berlin')
        self.assertIn(b'DTSTART:99991230T000000Z', calendars.write(value, SETTINGS))

    def test_the_rules_of_a_zone_end_after_ten_years(self) -> None:
        far = datetime.datetime(2090, 1, 1, tzinfo=datetime.UTC)
        value = calendar(entry(), entry(uid='l2', start=far, end=far + HOUR), zone='Europe/Berlin')
        near, later = read(value).walk('VEVENT')
        self.assertEqual('Europe/Berlin', near['DTSTART'].params['TZID'])
        self.assertEqual(far, later['DTSTART'].dt)
        self.assertLess(len(calendars.write(value, SETTINGS)), 3000)
