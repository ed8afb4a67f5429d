# SPDX-License-Identifier: Apache-2.0

"""The prices of an operator: what periods cost, and what cannot be read."""

from __future__ import annotations

import math
import types

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from climate import exceptions
from climate.leases.prices import Prices
from tests.base import TestCase

HALF = 1_800_000_000
MINUTE = 60_000_000
FACTORS = st.lists(st.integers(0, 5), min_size=24, max_size=24)
CLASSES = st.sampled_from(('VCPU', 'DISK_GB', 'CUSTOM_SEAT'))


def prices(*price: str, factors: tuple[str, ...] = ()) -> Prices:
    """Return the prices that options set."""
    offers = types.SimpleNamespace(price=list(price), price_factors=list(factors))
    return Prices.from_conf(types.SimpleNamespace(offers=offers))


class PricesTest(TestCase):
    def test_units(self) -> None:
        found = prices('physical:host=4', ' virtual:instance/VCPU = 0.5')
        self.assertEqual(8.0, found.rate('physical:host', 2, {}))
        self.assertEqual(3.0, found.rate('virtual:instance', 2, {'VCPU': 6, 'DISK_GB': 10}))

    @given(FACTORS, st.integers(0, 200), st.integers(1, 200))
    def test_hours(self, factors: list[int], start: int, length: int) -> None:
        """Against the sum of the factors of all half hours."""
        found = Prices(factors=tuple(map(float, factors)))
        expected = sum(factors[step // 2 % 24] for step in range(start, start + length)) / 2
        times = np.array([start * HALF], dtype=np.int64)
        self.assertAlmostEqual(expected, float(found.hours(times, length * HALF)[0]))

    @given(st.lists(st.integers(0, 2), min_size=24, max_size=24), st.integers(0, 100))
    def test_changes(self, factors: list[int], first: int) -> None:
        found = Prices(factors=tuple(map(float, factors))).changes(first * HALF, first * HALF * 2)
        expected = [
            hour * 2 * HALF
            for hour in range(-(-first // 2), first + 1)
            if factors[hour % 24] != factors[(hour - 1) % 24]
        ]
        self.assertEqual(expected, found.tolist())

    @given(FACTORS, st.integers(0, 3000), st.integers(0, 3000), st.integers(1, 4000), st.data())
    def test_turns(
        self, factors: list[int], first: int, more: int, length: int, data: st.DataObject
    ) -> None:
        """No start is cheaper than the best of the turns."""
        found = Prices(factors=tuple(map(float, factors)))
        start, last, long = first * MINUTE, (first + more) * MINUTE, length * MINUTE
        turns = found.turns(start, last, long)
        self.assertTrue(((turns >= start) & (turns <= last)).all())
        best = found.hours(turns, long).min()
        other = data.draw(st.integers(first, first + more)) * MINUTE
        self.assertLessEqual(best, found.hours(np.array([other]), long)[0] + 1e-6)

    @given(
        st.dictionaries(CLASSES, st.integers(0, 10**6)),
        st.dictionaries(CLASSES, st.integers(0, 10**6)),
        st.integers(0, 100),
        st.integers(0, 100),
        st.dictionaries(CLASSES, st.floats(0, 1000)),
    )
    def test_rates(
        self,
        one: dict[str, int],
        other: dict[str, int],
        slots: int,
        more: int,
        units: dict[str, float],
    ) -> None:
        """Two reservations cost as much as one of both; what has no price costs nothing."""
        found = Prices(units={'a': 2.0, **{f'a/{name}': price for name, price in units.items()}})
        both = {name: one.get(name, 0) + other.get(name, 0) for name in {*one, *other}}
        total = found.rate('a', slots, one) + found.rate('a', more, other)
        self.assertTrue(math.isclose(total, found.rate('a', slots + more, both), abs_tol=1e-6))
        self.assertEqual(0.0, found.rate('b', slots, one))

    @given(st.text(max_size=20) | st.from_regex(r'[a-c/]{0,3}=-?[0-9.e]{0,4}', fullmatch=True))
    def test_any_text(self, text: str) -> None:
        """A text is a price from 0, or an error that names it."""
        try:
            found = prices(text)
        except exceptions.ConfigurationError as error:
            self.assertIn(text, error.message)
        else:
            [price] = found.units.values()
            self.assertTrue(math.isfinite(price) and price >= 0)

    def test_factors(self) -> None:
        found = prices(factors=('0-6=0.5', '20-24=0.8')).factors
        self.assertEqual((0.5,) * 6 + (1.0,) * 14 + (0.8,) * 4, found)

    def test_what_cannot_be_read(self) -> None:
        for text in ('', 'physical:host', '=4', 'physical:host=-1', 'physical:host=nan', 'a=b'):
            self.assertRaises(exceptions.ConfigurationError, prices, text)
        for text in ('6=1', '6-6=1', '8-6=1', '20-25=1', '0-6=', '0-6=-1', '0-6=inf'):
            self.assertRaises(exceptions.ConfigurationError, prices, factors=(text,))
