# SPDX-License-Identifier: Apache-2.0

"""Rows of availability begin at round local times."""

from __future__ import annotations

import datetime
import itertools
import zoneinfo

from hypothesis import given
from hypothesis import strategies as st

from climate.client import buckets
from tests import base

ZONE = zoneinfo.ZoneInfo('Europe/Berlin')
HOUR = datetime.timedelta(hours=1)
DAY = 24 * HOUR


def instants(found: list[buckets.BucketRun]) -> list[datetime.datetime]:
    """Return when the buckets begin and the last one ends."""
    starts = [
        each.start + at * each.step
        for each in found
        for at in range((each.end - each.start) // each.step)
    ]
    return [*starts, found[-1].end]


class BucketsTest(base.TestCase):
    """Buckets of a table."""

    def test_days_begin_at_midnight_when_clocks_change(self) -> None:
        start = datetime.datetime(2030, 3, 29, tzinfo=ZONE)
        found = buckets.runs(start, start + 5 * DAY, DAY)
        self.assertEqual([DAY, 23 * HOUR, DAY], [each.step for each in found])
        local = [each.astimezone(ZONE) for each in instants(found)]
        self.assertEqual({0}, {each.hour for each in local})
        self.assertEqual(6, len(local))

    def test_an_hour_that_is_skipped_or_repeated(self) -> None:
        for month, day, step in ((3, 31, HOUR), (10, 27, 2 * HOUR)):
            start = datetime.datetime(2030, month, day, tzinfo=ZONE)
            found = buckets.runs(start, start + 4 * HOUR, HOUR)
            self.assertIn(step, [each.step for each in found] + [HOUR])
            self.assertEqual(start.astimezone(datetime.UTC), found[0].start)

    def test_the_present_bucket(self) -> None:
        now = datetime.datetime(2030, 3, 31, 13, 25, tzinfo=ZONE)
        for step, expected in (
            (HOUR, '13:00'), (12 * HOUR, '12:00'), (DAY, '00:00'), (7 * DAY, '00:00'),
            (HOUR / 4, '13:15'),
        ):  # fmt: skip
            found = buckets.floored(now, step)
            self.assertEqual((now.date(), expected), (found.date(), f'{found:%H:%M}'))

    def test_few_rows_by_default(self) -> None:
        for length, expected in ((DAY, HOUR), (7 * DAY, 6 * HOUR), (30 * DAY, DAY)):
            self.assertEqual(expected, buckets.step_for(length))
        self.assertEqual(28 * DAY, buckets.step_for(4000 * DAY))

    def test_too_many(self) -> None:
        start = datetime.datetime(2030, 1, 1, tzinfo=ZONE)
        self.assertRaises(ValueError, buckets.runs, start, start + 100 * DAY, HOUR)

    @given(
        st.integers(1_900_000_000, 2_000_000_000),
        st.integers(1, 200),
        st.sampled_from((HOUR / 4, HOUR, 3 * HOUR, 5 * HOUR, 12 * HOUR, DAY, 7 * DAY)),
    )
    def test_they_cover_the_period(
        self, second: int, number: int, step: datetime.timedelta
    ) -> None:
        now = datetime.datetime.fromtimestamp(second, ZONE)
        start = buckets.floored(now, step)
        end = now + number * step
        found = buckets.runs(start, end, step)
        self.assertTrue(found[0].start <= now < found[0].start + found[0].step)
        self.assertGreaterEqual(found[-1].end, end)
        for one, other in itertools.pairwise(found):
            self.assertEqual(one.end, other.start)
        moments = instants(found)
        self.assertEqual(sorted(set(moments)), moments)

    def test_answers_are_joined(self) -> None:
        def answer(value: str, *free: int) -> dict[str, object]:
            figures = {'free': list(free), 'total': [4] * len(free)}
            group = {'value': value, 'whole': figures, 'classes': {'VCPU': figures}}
            return {'buckets': len(free), 'groups': [{**group, 'slots': figures}]}

        first, second = buckets.joined([answer('A', 1, 2), answer('B', 3)])
        self.assertEqual([1, 2, 0], first['whole']['free'])
        self.assertEqual([4, 4, 0], first['classes']['VCPU']['total'])
        self.assertEqual([0, 0, 3], second['slots']['free'])
