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
"""Measures Climate: search, create, list, lateness and memory, on each database engine.

Prints a table of an own row for each thing and an own column for each engine; a
figure that misses its aim is marked with an exclamation mark. Nothing fails.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import tempfile
import time
from collections.abc import Iterator

from benchmarks import booking
from benchmarks import lateness
from benchmarks import parts
from benchmarks.figures import Figure
from benchmarks.figures import gathered
from benchmarks.figures import show
from climate.clock import SystemClock
from climate.db import migration
from tests import services
from tests.functional import bulk

NAMES = {'sqlite': 'SQLite', 'mysql': 'MariaDB', 'postgresql': 'PostgreSQL'}


def main() -> int:
    """Run."""
    options = _parser().parse_args()
    engines = options.engine or [kind for kind in services.DATABASES if services.answers(kind)]
    figures: list[Figure] = []
    for engine in engines:
        figures += gathered(_measure(engine, options))
    show(figures, as_json=options.json)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        '--engine',
        action='append',
        choices=services.DATABASES,
        help='measure on this engine; may be given more than once (default: all that answer)',
    )
    parser.add_argument('--json', action='store_true', help='print JSON instead of a table')
    parser.add_argument('--creates', type=int, default=200, help='leases created for a latency')
    parser.add_argument('--seconds', type=float, default=5.0, help='length of a run of clients')
    parser.add_argument('--starts', type=int, default=1000, help='leases that start within 10 s')
    parser.add_argument('--managers', type=int, default=1, help='processes that start them')
    parser.add_argument('--small', action='store_true', help='leave out the million allocations')
    parser.add_argument('--only', choices=('booking', 'lateness'), help='leave out everything else')
    return parser


def _measure(engine: str, options: argparse.Namespace) -> Iterator[Figure]:
    name = NAMES[engine]
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
        yield from booking.searches(name, core, size, now, 10 if small else 100)
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
