# SPDX-License-Identifier: Apache-2.0

"""Free time, busy time and peaks, against counting hour by hour."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from climate.allocation import timeline
from climate.domain.periods import Period
from tests import base
from tests.unit.allocation import strategies
from tests.unit.allocation.strategies import hours

lists = st.lists(strategies.periods, max_size=8)
uses = st.lists(st.tuples(strategies.periods, st.integers(0, 9)), max_size=8)


def hours_of(periods: tuple[Period, ...] | list[Period]) -> set[int]:
    """Return the hours that *periods* cover."""
    return {hour for hour in range(30) if any(p.overlaps(hours(hour, hour + 1)) for p in periods)}


class TimelineTest(base.TestCase):
    @given(lists)
    def test_merge_covers_the_same_and_is_disjoint(self, periods: list[Period]) -> None:
        merged = timeline.merge(periods)
        self.assertEqual(hours_of(periods), hours_of(merged))
        for before, after in itertools.pairwise(merged):
            self.assertLess(before.end, after.start)

    @given(strategies.periods, lists)
    def test_free_plus_busy_is_the_window(self, window: Period, busy: list[Period]) -> None:
        parts = (*timeline.free(window, busy), *timeline.busy_within(window, busy))
        for one, other in itertools.combinations(parts, 2):
            self.assertFalse(one.overlaps(other))
        self.assertEqual((window,), timeline.merge(parts))
        self.assertEqual(window.length, sum((p.length for p in parts), window.length * 0))

    @given(strategies.periods, lists)
    def test_free_is_what_nothing_covers(self, window: Period, busy: list[Period]) -> None:
        gaps = timeline.free(window, busy)
        self.assertEqual(hours_of([window]) - hours_of(busy), hours_of(gaps))
        self.assertEqual(sorted(gaps), list(gaps))

    def test_touching_leaves_no_gap_and_takes_nothing(self) -> None:
        window = hours(4, 8)
        self.assertEqual((window,), timeline.free(window, [hours(2, 4), hours(8, 9)]))
        self.assertEqual((), timeline.free(window, [hours(2, 6), hours(6, 9)]))
        self.assertEqual((), timeline.busy_within(window, [hours(2, 4), hours(8, 9)]))
        self.assertEqual((hours(2, 9),), timeline.merge([hours(6, 9), hours(2, 6)]))

    def test_gaps_between(self) -> None:
        gaps = timeline.free(hours(0, 10), [hours(6, 8), hours(2, 4), hours(3, 5)])
        self.assertEqual((hours(0, 2), hours(5, 6), hours(8, 10)), gaps)


class PeakTest(base.TestCase):
    @given(
        st.lists(st.tuples(strategies.periods, st.integers(0, 9)), max_size=8), strategies.periods
    )
    def test_peak_is_the_busiest_hour(
        self, taken: list[tuple[Period, int]], window: Period
    ) -> None:
        busiest = max(
            sum(amount for period, amount in taken if period.overlaps(hours(hour, hour + 1)))
            for hour in hours_of([window])
        )
        self.assertEqual(busiest, timeline.peak(taken, window))

    def test_ends_before_starts(self) -> None:
        taken = [(hours(0, 5), 3), (hours(5, 9), 4), (hours(4, 5), 1)]
        self.assertEqual(4, timeline.peak(taken, hours(0, 9)))

    def test_what_lies_outside_does_not_count(self) -> None:
        taken = [(hours(0, 2), 5), (hours(1, 4), 2), (hours(6, 9), 7), (hours(5, 7), 1)]
        self.assertEqual(2, timeline.peak(taken, hours(2, 6)))
        self.assertEqual(0, timeline.peak([], hours(2, 6)))
        self.assertEqual(0, timeline.peak([(hours(6, 9), 7)], hours(2, 6)))
