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


class BenchmarksTest(base.TestCase):
    """One process for each run."""

    def test_each_is_run(self) -> None:
        scripts = {
            file.stem
            for file in FOLDER.glob('*.py')
            if "__name__ == '__main__'" in file.read_text()
        }
        self.assertEqual(scripts, set(ARGUMENTS) | OTHERS)
        run = {name.removeprefix('test_') for name in dir(self) if name.startswith('test_')}
        self.assertLessEqual(set(ARGUMENTS), run)

    def run_all(self, name: str) -> None:
        """Run a benchmark with each of its arguments."""
        for arguments in ARGUMENTS[name]:
            done = commands.captured(
                [sys.executable, '-m', f'benchmarks.{name}', *arguments], cwd=ROOT, timeout=600
            )
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertRegex(done.stdout, r'\d\.\d')

    def test_against(self) -> None:
        self.run_all('against')

    def test_calendar_pages(self) -> None:
        self.run_all('calendar_pages')

    def test_core(self) -> None:
        self.run_all('core')

    def test_costs(self) -> None:
        self.run_all('costs')

    def test_guards(self) -> None:
        self.run_all('guards')

    def test_neighbours(self) -> None:
        self.run_all('neighbours')

    def test_offers(self) -> None:
        self.run_all('offers')

    def test_page(self) -> None:
        browsers.need(browsers.CHROMIUM)
        browsers.need(browsers.FIREFOX)
        self.run_all('page')

    def test_placement(self) -> None:
        self.run_all('placement')

    def test_rows(self) -> None:
        self.run_all('rows')

    def test_sizes(self) -> None:
        self.run_all('sizes')

    def test_starts(self) -> None:
        self.run_all('starts')

    def test_timelines(self) -> None:
        self.run_all('timelines')

    def test_verification(self) -> None:
        self.run_all('verification')

    def test_worst(self) -> None:
        self.run_all('worst')
