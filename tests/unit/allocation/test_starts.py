# SPDX-License-Identifier: Apache-2.0

"""Values by start, compared with the level in each period alone."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from climate.allocation import starts
from climate.allocation.starts import Starts
from climate.allocation.steps import BITS
from tests import base
from tests.unit.allocation.strategies import hours
from tests.unit.allocation.test_steps import bounds
from tests.unit.allocation.test_steps import functions
from tests.unit.allocation.test_steps import ROWS
from tests.unit.allocation.test_steps import Use
from tests.unit.allocation.test_steps import uses

HOUR = 3600 * 10**6
FIRST = bounds(hours(0, 1))[0]

times = st.integers(0, 24).map(lambda hour: FIRST + hour * HOUR)


def value(found: Starts, row: int, start: int) -> int:
    """Return the value of a row for a start."""
    place = np.searchsorted(found.keys, (row << BITS) + start, 'right') - 1
    assert found.rows[place] == row
    return int(found.values[place])


class HighestTest(base.TestCase):
    @given(uses, times, st.integers(0, 20), st.integers(0, 4), st.integers(1, 9))
    def test_each_start(
        self, found: list[Use], first: int, more: int, before: int, after: int
    ) -> None:
        made = functions(found)
        last = first + more * HOUR
        peaks = starts.highest(made, first, last, before * HOUR, after * HOUR)
        for start in (each + away for each in range(first, last + 1, HOUR) for away in (-1, 0, 1)):
            if first <= start <= last:
                expected = made.peaks(start - before * HOUR, start + after * HOUR)
                actual = [value(peaks, row, start) for row in range(ROWS)]
                self.assertEqual(expected.tolist(), actual)

    def test_before_the_beginning_of_time(self) -> None:
        peaks = starts.highest(functions([(0, hours(0, 1), 3)]), 5, FIRST, 10, 1)
        self.assertEqual([0, 3], [value(peaks, 0, 5), value(peaks, 0, FIRST)])


class LeastTest(base.TestCase):
    @given(uses, uses, times, st.integers(0, 9))
    def test_each_start(self, one: list[Use], other: list[Use], first: int, more: int) -> None:
        last = first + more * HOUR
        found = [
            starts.highest(functions(each), first, last, 0, HOUR) for each in (one, other, one)
        ]
        least = starts.least(found)
        for start in range(first, last + 1, HOUR):
            for row in range(ROWS):
                expected = min(value(each, row, start) for each in found)
                self.assertEqual(expected, value(least, row, start))

    @given(st.lists(times, min_size=ROWS, max_size=ROWS), times, st.integers(0, 9))
    def test_times(self, found: list[int], first: int, more: int) -> None:
        last = first + more * HOUR
        made = starts.from_times(np.array(found), first, last, 7)
        for start in range(first, last + 1, HOUR):
            for row, time in enumerate(found):
                self.assertEqual(7 if start >= time else 0, value(made, row, start))

    @given(uses, times, st.integers(0, 20))
    def test_the_sum_of_the_changes_is_the_total(
        self, found: list[Use], first: int, more: int
    ) -> None:
        last = first + more * HOUR
        made = starts.highest(functions(found), first, last, 0, HOUR)
        when, sizes = made.changes()
        for start in range(first, last + 1, HOUR):
            total = sum(value(made, row, start) for row in range(ROWS))
            self.assertEqual(total, sizes[when <= start].sum())
