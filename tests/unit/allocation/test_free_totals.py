# SPDX-License-Identifier: Apache-2.0

"""Numbers of free slots over time, against a plain count."""

from __future__ import annotations

import hypothesis
import numpy as np
from hypothesis import strategies as st

from climate.allocation import joint
from climate.allocation.free_totals import FreeTotals
from tests import base

LAST = 30
# The unit of the times here: some steps are not at whole minutes.
UNIT = joint.MINUTE // 4
_PERIODS = st.tuples(st.integers(0, LAST), st.integers(1, LAST)).map(lambda p: (p[0], sum(p)))


def totals(uses: list[tuple[int, int]], count: int) -> FreeTotals:
    """Return how many of some slots are free if each use takes one of them."""
    times = sorted({0, *(time for use in uses for time in use)})
    free = [count - sum(start <= time < end for start, end in uses) for time in times]
    return FreeTotals(times=np.array(times) * UNIT, numbers=np.array(free))


def plain(found: FreeTotals, time: int) -> int:
    """Return the number that holds at an instant."""
    return int(found.numbers[np.searchsorted(found.times, time * UNIT, 'right') - 1])


class TestFreeTotals(base.TestCase):
    """A search over steps finds what a walk over all instants finds."""

    @hypothesis.given(
        uses=st.lists(_PERIODS, min_size=1, max_size=9),
        count=st.integers(1, 5),
        length=st.integers(1, 9),
        first=st.integers(0, LAST // 2),
        before=st.integers(LAST // 2, 3 * LAST),
    )
    def test_first_start(
        self, uses: list[tuple[int, int]], count: int, length: int, first: int, before: int
    ) -> None:
        found = totals(uses, 4)
        expected = next(
            (
                start
                for start in range(first, before)
                if (start == first or start % 4 == 0)
                and all(plain(found, time) >= count for time in range(start, start + length))
            ),
            None,
        )
        start = found.first_start(count, length * UNIT, first * UNIT, before * UNIT)
        self.assertEqual(expected, None if start is None else start // UNIT)

    @hypothesis.given(uses=st.lists(_PERIODS, max_size=6), more=_PERIODS, slots=st.integers(1, 3))
    def test_with_more(
        self, uses: list[tuple[int, int]], more: tuple[int, int], slots: int
    ) -> None:
        found = totals(uses, 4)
        grown = found.with_more(*(time * UNIT for time in more), slots)
        for time in range(2 * LAST + 2):
            extra = slots if more[0] <= time < more[1] else 0
            self.assertEqual(plain(found, time) + extra, plain(grown, time))

    @hypothesis.given(uses=st.lists(_PERIODS, max_size=6), part=_PERIODS)
    def test_between(self, uses: list[tuple[int, int]], part: tuple[int, int]) -> None:
        found = totals(uses, 4)
        some = found.between(*(time * UNIT for time in part))
        for time in range(part[0], part[1] + 1):
            self.assertEqual(plain(found, time), plain(some, time))
