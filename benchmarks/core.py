# SPDX-License-Identifier: Apache-2.0
"""Measures Climate: search, create, list, lateness and memory, on each database engine.

Prints a row for each measurement and a column for each engine; a figure that
misses its target is marked with an exclamation mark, and does not fail the run.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import tempfile
import time
from collections.abc import Iterator

from benchmarks import booking
from benchmarks import engines
from benchmarks import lateness
from benchmarks import parts
from benchmarks.figures import Figure
from climate.clock import SystemClock
from climate.db.migrations import migration
from tests import services
from tests.functional import bulk


def main() -> int:
    """Run the benchmark; return the exit status."""
    options = _parser().parse_args()
    engines.measure(options, lambda engine: _measure(engine, options))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = engines.parser(__doc__)
    parser.add_argument(
        '--creates', type=int, default=200, help='number of leases created to measure a latency'
    )
    parser.add_argument('--seconds', type=float, default=5.0, help='duration of a run of clients')
    parser.add_argument(
        '--starts', type=int, default=1000, help='number of leases that start within 10 s'
    )
    parser.add_argument(
        '--managers', type=int, default=1, help='number of processes that start them'
    )
    parser.add_argument('--small', action='store_true', help='skip the million allocations')
    parser.add_argument('--only', choices=('booking', 'lateness'), help='skip everything else')
    return parser


def _measure(engine: str, options: argparse.Namespace) -> Iterator[Figure]:
    name = engines.NAMES[engine]
    if options.only != 'lateness':
        yield from _booking(engine, name, options, hosts=1000, allocations=100_000)
        if not options.small:
            yield from _booking(engine, name, options, hosts=10_000, allocations=1_000_000)
    if options.only != 'booking':
        with services.Database(engine) as database, tempfile.TemporaryDirectory() as cloud:
            _make(database.url)
            yield from lateness.lateness(
                name,
                database.url,
                pathlib.Path(cloud),
                count=options.starts,
                managers=options.managers,
            )


def _booking(
    engine: str, name: str, options: argparse.Namespace, *, hosts: int, allocations: int
) -> Iterator[Figure]:
    size = f'{hosts:,} hosts'
    small = hosts <= 1000
    with services.Database(engine) as database:
        _make(database.url)
        core = parts.core(database.url)
        now = SystemClock().now()
        began = time.monotonic()
        load = bulk.Load(hosts=hosts, allocations=allocations, now=now)
        load.fill(core.store.engine)
        sys.stderr.write(
            f'{name}: {hosts:,} hosts, {allocations:,} allocations, {load.leases:,} leases'
            f' written in {time.monotonic() - began:.0f} s\n'
        )
        yield from booking.lists(name, core, size)
        yield from booking.creations(name, core, size, options.creates, 20 if small else 60)
        if small:
            yield from booking.rates(name, database.url, 1, options.seconds)
            yield from booking.rates(name, database.url, 8, options.seconds)
        core.store.close()


def _make(url: str) -> None:
    core = parts.core(url)
    migration.sync(core.store.engine)
    core.store.close()


if __name__ == '__main__':
    sys.exit(main())
