# SPDX-License-Identifier: Apache-2.0

"""Dates and durations as people write and read them."""

from __future__ import annotations

import contextlib
import datetime
import re
import time
import zoneinfo

import fixtures
from dateutil import tz
from hypothesis import given
from hypothesis import strategies as st

from climate.client import times
from tests import base

ZONE = zoneinfo.ZoneInfo('Europe/Berlin')
# A Friday, two days before the clocks go forward.
NOW = datetime.datetime(2030, 3, 29, 12, 30, tzinfo=ZONE)


_WEEKDAYS = ('monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday')
_CLOCKS = st.times().map(lambda found: found.replace(second=0, microsecond=0))
_MOMENTS = st.integers(10**9, 4 * 10**9).map(
    lambda seconds: datetime.datetime.fromtimestamp(seconds, ZONE)
)


def _unskipped(found: datetime.datetime, clock: datetime.time) -> datetime.datetime:
    """Return the local time that was written, of a moment after a time that clocks skip."""
    written = found.replace(hour=clock.hour, minute=clock.minute, second=0, microsecond=0)
    return found if tz.datetime_exists(written) else written


class ClientTimesTest(base.TestCase):
    """A time is in the zone of the user."""

    def test_times_that_clocks_skip_or_repeat(self) -> None:
        for zone in (zoneinfo.ZoneInfo, tz.gettz):
            for text, name, expected in (
                ('2027-03-14 02:30', 'America/New_York', '2027-03-14 03:30-04:00'),
                ('2027-03-14 01:59', 'America/New_York', '2027-03-14 01:59-05:00'),
                ('2027-03-14 03:00', 'America/New_York', '2027-03-14 03:00-04:00'),
                ('2027-11-07 01:30', 'America/New_York', '2027-11-07 01:30-04:00'),
                ('2027-03-28 02:30', 'Europe/Berlin', '2027-03-28 03:30+02:00'),
                ('2027-10-31 02:30', 'Europe/Berlin', '2027-10-31 02:30+02:00'),
                ('2027-10-03 02:15', 'Australia/Lord_Howe', '2027-10-03 02:45+11:00'),
                ('2027-04-04 01:45', 'Australia/Lord_Howe', '2027-04-04 01:45+11:00'),
            ):
                there = NOW.replace(year=2027, month=1).astimezone(zone(name))
                expected_instant = datetime.datetime.fromisoformat(expected)
                self.assertEqual(expected_instant, times.instant(text, there))
                self.assertEqual(expected_instant, times.instant(f'{text} {name}', NOW))

    def test_in_the_zone_of_the_machine(self) -> None:
        # Cleanups run in reverse: the variable is restored first.
        self.addCleanup(time.tzset)
        self.useFixture(fixtures.EnvironmentVariable('TZ', 'America/New_York'))
        time.tzset()
        for text, expected in (
            ('2027-03-14 02:30', '2027-03-14 03:30-04:00'),
            ('2027-11-07 01:30', '2027-11-07 01:30-04:00'),
            ('2027-07-01 09:00', '2027-07-01 09:00-04:00'),
        ):
            there = NOW.astimezone(tz.tzlocal())
            self.assertEqual(datetime.datetime.fromisoformat(expected), times.instant(text, there))

    def test_instants(self) -> None:
        for text, expected in (
            ('now', '2030-03-29 12:30+01:00'),
            ('+4h', '2030-03-29 16:30+01:00'),
            ('in 1h30m', '2030-03-29 14:00+01:00'),
            ('+2d', '2030-03-31 13:30+02:00'),  # 48 hours
            ('today', '2030-03-29 00:00+01:00'),
            ('Tomorrow 9:00', '2030-03-30 09:00+01:00'),
            ('tomorrow 9am', '2030-03-30 09:00+01:00'),
            ('friday 9:00', '2030-04-05 09:00+02:00'),
            ('friday 14:00', '2030-03-29 14:00+01:00'),
            ('monday', '2030-04-01 00:00+02:00'),
            ('9:00', '2030-03-30 09:00+01:00'),
            ('18:00', '2030-03-29 18:00+01:00'),
            ('2030-04-01', '2030-04-01 00:00+02:00'),
            ('2030-04-01 09:00', '2030-04-01 09:00+02:00'),
            ('2030-04-01T09:00:30Z', '2030-04-01 09:00:30+00:00'),
            ('2030-04-01 09:00+05:30', '2030-04-01 09:00+05:30'),
            ('2030-04-01 09:00 Asia/Tokyo', '2030-04-01 09:00+09:00'),
            ('tomorrow 9:00 UTC', '2030-03-30 09:00+00:00'),
            ('2 Apr 2030 9:00', '2030-04-02 09:00+02:00'),
            ('9:00 2 Apr', '2030-04-02 09:00+02:00'),
            ('Tue, 2 Apr 2030 09:00 +0200', '2030-04-02 09:00+02:00'),
            ('next tuesday 9:00', '2030-04-02 09:00+02:00'),
            ('9:00 next tuesday', '2030-04-02 09:00+02:00'),
            ('next friday 14:00', '2030-04-05 14:00+02:00'),
            ('in 2 hours', '2030-03-29 14:30+01:00'),
            ('In 1 hour and 30 minutes', '2030-03-29 14:00+01:00'),
            ('tomorrow noon', '2030-03-30 12:00+01:00'),
            ('midnight', '2030-03-30 00:00+01:00'),
            ('today 18:00', '2030-03-29 18:00+01:00'),
            ('5 pm', '2030-03-29 17:00+01:00'),
            ('sunday 2:30', '2030-03-31 03:30+02:00'),  # skipped
            ('2029-01-01 09:00', '2029-01-01 09:00+01:00'),
        ):
            found = times.instant(text, NOW)
            self.assertEqual(datetime.datetime.fromisoformat(expected), found, text)
            self.assertEqual(datetime.UTC, found.tzinfo, text)

    def test_what_is_no_instant(self) -> None:
        for text in (
            '', 'soon', '5', '01/02 9:00', '1.2.2030', '24.12. 9:00', '9:00 CET', 'today 18',
            'tomorrow friday', 'tomorrow 2030-05-01', '9:00 Europe/Nowhere', '2030-02-30 09:00',
            '+4', '+99999999d', 'UTC', 'next', 'next week', 'next tomorrow', 'april', 'mon 9',
            'tuesday 2030-04-03', '9:00 tuesday friday', 'monty 9:00', 'in 4 months',
        ):  # fmt: skip
            self.assertRaises(times.TimeSyntaxError, times.instant, text, NOW)

    def test_an_end_follows_its_start(self) -> None:
        start = datetime.datetime(2030, 4, 2, 9, tzinfo=ZONE)
        for text, expected in (
            ('17:00', '2030-04-02 17:00+02:00'),
            ('noon', '2030-04-02 12:00+02:00'),
            ('8:00', '2030-04-02 08:00+02:00'),  # earlier, which is an error of the command
            ('friday 17:00', '2030-04-05 17:00+02:00'),
            ('tuesday 8:00', '2030-04-09 08:00+02:00'),
            ('20:00 Asia/Tokyo', '2030-04-02 20:00+09:00'),
            ('tomorrow 9:00', '2030-03-30 09:00+01:00'),
            ('+4h', '2030-03-29 16:30+01:00'),
        ):
            expected_instant = datetime.datetime.fromisoformat(expected)
            self.assertEqual(expected_instant, times.instant(text, NOW, start), text)

    def test_what_would_be_accepted_is_shown(self) -> None:
        error = self.assertRaises(times.TimeSyntaxError, times.instant, 'some day', NOW)
        accepted = re.findall(r"'([^']+)'", str(error))
        self.assertEqual('some day', accepted.pop(0))
        for text in accepted:
            self.assertGreater(times.instant(text, NOW), NOW - datetime.timedelta(days=90), text)
        self.assertGreater(len(accepted), 4)

    @given(_MOMENTS, st.sampled_from(_WEEKDAYS), _CLOCKS, st.booleans())
    def test_a_weekday_is_the_next_one(
        self, now: datetime.datetime, day: str, clock: datetime.time, follows: bool
    ) -> None:
        text = f'{"next " if follows else ""}{day} {clock:%H:%M}'
        found = times.instant(text, now).astimezone(now.tzinfo)
        self.assertGreater(found, now)
        days = (found.date() - now.date()).days
        # A time that the clocks skip can be on the day after.
        self.assertLessEqual(days, 7)
        self.assertFalse(follows and not days)
        self.assertEqual((day, clock), (f'{_unskipped(found, clock):%A}'.lower(), clock))

    @given(_MOMENTS, _CLOCKS)
    def test_a_time_alone_is_the_next_one(
        self, now: datetime.datetime, clock: datetime.time
    ) -> None:
        found = times.instant(f'{clock:%H:%M}', now).astimezone(now.tzinfo)
        self.assertGreater(found, now - datetime.timedelta(hours=1))
        self.assertLess(found, now + datetime.timedelta(hours=26))
        self.assertEqual(clock, _unskipped(found, clock).time())

    @given(_MOMENTS, _MOMENTS, _CLOCKS)
    def test_a_time_at_the_end_is_on_the_day_of_the_start(
        self, now: datetime.datetime, start: datetime.datetime, clock: datetime.time
    ) -> None:
        found = times.instant(f'{clock:%H:%M}', now, start).astimezone(now.tzinfo)
        expected = datetime.datetime.combine(start.astimezone(now.tzinfo).date(), clock)
        self.assertEqual(expected, _unskipped(found, clock).replace(tzinfo=None))

    @given(st.text(max_size=30))
    def test_no_text_fails_otherwise(self, text: str) -> None:
        with contextlib.suppress(times.TimeSyntaxError):
            self.assertEqual(datetime.UTC, times.instant(text, NOW).tzinfo)

    def test_durations(self) -> None:
        for text, expected in (
            ('90s', datetime.timedelta(seconds=90)),
            ('4h', datetime.timedelta(hours=4)),
            ('1h30m', datetime.timedelta(minutes=90)),
            ('1d 12h', datetime.timedelta(hours=36)),
            ('2w', datetime.timedelta(days=14)),
            ('PT90M', datetime.timedelta(minutes=90)),
            ('4 hours', datetime.timedelta(hours=4)),
            ('2 weeks, 3 days', datetime.timedelta(days=17)),
            ('1 hour and 30 min', datetime.timedelta(minutes=90)),
        ):
            self.assertEqual(expected, times.duration(text), text)
        for text in ('', '0h', '4', 'h', '4 months', '1d12', '-1h', '999999999999d'):
            self.assertRaises(times.TimeSyntaxError, times.duration, text)

    def test_written(self) -> None:
        for text, expected in (
            (None, ''),
            ('2030-01-02T08:00:00Z', '2030-01-02 09:00 CET'),
            ('2030-07-02T08:00:30.5Z', '2030-07-02 10:00:30 CEST'),
            ('2030-07-02T08:00:00.000000', '2030-07-02 10:00 CEST'),
        ):
            self.assertEqual(expected, times.write(text, ZONE))

    @given(st.integers(1, 10**9))
    def test_a_written_duration_reads_back(self, seconds: int) -> None:
        read = times.duration(times.write_duration(seconds))
        self.assertEqual(datetime.timedelta(seconds=seconds), read)

    def test_written_durations(self) -> None:
        written = {0: '0s', 45: '45s', 900: '15m', 5_400: '1h30m', 90_061: '1d1h1m1s'}
        for seconds, text in written.items():
            self.assertEqual(text, times.write_duration(seconds))

    @given(st.integers(10**9, 4 * 10**9))
    def test_an_iso_date_with_a_zone_is_that_instant(self, seconds: int) -> None:
        moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
        self.assertEqual(moment, times.instant(moment.isoformat(), NOW))
