# SPDX-License-Identifier: Apache-2.0

"""What is learnt from leases that have yielded."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies

from climate.domain import yield_times
from climate.domain.yield_times import YieldTime
from tests import base

TIMES = strategies.builds(
    YieldTime, units=strategies.integers(1, 1000), seconds=strategies.integers(0, 9000)
)
UNITS = strategies.integers(1, 1000)
QUANTILES = strategies.floats(0.5, 1.0)


def times(units: int, *seconds: int) -> list[YieldTime]:
    """Return leases of one size."""
    return [YieldTime(units=units, seconds=one) for one in seconds]


class TestLearnt(base.TestCase):
    """Quantiles of what is alike."""

    def test_values(self) -> None:
        one, ten = times(1, 50, 10, 30, 20, 40), times(10, 100, 90, 80, 70, 60)
        cases = (
            (one[1:], 1, 1.0, None),
            (one, 1, 1.0, 50),
            (one, 1, 0.8, 40),
            (one, 1, 0.5, 30),
            # Each unit takes as long; less takes as long as more.
            (one, 3, 1.0, 150),
            (ten, 1, 1.0, 100),
            # Those of the same size count.
            (one + ten, 1, 1.0, 50),
            (one + ten, 10, 1.0, 100),
            (one + ten, 20, 0.5, 160),
        )
        for known, units, quantile, seconds in cases:
            found = yield_times.learnt(known, units, quantile)
            self.assertEqual(seconds, found, (known, units, quantile))

    @given(strategies.lists(TIMES, min_size=yield_times.LEAST), UNITS, QUANTILES)
    def test_the_longest_covers_its_like(
        self, known: list[YieldTime], units: int, quantile: float
    ) -> None:
        longest = yield_times.learnt(known, units, 1.0)
        found = yield_times.learnt(known, units, quantile)
        assert longest is not None and found is not None
        self.assertLessEqual(found, longest)
        self.assertLessEqual(longest, max(one.seconds * max(1, units) for one in known))
        self.assertGreaterEqual(found, min(one.seconds for one in known))
