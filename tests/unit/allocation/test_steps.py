# SPDX-License-Identifier: Apache-2.0

"""Step functions in arrays, against the plain sweep of :mod:`climate.allocation.timeline`."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from climate.allocation import steps
from climate.allocation import timeline
from climate.allocation.runs import runs as runs_of
from climate.allocation.steps import microseconds
from climate.allocation.steps import StepFunctions
from climate.allocation.steps import Uses
from climate.domain.periods import Period
from tests import base
from tests.unit.allocation import strategies
from tests.unit.allocation.strategies import hours

ROWS = 4
Use = tuple[int, Period, int]
uses = st.lists(
    st.tuples(st.integers(0, ROWS - 1), strategies.periods, st.integers(1, 9)), max_size=12
)


def arrays(found: Sequence[Use]) -> Uses:
    """Return uses as arrays."""
    return Uses.of(
        [
            (row, microseconds(period.start), microseconds(period.end), amount)
            for row, period, amount in found
        ]
    )


def functions(found: Sequence[Use]) -> StepFunctions:
    """Return the step functions of uses."""
    return StepFunctions.of(ROWS, arrays(found))


def of_row(found: Sequence[Use], row: int) -> list[tuple[Period, int]]:
    """Return the uses of one row."""
    return [(period, amount) for mine, period, amount in found if mine == row]


def bounds(window: Period) -> tuple[int, int]:
    """Return the bounds of a period in microseconds."""
    return microseconds(window.start), microseconds(window.end)


def levels(found: Sequence[Use], row: int, window: Period) -> list[int]:
    """Return the level of a row in each hour of a window."""
    whole_hours = int(window.length / datetime.timedelta(hours=1))
    first = window.start
    hour = datetime.timedelta(hours=1)
    return [
        timeline.peak(
            of_row(found, row), Period(start=first + place * hour, end=first + (place + 1) * hour)
        )
        for place in range(whole_hours)
    ]


class StepFunctionsTest(base.TestCase):
    @given(uses, strategies.periods)
    def test_extremes(self, found: list[Use], window: Period) -> None:
        made = functions(found)
        for row in range(ROWS):
            actual = made.peaks(*bounds(window))[row]
            self.assertEqual(timeline.peak(of_row(found, row), window), actual)
            self.assertEqual(min(levels(found, row, window)), made.lows(*bounds(window))[row])

    @given(uses, st.integers(0, 20), st.integers(1, 5), st.integers(1, 8))
    def test_extremes_of_intervals(
        self, found: list[Use], first: int, width: int, number: int
    ) -> None:
        made = functions(found)
        start, end = bounds(hours(first, first + width))
        lows, peaks = made.between(start, end - start, number)
        self.assertEqual((ROWS, number), peaks.shape)
        for place in range(number):
            window = start + place * (end - start), end + place * (end - start)
            self.assertEqual(made.peaks(*window).tolist(), peaks[:, place].tolist())
            self.assertEqual(made.lows(*window).tolist(), lows[:, place].tolist())

    @given(uses, strategies.periods)
    def test_runs_are_the_hours_in_use(self, found: list[Use], window: Period) -> None:
        start, end = bounds(window)
        runs = runs_of(functions(found), start, end)
        hour = 3600 * 10**6
        covered: dict[int, list[int]] = {row: [] for row in range(ROWS)}
        for row, begin, stop in zip(runs.rows, runs.starts, runs.ends, strict=True):
            self.assertLess(begin, stop)
            covered[int(row)] += range((int(begin) - start) // hour, (int(stop) - start) // hour)
        for row in range(ROWS):
            busy = [place for place, level in enumerate(levels(found, row, window)) if level > 0]
            self.assertEqual(busy, covered[row])
        # The longest: two runs of a row do not touch.
        touching = (runs.rows[1:] == runs.rows[:-1]) & (runs.starts[1:] <= runs.ends[:-1])
        self.assertFalse(touching.any())

    @given(uses, uses)
    def test_added_one_after_the_other_or_together(self, found: list[Use], more: list[Use]) -> None:
        one = functions(found).plus(arrays(more))
        other = functions(found + more)
        self.assertEqual(other.keys.tolist(), one.keys.tolist())
        self.assertEqual(other.levels.tolist(), one.levels.tolist())

    @given(uses)
    def test_what_is_added_and_removed_leaves_nothing(self, found: list[Use]) -> None:
        removed = arrays([(row, period, -amount) for row, period, amount in found])
        self.assertEqual([0, 0], functions(found).plus(removed).levels.tolist())

    @given(uses, uses, st.sets(st.integers(0, ROWS - 1)))
    def test_replaced_rows(self, old: list[Use], new: list[Use], rows: set[int]) -> None:
        theirs = [use for use in new if use[0] in rows]
        made = functions(old).replacing(np.array(sorted(rows), dtype=np.int64), arrays(theirs))
        other = functions([use for use in old if use[0] not in rows] + theirs)
        self.assertEqual(other.keys.tolist(), made.keys.tolist())
        self.assertEqual(other.levels.tolist(), made.levels.tolist())

    @given(uses, strategies.periods)
    def test_changes_around_a_period(self, found: list[Use], window: Period) -> None:
        made = functions(found)
        start, end = bounds(window)
        peaks, before, after = made.around(start, end)
        self.assertEqual(made.peaks(start, end).tolist(), peaks.tolist())
        for row in range(ROWS):
            mine = functions([(0, *use) for use in of_row(found, row)]).keys[1:-1]
            self.assertEqual(max((key for key in mine if key <= start), default=-1), before[row])
            self.assertEqual(min((key for key in mine if key >= end), default=-1), after[row])

    @given(uses, st.tuples(st.integers(0, ROWS), st.integers(0, ROWS)), strategies.periods)
    def test_some_rows(self, found: list[Use], ends: tuple[int, int], window: Period) -> None:
        first, beyond = sorted(ends)
        part = functions(found).part(first, beyond)
        expected = functions(found).peaks(*bounds(window))[first:beyond]
        self.assertEqual(expected.tolist(), part.peaks(*bounds(window)).tolist())
        self.assertEqual(expected.tolist(), part.plus(arrays([])).peaks(*bounds(window)).tolist())

    @given(uses, st.integers(1, ROWS))
    def test_some_rows_at_a_time(self, found: list[Use], size: int) -> None:
        made = functions(found)
        for first, part in made.split(size):
            self.assertEqual(made.part(first, first + part.count).keys.tolist(), part.keys.tolist())
        self.assertEqual(ROWS, sum(part.count for _, part in made.split(size)))


class BoundsTest(base.TestCase):
    def test_no_rows(self) -> None:
        made = StepFunctions.of(0, arrays([]))
        self.assertEqual(0, len(made.peaks(0, 1)))
        self.assertEqual(0, len(runs_of(made, 0, 1).rows))
        self.assertEqual((0, 1), made.between(0, 1, 1)[0].shape)

    def test_too_many_rows(self) -> None:
        self.assertRaises(ValueError, StepFunctions.of, steps.MOST_ROWS + 1, arrays([]))

    def test_the_last_row_of_many(self) -> None:
        count = steps.MOST_ROWS
        made = StepFunctions.of(count, Uses.of([(count - 1, 5, steps.LATEST, 3)]))
        self.assertEqual([0, 3], made.peaks(5, 6)[-2:].tolist())

    def test_far_future_is_cut_off(self) -> None:
        far = datetime.datetime(9999, 12, 31, tzinfo=datetime.UTC)
        self.assertEqual(steps.LATEST, microseconds(far))
        made = StepFunctions.of(1, Uses.of([(0, 10, microseconds(far), 2)]))
        self.assertEqual([2], made.peaks(steps.LATEST - 1, steps.LATEST).tolist())
        two = StepFunctions.of(2, Uses.of([(1, 10, steps.LATEST, 2)]))
        self.assertEqual([0, 2], two.peaks(5, 2 * steps.LATEST).tolist())
        beyond = Uses.of([(0, microseconds(far), microseconds(far), 2)])
        self.assertEqual([0, 0], StepFunctions.of(1, beyond).levels.tolist())

    @given(st.integers(0, steps.LATEST >> 1))
    def test_instants_and_back(self, time: int) -> None:
        self.assertEqual(time, microseconds(steps.instant(time)))
