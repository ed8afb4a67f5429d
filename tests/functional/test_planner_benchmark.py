# SPDX-License-Identifier: Apache-2.0

"""The benchmark of the planner, on an extract of its workload."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import fixtures

from tests import base
from tests.architecture import ROOT


class PlannerBenchmarkTest(base.TestCase):
    """In a process of its own, since it sets up the log."""

    def replayed(self, *options: str) -> dict[str, float]:
        """Return what a replay of the extract finds."""
        done = subprocess.run(
            [sys.executable, '-m', 'benchmarks.planner', '--json', *options],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        self.assertEqual(0, done.returncode, done.stderr)
        return {one['what']: one['value'] for one in json.loads(done.stdout)['figures']}

    def test_an_extract_is_replayed(self) -> None:
        found = self.replayed()
        counts = (
            'flexible leases',
            'flexible leases refused',
            'fixed leases accepted',
            'fixed leases refused',
        )
        self.assertEqual([27, 0, 20, 0], [found[name] for name in counts])
        # Leases that were asked for too long ended early, and gave others their time.
        self.assertGreater(found['moves'], 0)
        self.assertGreater(found['displaced'], 0)
        self.assertGreater(found['mean wait'], 0)

    def test_deadlines_are_met(self) -> None:
        running = {'id': '1', 'arrival': 0, 'earliest': 600, 'duration': 3600, 'deadline': 12000}
        urgent = {'id': '2', 'arrival': 900, 'earliest': 1800, 'duration': 600, 'deadline': 2400}
        done, late = {'1': 'done', '2': 'done'}, {'1': 'done', '2': 'rejected'}
        found = [
            (running, done, done),
            ({**running, 'deadline': 5400}, late, done),
            ({**running, 'deadline': 4799}, late, late),
        ]
        cases = [
            {
                'case': str(one['deadline']),
                'nodes': 2,
                'requests': [{**each, 'nodes': 2, 'preemptible': True} for each in (one, urgent)],
                'without_suspension': without,
                'with_suspension': suspended,
            }
            for one, without, suspended in found
        ]
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path, 'cases.json')
        path.write_text(json.dumps(cases), encoding='utf-8')
        for more in ((), ('--preemptible',)):
            found = self.replayed('--first', '1', '--cases', str(path), *more)
            self.assertEqual(3, found['right cases of 3'])

    def test_preemptible_leases_yield(self) -> None:
        found = self.replayed('--preemptible')
        self.assertEqual(20, found['fixed leases accepted'])
        self.assertGreater(found['yielded'], 0)
        self.assertGreater(found['mean wait'], 0)
