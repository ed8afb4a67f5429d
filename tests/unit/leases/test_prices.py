# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The prices of an operator: what periods cost, and what cannot be read."""

from __future__ import annotations

import types

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from climate import exceptions
from climate.leases.prices import Prices
from tests.base import TestCase

HALF = 1_800_000_000


def prices(*price: str, factors: tuple[str, ...] = ()) -> Prices:
    """Return the prices that options set."""
    offers = types.SimpleNamespace(price=list(price), price_factors=list(factors))
    return Prices.from_conf(types.SimpleNamespace(offers=offers))


class PricesTest(TestCase):
    def test_units(self) -> None:
        found = prices('physical:host=4', ' virtual:instance/VCPU = 0.5')
        self.assertEqual(8.0, found.rate('physical:host', 2, {}))
        self.assertEqual(3.0, found.rate('virtual:instance', 2, {'VCPU': 6, 'DISK_GB': 10}))

    @given(
        st.lists(st.integers(0, 5), min_size=24, max_size=24),
        st.integers(0, 200),
        st.integers(1, 200),
    )
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

    def test_factors(self) -> None:
        found = prices(factors=('0-6=0.5', '20-24=0.8')).factors
        self.assertEqual((0.5,) * 6 + (1.0,) * 14 + (0.8,) * 4, found)

    def test_what_cannot_be_read(self) -> None:
        for text in ('', 'physical:host', '=4', 'physical:host=-1', 'physical:host=nan', 'a=b'):
            self.assertRaises(exceptions.ConfigurationError, prices, text)
        for text in ('6=1', '6-6=1', '8-6=1', '20-25=1', '0-6=', '0-6=-1', '0-6=inf'):
            self.assertRaises(exceptions.ConfigurationError, prices, factors=(text,))
