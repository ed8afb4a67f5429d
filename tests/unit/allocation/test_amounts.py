# SPDX-License-Identifier: Apache-2.0

"""The largest amounts for needs that compete: against every possibility."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from climate.allocation import amounts
from tests.base import TestCase

NEED = st.tuples(st.integers(0, 2), st.integers(0, 5), st.integers(1, 3))


class AmountsTest(TestCase):
    @given(st.lists(NEED, min_size=1, max_size=4), st.integers(0, 20))
    def test_no_amount_can_be_larger(self, needs: list[tuple[int, int, int]], room: int) -> None:
        """Each need takes some of the same room for each unit."""
        least = [low for low, _, _ in needs]
        limits = [low + further for low, further, _ in needs]

        def attempt(numbers: tuple[int, ...]) -> tuple[int, ...] | None:
            taken = sum(number * each for number, (_, _, each) in zip(numbers, needs, strict=True))
            return numbers if taken <= room else None

        found = amounts.most(least, limits, attempt)
        ranges = [range(low, high + 1) for low, high in zip(least, limits, strict=True)]
        possible = [each for each in itertools.product(*ranges) if attempt(each)]
        if found is None:
            self.assertEqual([], possible)
            return
        self.assertIn(found, possible)
        larger = [
            each
            for each in possible
            if each != found and all(a >= b for a, b in zip(each, found, strict=True))
        ]
        self.assertEqual([], larger)

    def test_in_proportion(self) -> None:
        """The first need does not get everything."""

        def attempt(numbers: tuple[int, ...]) -> tuple[int, ...] | None:
            return numbers if sum(numbers) <= 10 else None

        self.assertEqual((5, 5), amounts.most([1, 1], [20, 20], attempt))
        self.assertEqual((8, 2), amounts.most([1, 1], [40, 10], attempt))
