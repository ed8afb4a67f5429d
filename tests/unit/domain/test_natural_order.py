# SPDX-License-Identifier: Apache-2.0

"""Names in the order that people expect."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from climate.domain import natural_order
from climate.domain.natural_order import sort_key
from tests import base


class NaturalOrderTest(base.TestCase):
    """The keys by which names are sorted."""

    def test_numbers_are_numbers(self):
        names = ['compute-1', 'compute-2', 'compute-9', 'compute-10', 'compute-101', 'compute-x']
        self.assertEqual(names, sorted(names, key=sort_key))
        self.assertNotEqual(names, sorted(names))

    def test_every_number_counts(self):
        names = ['vlan:physnet1:2', 'vlan:physnet1:10', 'vlan:physnet2:1', 'vlan:physnet10:1']
        self.assertEqual(names, sorted(names, key=sort_key))
        addresses = ['10.0.0.9', '10.0.0.10', '10.0.2.1', '10.0.10.1']
        self.assertEqual(addresses, sorted(addresses, key=sort_key))

    def test_case_and_leading_zeros_do_not_matter(self):
        self.assertEqual(sort_key('Rack-007'), sort_key('rack-7'))

    def test_other_digits_are_letters(self):
        self.assertEqual('²٣', sort_key('²٣'))

    def test_long_names_have_keys_that_fit(self):
        self.assertEqual(natural_order.LONGEST, len(sort_key('1-' * 127)))

    @given(st.integers(0, 10**30), st.integers(0, 10**30))
    def test_any_two_numbers(self, one, other):
        self.assertEqual(one < other, sort_key(f'a{one}b') < sort_key(f'a{other}b'))
