# SPDX-License-Identifier: Apache-2.0

"""The chart of availability."""

from __future__ import annotations

import datetime

from hypothesis import given
from hypothesis import strategies as st

from climate.client import charts
from climate.domain.periods import Period
from tests import base

ANSWER = {
    'group_by': 'rack',
    'groups': [
        {
            'value': value,
            'whole': {'free': [0, 2, 4, 1], 'total': [4, 4, 4, 4]},
            'classes': {'VCPU': {'free': [0, 32, 64, 16], 'total': [64] * 4}},
        }
        for value in ('r1', None)
    ],
}


PERIOD = Period(
    start=datetime.datetime(2030, 1, 1, 12, tzinfo=datetime.UTC),
    end=datetime.datetime(2030, 1, 1, 16, tzinfo=datetime.UTC),
)


class AvailabilityChartTest(base.TestCase):
    """A line for each figure."""

    def test_chart(self) -> None:
        self.assertEqual(
            '2030-01-01 12:00 UTC to 2030-01-01 16:00 UTC\n'
            'rack r1 whole ▕ ▄█▂▏ 0-4 of 4\n'
            ' rack r1 VCPU ▕ ▄█▂▏ 0-64 of 64\n'
            ' rack - whole ▕ ▄█▂▏ 0-4 of 4\n'
            '  rack - VCPU ▕ ▄█▂▏ 0-64 of 64',
            charts.draw(ANSWER, PERIOD, 80, datetime.UTC),
        )

    def test_the_axis_has_days_and_hours(self) -> None:
        figures = {'free': [1] * 168, 'total': [1] * 168}
        week = {'group_by': None, 'groups': [{'whole': figures, 'classes': {}}]}
        start = PERIOD.start.replace(hour=0)
        period = Period(start=start, end=start + datetime.timedelta(days=7))
        _, axis, line = charts.draw(week, period, 80, datetime.UTC).splitlines()
        self.assertTrue(axis.startswith('       |Tue 01 Jan     |Thu 03 Jan '), axis)
        self.assertEqual(line.index('▕') + 1, axis.index('|Tue'))
        # A character is three hours, a day eight.
        self.assertEqual(line.index('▕') + 1 + 16, axis.index('|Thu 03 Jan'))

    def test_a_full_and_an_empty_bucket_stand_out(self) -> None:
        self.assertEqual(' ▁▇█', charts.bars([0, 1, 99, 100], [100] * 4, 10))
        self.assertEqual(' ', charts.bars([0], [0], 10))

    @given(st.lists(st.tuples(st.integers(0, 9), st.just(9)), min_size=1), st.integers(1, 50))
    def test_a_character_shows_the_least_of_its_buckets(
        self, figures: list[tuple[int, int]], width: int
    ) -> None:
        free, total = zip(*figures, strict=True)
        drawn = charts.bars(free, total, width)
        self.assertLessEqual(len(drawn), width)
        self.assertEqual(0 in free, ' ' in drawn)
