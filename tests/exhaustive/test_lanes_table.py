# SPDX-License-Identifier: Apache-2.0

"""What the documentation says of the lanes is so."""

from __future__ import annotations

from tests import base
from tools.lanes import running
from tools.lanes import table
from tools.lanes.lanes import LANES

# So many tests may come and go before somebody counts them again.
SHARE = 0.05


class TestTable(base.TestCase):
    """``make lanes`` writes it."""

    def test_as_many_tests_as_it_says(self) -> None:
        rows = table.read()
        self.assertEqual(list(LANES), list(rows))
        for name, lane in LANES.items():
            there = len(running.listed(lane))
            difference = abs(there - rows[name].tests)
            self.assertLessEqual(difference, SHARE * there, f'{name} has {there}: make lanes')
