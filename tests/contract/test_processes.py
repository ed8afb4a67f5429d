# SPDX-License-Identifier: Apache-2.0

"""The simulated cloud under several processes, some of which are killed."""

from __future__ import annotations

import collections
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from climate import simulator
from climate.clock import SystemClock
from climate.simulator.store import FILE_NAME
from tests import base

DEADLINE = 30.0


class TestProcesses(base.TestCase):
    """Real processes on one file."""

    def setUp(self) -> None:
        super().setUp()
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)
        self.cloud = self.closing(simulator.SimulatedCloud(self.directory, clock=SystemClock()))
        self.cloud.seed(4)
        self.cloud.keep_journal()

    def start(self, name: str) -> subprocess.Popen[str]:
        """Start a hammer."""
        process = subprocess.Popen(
            [sys.executable, '-m', 'tests.contract.hammer', str(self.directory), name],
            cwd=pathlib.Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition, with a deadline."""
        deadline = time.monotonic() + DEADLINE
        while not condition():
            self.assertLess(time.monotonic(), deadline, 'the hammers do not come on')
            time.sleep(0.005)

    def wait_for_calls(self, more: int) -> None:
        """Wait until so many more calls were made."""
        goal = self.cloud.calls() + more
        self.wait_for(lambda: self.cloud.calls() >= goal)

    def wait_for_aggregate(self, name: str) -> None:
        """Wait until a hammer has begun."""
        self.wait_for(lambda: name in {found.name for found in self.cloud.aggregates()})

    def check(self) -> None:
        """Check that nothing was left half done."""
        zones: dict[str, set[str | None]] = collections.defaultdict(set)
        for aggregate in self.cloud.aggregates():
            for host in aggregate.hosts:
                zones[host].add(aggregate.availability_zone)
        for host, found in zones.items():
            self.assertEqual(1, len(found), f'{host} is in {found}')
        connection = sqlite3.connect(self.directory / FILE_NAME)
        try:
            # Both are written in the transaction of the verb; read in one as well.
            counted, kept = connection.execute(
                'SELECT (SELECT sum(count) FROM calls), (SELECT count(*) FROM journal)'
            ).fetchone()
            self.assertEqual(counted, kept)
            self.assertEqual([('ok',)], connection.execute('PRAGMA integrity_check').fetchall())
            self.assertEqual([], connection.execute('PRAGMA foreign_key_check').fetchall())
        finally:
            connection.close()

    def test_killed_processes_leave_a_consistent_state(self) -> None:
        survivors = [self.start(f'survivor-{number}') for number in range(2)]
        for number in range(4):
            victim = self.start(f'victim-{number}')
            self.wait_for_aggregate(f'hammer-victim-{number}')
            self.wait_for_calls(100)
            self.assertIsNone(victim.poll(), 'it ended before it was killed')
            victim.kill()
            victim.wait()
            # What the dead held is free: the others go on.
            self.wait_for_calls(100)
            self.check()
        (self.directory / 'stop').touch()
        made = 0
        for survivor in survivors:
            output, errors = survivor.communicate(timeout=DEADLINE)
            self.assertEqual(0, survivor.returncode, errors)
            made += int(output)
        self.assertGreater(made, 0)
        self.check()

    def test_no_call_is_lost_without_a_killed_process(self) -> None:
        hammers = [self.start(f'{number}') for number in range(3)]
        for number in range(3):
            self.wait_for_aggregate(f'hammer-{number}')
        self.wait_for_calls(200)
        (self.directory / 'stop').touch()
        made = 0
        for hammer in hammers:
            output, errors = hammer.communicate(timeout=DEADLINE)
            self.assertEqual(0, hammer.returncode, errors)
            made += int(output)
        self.assertEqual(made, self.cloud.calls())
        self.check()
        for aggregate in self.cloud.aggregates():
            self.assertEqual((), aggregate.hosts)

    def test_many_processes_may_make_it_at_once(self) -> None:
        with tempfile.TemporaryDirectory() as empty:
            code = (
                'import sys; from climate.simulator import cli; '
                'sys.exit(cli.main(["--state-dir", sys.argv[1], "seed"]))'
            )
            output = {'stdout': subprocess.PIPE, 'stderr': subprocess.STDOUT, 'text': True}
            facts = {'cwd': pathlib.Path(__file__).parents[2], **output}
            words = [sys.executable, '-c', code, empty]
            seeders = [subprocess.Popen(words, **facts) for _ in range(4)]
            for seeder in seeders:
                output, _ = seeder.communicate(timeout=DEADLINE)
                self.assertEqual('4 hypervisors\n', output)
