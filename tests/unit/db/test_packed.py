# SPDX-License-Identifier: Apache-2.0

"""Texts of periods, as a database may return them."""

from __future__ import annotations

from climate.allocation.steps import LATEST
from climate.db.timelines import packed
from tests import base


class PackedTest(base.TestCase):
    def test_nothing(self) -> None:
        self.assertEqual([], packed.bookings([]).starts.tolist())

    def test_periods_of_several_resources(self) -> None:
        found = packed.bookings([(7, 2, '1,10,20,2,30,40,'), (9, 1, f'3,-5,{LATEST + 1},')])
        self.assertEqual([7, 7, 9], found.resource_ids.tolist())
        self.assertEqual([1, 2, 3], found.amounts.tolist())
        self.assertEqual([10, 30, 0], found.starts.tolist())
        self.assertEqual([20, 40, LATEST], found.ends.tolist())

    def test_what_is_cut_off_is_found(self) -> None:
        whole = '1,10,20,2,30,40,'
        for length in range(len(whole)):
            self.assertRaises(packed.CutOff, packed.bookings, [(7, 2, whole[:length])])
            # Another text cannot make up for it.
            rows = [(7, 2, whole[:length]), (9, 1, '1,10,20,')]
            self.assertRaises(packed.CutOff, packed.bookings, rows)
        self.assertRaises(packed.CutOff, packed.bookings, [(7, 2, None)])
