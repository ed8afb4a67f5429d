# SPDX-License-Identifier: Apache-2.0

"""The ways of a request and of an event do not grow longer; ``tools/ways.py`` measures them."""

from __future__ import annotations

import re

from tests import base
from tests.architecture import ROOT
from tools import ways

DRAWINGS = ROOT / 'doc' / 'source' / 'contributor' / 'ways'

# Files and changes of file, at most. Some changes are spare, because the sample of
# resources begins at a random place. Ids of requests for logs and traces take one file of
# the first, and four of the second. Lead times take one of the first, inserts that are sent
# together another one, and inserts without SQLAlchemy's conversions one of each.
# The limits of requests take most of what came since: the share of threads, the budget, the
# deadline for locks, and the check of the texts in a body, which is called for each text. The
# fence of the second records deletions, and knows what was made just now. A transaction creates
# its repositories when it first needs them: one file, and two changes. The class that
# the fence and the record of deletions share takes one file of the second. What offers share
# with new leases takes one file of the first, and two changes. The search in memory takes five
# files of the first, and some changes. What rows and objects have in common is copied by one
# function, which adds six changes to the second. What may take the place of flexible leases, and
# when those are firm, takes four files of the first and one of the second.
POST = (58, 132)
START = (35, 113)


class WaysTest(base.TestCase):
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
