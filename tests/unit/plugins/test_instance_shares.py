# SPDX-License-Identifier: Apache-2.0

"""Which slots a reservation keeps that gives some up."""

from __future__ import annotations

import hypothesis
from hypothesis import strategies as st

from climate.plugins.instance import shares
from tests import base

hosts = st.integers(1, 5)
most = st.dictionaries(hosts, st.integers(0, 4), min_size=1)


class TestShares(base.TestCase):
    @hypothesis.given(st.data())
    def test_no_reservation_loses_a_slot_in_use(self, data: st.DataObject) -> None:
        had = data.draw(most)
        suggested = {number: data.draw(st.integers(0, count)) for number, count in had.items()}
        used = data.draw(st.dictionaries(hosts, st.integers(0, 4)))
        kept = shares.keep(suggested, had, used)
        busy = {number: used.get(number, 0) for number in had}
        fits = sum(busy.values()) <= sum(suggested.values())
        if kept is None:
            self.assertTrue(not fits or any(busy[number] > had[number] for number in had))
            return
        self.assertTrue(fits)
        self.assertEqual(sum(suggested.values()), sum(kept.values()))
        for number, count in had.items():
            self.assertLessEqual(busy[number], kept.get(number, 0))
            self.assertLessEqual(kept.get(number, 0), count)
        if all(busy[number] <= suggested[number] for number in had):
            self.assertEqual({number: n for number, n in suggested.items() if n}, kept)
