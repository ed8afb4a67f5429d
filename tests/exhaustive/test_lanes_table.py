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
            self.assertLessEqual(
                abs(there - rows[name].tests), SHARE * there, f'{name} has {there}: make lanes'
            )
