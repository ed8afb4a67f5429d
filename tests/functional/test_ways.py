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

"""The ways of a request and of an event do not grow longer; ``tools/ways.py`` measures them."""

from __future__ import annotations

import re

import testtools

from tests.architecture import ROOT
from tools import ways

DRAWINGS = ROOT / 'doc' / 'source' / 'contributor' / 'ways'

# Files and changes of file, at most. Some changes are spare, because the sample of
# resources begins at a random place. Ids of requests for logs and traces take one file of
# the first, and four of the second. Lead times take one of the first, inserts that are sent
# together another one, and inserts without SQLAlchemy's conversions one of each.
# The limits of requests take most of what came since: the share of threads, the budget, the
# deadline for locks, and the check of the texts in a body, which is called for each text. The
# fence of the second records deletions, and knows what was made just now.
POST = (44, 126)
START = (33, 102)


class WaysTest(testtools.TestCase):
    """A create over HTTP up to its INSERT, and a start up to the first call of the cloud."""

    def assert_short(self, way: ways.Way, most: tuple[int, int]) -> None:
        self.assertTrue(way.arrived)
        self.assertLessEqual(len(way.files), most[0], ways.as_text(way))
        self.assertLessEqual(len(way.changes), most[1], ways.as_text(way))

    def test_create(self) -> None:
        self.assert_short(ways.recorded('post', 'physical:host'), POST)

    def test_start(self) -> None:
        self.assert_short(ways.recorded('start', 'virtual:instance'), START)

    def test_the_drawings_name_files_that_exist(self) -> None:
        for drawing in ('post', 'start'):
            text = (DRAWINGS / f'{drawing}.dot').read_text(encoding='utf-8')
            names = set(re.findall(r'"([\w/]+\.py)" \[label', text))
            self.assertGreater(len(names), 10)
            missing = {name for name in names if not (ROOT / 'climate' / name).exists()}
            self.assertEqual(set(), missing, f'run tools.ways --dot again for {drawing}')
