# SPDX-License-Identifier: Apache-2.0

"""What holds for every period."""

from __future__ import annotations

import dataclasses
import datetime

from hypothesis import given
from hypothesis import strategies as st

from climate.domain.periods import Period
from tests import base

UTC = datetime.UTC
NOON = datetime.datetime(2031, 1, 1, 12, tzinfo=UTC)
HOUR = datetime.timedelta(hours=1)
instants = st.integers(0, 12).map(lambda n: NOON + n * HOUR)
periods = (
    st.tuples(instants, instants)
    .filter(lambda pair: pair[0] != pair[1])
    .map(lambda pair: Period(start=min(pair), end=max(pair)))
)


def inside(period: Period, instant: datetime.datetime) -> bool:
    """Whether *instant* is one of the half-open period."""
    return period.start <= instant < period.end


class PeriodTest(base.TestCase):
    @given(instants, instants)
    def test_it_ends_after_it_starts(
        self, start: datetime.datetime, end: datetime.datetime
    ) -> None:
        if start < end:
            self.assertEqual(end - start, Period(start=start, end=end).length)
        else:
            self.assertRaises(ValueError, Period, start=start, end=end)

    def test_naive_instants_are_refused(self) -> None:
        naive = NOON.replace(tzinfo=None)
        self.assertRaises(ValueError, Period, start=naive, end=naive + HOUR)
        self.assertRaises(ValueError, Period, start=naive, end=NOON + HOUR)
        self.assertRaises(ValueError, Period, start=NOON, end=naive + HOUR)

    @given(periods, periods)
    def test_overlap_is_a_common_instant(self, one: Period, other: Period) -> None:
        hours = [NOON + n * HOUR for n in range(13)]
        common = any(inside(one, hour) and inside(other, hour) for hour in hours)
        self.assertEqual(common, one.overlaps(other))
        self.assertEqual(one.overlaps(other), other.overlaps(one))

    @given(periods, periods)
    def test_containing(self, one: Period, other: Period) -> None:
        hours = [NOON + n * HOUR for n in range(13)]
        within = all(inside(one, hour) for hour in hours if inside(other, hour))
        self.assertEqual(within, one.contains(other))

    @given(periods)
    def test_it_overlaps_and_contains_itself(self, one: Period) -> None:
        self.assertTrue(one.overlaps(one))
        self.assertTrue(one.contains(one))

    def test_touching_is_no_overlap(self) -> None:
        first = Period(start=NOON, end=NOON + HOUR)
        second = Period(start=NOON + HOUR, end=NOON + 2 * HOUR)
        self.assertFalse(first.overlaps(second))
        self.assertFalse(second.overlaps(first))

    @given(periods, st.integers(0, 300))
    def test_padding(self, one: Period, minutes: int) -> None:
        pause = datetime.timedelta(minutes=minutes)
        padded = one.padded(pause)
        self.assertTrue(padded.contains(one))
        self.assertEqual(one.length + 2 * pause, padded.length)

    def test_zones_do_not_matter(self) -> None:
        east = datetime.timezone(datetime.timedelta(hours=9))
        here = Period(start=NOON, end=NOON + HOUR)
        there = Period(start=NOON.astimezone(east), end=(NOON + HOUR).astimezone(east))
        self.assertEqual(here, there)

    def test_it_cannot_be_changed(self) -> None:
        period = Period(start=NOON, end=NOON + HOUR)
        self.assertRaises(dataclasses.FrozenInstanceError, setattr, period, 'end', NOON)
