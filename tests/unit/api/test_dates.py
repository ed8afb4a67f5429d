# SPDX-License-Identifier: Apache-2.0

"""Times as clients write and read them."""

from __future__ import annotations

import datetime

from hypothesis import given
from hypothesis import strategies as st

from climate import exceptions
from climate.api.http import dates
from climate.api.http.microversions import V1_0
from climate.api.http.microversions import V1_1
from tests import base

UTC = datetime.UTC
NOW = datetime.datetime(2030, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)

instants = st.datetimes(
    min_value=datetime.datetime(1971, 1, 1),  # noqa: DTZ001  the strategy adds the zone
    max_value=datetime.datetime(9998, 12, 31),  # noqa: DTZ001  the strategy adds the zone
    timezones=st.just(UTC),
)


def parse(value, version=V1_0):
    """Parse *value* as a start date."""
    return dates.parse('start_date', value, NOW, version)


class ParseTest(base.TestCase):
    """What is read, and what is refused."""

    def test_now_is_the_present_minute_at_1_0(self):
        self.assertEqual(datetime.datetime(2030, 1, 2, 3, 4, tzinfo=UTC), parse('now'))

    def test_now_is_exact_at_1_1(self):
        self.assertEqual(NOW, parse('now', V1_1))

    def test_1_0_forms(self):
        wanted = datetime.datetime(2040, 2, 29, 23, 59, tzinfo=UTC)
        for text in (
            '2040-02-29 23:59',
            '2040-02-29T23:59',
            '2040-02-29 23:59:00',
            '2040-02-29T23:59:00.000000',
        ):
            self.assertEqual(wanted, parse(text), text)

    def test_1_1_zones(self):
        wanted = datetime.datetime(2030, 1, 1, 12, 0, 1, tzinfo=UTC)
        for text in (
            '2030-01-01T12:00:01Z',
            '2030-01-01T14:00:01+02:00',
            '2030-01-01T06:30:01-0530',
            '2030-01-01T13:00:01+01',
            '2030-01-01 12:00:01',
        ):
            self.assertEqual(wanted, parse(text, V1_1), text)

    def test_range_of_years(self):
        self.assertEqual(2039, parse('2039-01-01 00:00').year)
        self.assertEqual(9999, parse('9999-12-31 23:59').year)
        for text in ('0001-01-01 00:00', '10000-01-01 00:00', '1969-12-31 23:59'):
            self.assertRaises(exceptions.InvalidDate, parse, text)

    def test_refused_at_1_0(self):
        for value in (
            'Bogus-date 13:13', '', ' ', 'NOW', 5, True, None, [], {}, '2030-13-01 00:00',
            '2030-02-30 00:00', '2030-01-01', '2030-01-01 24:00', '2030-1-1 0:0',
            '2030-01-01T00:00:00Z', '2030-01-01 00:00\n', '٢٠٣٠-01-01 00:00',
        ):  # fmt: skip
            self.assertRaises(exceptions.InvalidDate, parse, value)

    def test_refused_at_1_1(self):
        for value in (
            '2030-01-01',
            '2030-01-01T00:00:60Z',
            '2030-01-01T00:00+25:00',
            7,
            '20300101',
        ):
            self.assertRaises(exceptions.InvalidDate, parse, value, V1_1)

    def test_a_zone_that_leads_out_of_the_calendar_is_refused(self):
        self.assertRaises(exceptions.InvalidDate, parse, '9999-12-31T23:59:59-12:00', V1_1)

    def test_text_says_value_form_and_field(self):
        self.assertEqual(
            'Bogus-date 13:13 is an invalid date. Required format: %Y-%m-%d %H:%M (start_date)',
            self.assertRaises(exceptions.InvalidDate, parse, 'Bogus-date 13:13').message,
        )

    def test_long_values_are_not_echoed_whole(self):
        error = self.assertRaises(exceptions.InvalidDate, parse, 'x' * 10000)
        self.assertLess(len(error.message), 200)


class WriteTest(base.TestCase):
    """What is written is what clients parse."""

    @given(instants)
    def test_1_0_is_what_strptime_reads(self, instant):
        text = dates.write(instant, V1_0)
        read = datetime.datetime.strptime(text, '%Y-%m-%dT%H:%M:%S.%f').replace(tzinfo=UTC)
        self.assertEqual(instant, read)
        self.assertEqual(26, len(text))

    @given(instants)
    def test_1_1_is_read_back(self, instant):
        self.assertEqual(instant, parse(dates.write(instant, V1_1), V1_1))

    @given(instants)
    def test_records_at_1_0_have_no_fraction(self, instant):
        self.assertRegex(dates.write_record(instant, V1_0), r'^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$')

    def test_forms(self):
        self.assertEqual('2030-01-02T03:04:05.678901', dates.write(NOW, V1_0))
        self.assertEqual('2030-01-02T03:04:05.678901Z', dates.write(NOW, V1_1))
        whole = NOW.replace(microsecond=0)
        self.assertEqual('2030-01-02T03:04:05Z', dates.write(whole, V1_1))
        self.assertEqual('2030-01-02T03:04:05Z', dates.write_record(whole, V1_1))
        self.assertEqual('2030-01-02 03:04:05', dates.write_record(NOW, V1_0))
        self.assertIsNone(dates.write_record(None, V1_0))


class DurationTest(base.TestCase):
    """How long a lease may be said to last."""

    def test_forms(self):
        for value, seconds in (
            (90, 90), ('90s', 90), ('90m', 5400), ('2h', 7200), ('1d', 86400), ('1w', 604800),
            ('PT90M', 5400), ('P1DT12H', 129600), ('P2W', 1209600), ('PT1H30M5S', 5405),
        ):  # fmt: skip
            length = dates.parse_duration('duration', value)
            self.assertEqual(seconds, length.total_seconds(), value)

    def test_refused(self):
        for value in (
            0, -1, True, '', '0s', '90', '1y', 'P', 'PT', 'P1M', 'P1Y', 'PT1.5H', '-5m', 1.5, None,
            [], {}, 10**30, '999999999999w',
        ):  # fmt: skip
            with self.assertRaisesRegex(exceptions.MalformedParameter, 'duration'):
                dates.parse_duration('duration', value)

    def test_beyond_the_calendar(self):
        with self.assertRaisesRegex(exceptions.InvalidInput, 'duration'):
            dates.add('duration', NOW, datetime.timedelta(days=10**7))
