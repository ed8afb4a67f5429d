# SPDX-License-Identifier: Apache-2.0

"""Files and changes of file are counted as the tool says."""

from __future__ import annotations

import datetime
import json

from climate.allocation import timeline
from climate.domain.periods import Period
from tests import base
from tools import ways

NOON = datetime.datetime(2030, 1, 1, 12, tzinfo=datetime.UTC)
PERIODS = 'domain/periods.py'
TIMELINE = 'allocation/timeline.py'


class TestRecorder(base.TestCase):
    """What is called is written down, up to the end of the way."""

    def test_calls(self) -> None:
        recorder = ways.Recorder()
        with recorder.recording():
            period = Period(start=NOON, end=NOON + ways.HOUR)
            timeline.peak([(period, 1)], period)
            recorder.arrive()
            timeline.peak([], period)
        way = recorder.way
        # Whether it is so, what it lies in, and whether they overlap.
        self.assertEqual((PERIODS, TIMELINE, PERIODS), way.calls)
        self.assertEqual((PERIODS, TIMELINE), way.files)
        self.assertEqual(((PERIODS, TIMELINE), (TIMELINE, PERIODS)), way.changes)
        self.assertTrue(way.arrived)

    def test_a_way_without_an_end(self) -> None:
        recorder = ways.Recorder()
        with recorder.recording():
            Period(start=NOON, end=NOON + ways.HOUR)
        self.assertFalse(recorder.way.arrived)


class TestForms(base.TestCase):
    """A way is shown in three forms."""

    way = ways.Way(calls=('a/b.py', 'a/c.py', 'a/c.py', 'd.py', 'a/c.py', 'd.py'), arrived=True)

    def test_text(self) -> None:
        self.assertIn('3 files, 6 calls, 4 changes of file', ways.as_text(self.way))
        self.assertIn('    3  a/c.py', ways.as_text(self.way))

    def test_json(self) -> None:
        found = json.loads(ways.as_json(self.way))
        self.assertEqual(['a/b.py', 'a/c.py', 'd.py'], found['files'])
        self.assertIn(['a/c.py', 'd.py', 2], found['arrows'])

    def test_dot(self) -> None:
        found = ways.as_dot(self.way)
        self.assertIn('"a/c.py" -> "d.py" [label="2"];', found)
        self.assertIn('subgraph cluster_0 { label="a";', found)
