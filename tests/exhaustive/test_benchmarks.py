# SPDX-License-Identifier: Apache-2.0

"""Each benchmark runs to its end on SQLite, in its smallest size.

It takes about two minutes.
"""

from __future__ import annotations

import pathlib
import sys

from tests import base
from tests import browsers
from tests import commands
from tests.architecture import ROOT

FOLDER = pathlib.Path(ROOT) / 'benchmarks'
SQLITE = ('--engine', 'sqlite')
# Of a tree compared with itself; there must be 1,000 leases to list.
SMALL_TREE = ('--rounds', '1', '--seconds', '0.2', '--hosts', '300', '--allocations', '12000')
SHORT_PHASES = ('--seconds', '0.1', '--least', '1', '--hosts', '5')
SMALL_CLOUD = ('--hosts', '200', '--allocations', '2000', '--times', '1')
ARGUMENTS: dict[str, tuple[tuple[str, ...], ...]] = {
    'against': ((*SQLITE, '--old', str(ROOT), *SMALL_TREE),),
    'calendar_pages': (
        (*SQLITE, '--times', '1', '--hosts', '200', '--allocations', '2000'),
        (*SQLITE, '--times', '1', '--hosts', '200', '--allocations', '2000', '--processor'),
    ),
    'core': ((*SQLITE, '--small', '--creates', '5', '--seconds', '0.5', '--starts', '5'),),
    'costs': (('refusals',),),
    'guards': ((*SQLITE, '--times', '2', '--warm', '1', '--allocations', '2000'),),
    'verification': ((*SQLITE, '--times', '2'),),
    'neighbours': (
        (*SQLITE, *SHORT_PHASES, '--only', 'idle'),
        (*SQLITE, *SHORT_PHASES, '--only', '90'),
    ),
    'offers': ((*SQLITE, '--small', '--times', '1'),),
    'page': (('--times', '1', '--frames', '20', '--hosts', '200', '--allocations', '2000'),),
    'planner': (('--first', '10'),),
    'placement': (('--times', '1'), ('--times', '1', '--without-solver')),
    'rows': ((*SQLITE, '--times', '1'),),
    'sizes': ((*SQLITE, '--size', '100', '2000'), (*SQLITE, '--size', '100', '2000', '--whole')),
    'starts': ((*SQLITE, '--backlog', '20', '--seconds', '0.5', '--crowd', '20'),),
    'timelines': (
        (*SQLITE, '--hosts', '200', '--times', '1'),
        (*SQLITE, '--hosts', '200', '--times', '1', '--processor'),
        (*SQLITE, '--hosts', '200', '--times', '1', '--creates'),
        ('--hosts', '200', '--times', '1', '--dense'),
    ),
    'worst': (
        (*SMALL_CLOUD, '--requests', '2', '--only', 'apart'),
        (*SMALL_CLOUD, '--requests', '0'),
    ),
}
# What benchmarks start as processes of their own, and what needs a real cloud.
OTHERS = {
    *('against_child', 'client', 'cloud', 'manager', 'neighbours_client', 'page_server'),
    *('sizes_process', 'starter'),
}


@base.test_each(ARGUMENTS)
class BenchmarksTest(base.TestCase):
    """One process for each run."""

    def test_each_is_run(self) -> None:
        scripts = {
            file.stem
            for file in FOLDER.glob('*.py')
            if "__name__ == '__main__'" in file.read_text()
        }
        self.assertEqual(scripts, set(ARGUMENTS) | OTHERS)

    def check(self, name: str) -> None:
        """Run a benchmark with each of its arguments."""
        if name == 'page':
            browsers.need(browsers.CHROMIUM)
            browsers.need(browsers.FIREFOX)
        for arguments in ARGUMENTS[name]:
            done = commands.captured(
                [sys.executable, '-m', f'benchmarks.{name}', *arguments], cwd=ROOT, timeout=600
            )
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertRegex(done.stdout, r'\d\.\d')
