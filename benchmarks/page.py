# SPDX-License-Identifier: Apache-2.0

"""Measures the web page in Chromium and Firefox, with a large cloud in the calendar.

The API runs in a process of its own. Each run starts a browser with an empty cache, opens the
page, and moves the calendar by one step in each frame. The median of the runs is printed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from typing import Any
from typing import Final

from benchmarks import parts
from benchmarks.figures import Figure
from benchmarks.figures import gathered
from benchmarks.figures import quantile
from benchmarks.figures import show
from climate.clock import SystemClock
from climate.db.migrations import migration
from tests.functional import bulk

_WEB: Final = parts.ROOT / 'web'
_BROWSERS: Final = {'chromium': 'Chromium', 'firefox': 'Firefox'}
_HOSTS: Final = 'resource_type=physical:host'
_BARS_AIM: Final = 700.0
# A screen shows sixty frames in a second.
_FRAME_AIM: Final = 17.0
_HEAP_AIM: Final = 20.0
_SIZE_AIM: Final = 45.0
_KILOBYTE: Final = 1000
_MEGABYTE: Final = 1_000_000
# Seconds of one run.
_TIMEOUT: Final = 300


def main() -> int:
    """Run the benchmark; return the exit status."""
    options = _parser().parse_args()
    figures = list(gathered(_measure(options)))
    show(figures, as_json=options.json)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        '--browser',
        action='append',
        choices=_BROWSERS,
        help='measure in this browser; may be repeated (default: both)',
    )
    parser.add_argument('--times', type=int, default=5, help='number of runs in each browser')
    parser.add_argument('--frames', type=int, default=180, help='number of frames of each gesture')
    parser.add_argument('--hosts', type=int, default=10_000, help='number of hosts')
    parser.add_argument(
        '--allocations', type=int, default=100_000, help='number of allocations altogether'
    )
    parser.add_argument('--json', action='store_true', help='print JSON instead of a table')
    return parser


def _measure(options: argparse.Namespace) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        url = f'sqlite:///{folder}/climate.sqlite'
        _fill(url, options)
        server = parts.Child('benchmarks.page_server', url)
        try:
            address = server.answer()
            # The first requests of a process compile schemas and read the bookings.
            for path in ('me', f'calendar?{_HOSTS}', f'availability?{_HOSTS}'):
                _read(f'{address}/v1/{path}')
            for browser in options.browser or _BROWSERS:
                runs = [_run(browser, address, options.frames) for _ in range(options.times)]
                yield from _figures(_BROWSERS[browser], runs)
        finally:
            server.close()


def _fill(url: str, options: argparse.Namespace) -> None:
    core = parts.core(url)
    migration.sync(core.store.engine)
    # Leases of one host each: bars that are all different are the most work.
    load = bulk.Load(
        hosts=options.hosts, allocations=options.allocations, group=1, now=SystemClock().now()
    )
    load.fill(core.store.engine)
    core.store.close()


def _read(address: str) -> None:
    headers = {'OpenStack-API-Version': 'reservation 1.5'}
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=60) as _:
        pass


def _run(browser: str, address: str, frames: int) -> dict[str, Any]:
    """Return what one run measured, as ``web/tests/figures.mjs`` prints it."""
    done = subprocess.run(
        ['node', 'tests/figures.mjs', browser, f'{address}/ui/', str(frames)],
        cwd=_WEB,
        capture_output=True,
        text=True,
        timeout=_TIMEOUT,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f'{browser}: {done.stderr}')
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _figures(browser: str, runs: list[dict[str, Any]]) -> Iterator[Figure]:
    def figure(what: str, values: list[float], unit: str, aim: float | None = None) -> Figure:
        middle = quantile(values, 0.5)
        return Figure(engine=browser, what=what, value=middle, unit=unit, aim=aim)

    yield figure('first bars', [run['bars'] for run in runs], 'ms', _BARS_AIM)
    # What the browser's own timer allows.
    empty = [quantile(run['empty'], 0.95) for run in runs]
    yield figure('empty page: frame, p95', empty, 'ms', _FRAME_AIM)
    for gesture in runs[0]['gestures']:
        found = [run['gestures'][gesture] for run in runs]
        frames = [quantile(one['times'], 0.95) for one in found]
        yield figure(f'{gesture}: frame, p95', frames, 'ms', _FRAME_AIM)
        yield figure(f'{gesture}: missed', [_missed(one['times']) for one in found], '%')
        for share, name in ((0.5, 'median'), (0.95, 'p95')):
            scripts = [quantile(one['scripts'], share) for one in found]
            yield figure(f'{gesture}: scripts in a frame, {name}', scripts, 'ms')
    if 'heap' in runs[0]:
        heaps = [run['heap'] / _MEGABYTE for run in runs]
        yield figure('JavaScript heap after all of it', heaps, 'MB', _HEAP_AIM)
    sizes = [run['bytes'] / _KILOBYTE for run in runs]
    yield figure('first view, compressed', sizes, 'kB', _SIZE_AIM)


def _missed(times: list[float]) -> float:
    """Return how many frames the page missed, in percent of those that a screen shows."""
    due = sum(times) * 60 / 1000
    return max(0.0, 100 * (1 - len(times) / due))


if __name__ == '__main__':
    sys.exit(main())
