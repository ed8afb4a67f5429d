# SPDX-License-Identifier: Apache-2.0

"""A lane is run as ``make test`` does it, with tests that fail and workers that die."""

from __future__ import annotations

import io
import pathlib
import textwrap

import fixtures

from tests import base
from tools.lanes import running
from tools.lanes import timings
from tools.lanes.lanes import Lane

TESTS = {
    'good': 'self.assertEqual(2, 1 + 1)',
    'bad': 'self.assertEqual(3, 1 + 1)',
    'away': 'self.skipTest("not here")',
}


class TestLane(base.TestCase):
    """A small project of its own."""

    def lane(self, **tests: str) -> Lane:
        """Return a lane of a test in each of so many modules."""
        root = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        folder = root / 'tests' / 'unit'
        folder.mkdir(parents=True)
        for place in (root / 'tests', folder):
            (place / '__init__.py').write_text('')
        (root / '.stestr.conf').write_text('[DEFAULT]\ntest_path=${OS_TEST_PATH}\ntop_dir=./\n')
        for name, body in tests.items():
            source = f"""
                import os, unittest

                class Test(unittest.TestCase):
                    def test(self):
                        {body}
            """
            (folder / f'test_{name}.py').write_text(textwrap.dedent(source))
        return Lane(name='unit', root=root)

    def run_lane(self, lane: Lane) -> running.Outcome:
        """Run all of it with two workers."""
        return running.run(lane, running.listed(lane), 2, io.StringIO())

    def test_each_outcome(self) -> None:
        lane = self.lane(**TESTS)
        outcome = self.run_lane(lane)
        found = {result.name: result for result in outcome.results}
        actual = {name: found[f'tests.unit.test_{name}.Test.test'].outcome for name in TESTS}
        self.assertEqual({'good': 'passed', 'bad': 'failed', 'away': 'skipped'}, actual)
        self.assertIn('3 != 2', found['tests.unit.test_bad.Test.test'].log)
        self.assertIn('3 != 2', outcome.log.read_text())
        self.assertEqual([], outcome.missing)
        self.assertLess(0, outcome.processor)
        times = timings.known(timings.repository(lane.root), list(found))
        self.assertEqual(set(found), set(times))
        self.assertNotIn(timings.QUICK, times.values())

    def test_what_never_ran_failed(self) -> None:
        # The worker of one test ends in the middle of it, without a word.
        outcome = self.run_lane(self.lane(dies='os._exit(0)'))
        self.assertEqual((0, 1), (outcome.count('passed'), outcome.count('failed')))

    def test_what_cannot_be_imported(self) -> None:
        lane = self.lane(good='pass')
        (lane.root / 'tests' / 'unit' / 'test_broken.py').write_text('import no_such_module')
        self.assert_error(running.CannotList, 'no_such_module', running.listed, lane)

    def test_a_new_clone_begins_with_the_timings_that_came_with_it(self) -> None:
        lane = self.lane(good='pass')
        timings.write({'slow': 7.0, 'quick': 0.1}, lane.root / timings.FILE)
        repository = timings.repository(lane.root)
        self.assertEqual({'slow': 7.0}, timings.known(repository, ['slow', 'quick']))
        timings.guess(repository, ['slow', 'quick'])
        known = timings.known(repository, ['slow', 'quick'])
        self.assertEqual({'slow': 7.0, 'quick': timings.QUICK}, known)
