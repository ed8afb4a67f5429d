# SPDX-License-Identifier: Apache-2.0

"""Measures what a process of the API needs for clouds of several sizes.

Each cloud is one database. A process starts on it as a WSGI server starts it, loads the
bookings and answers a few requests: the availability of two weeks, an offer, and a lease. Prints
its memory and processor time, and how long bookings were loaded.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from typing import Final

from benchmarks import engines
from benchmarks import parts
from benchmarks.figures import Figure
from climate.clock import SystemClock
from climate.db.migrations import migration
from tests import services
from tests.functional import bulk
from tests.functional import bulk_parts

_MOST: Final = {(1_000, 100_000): 150.0}
_LOADED: Final = {(10_000, 1_000_000): 2.0}
_READY: Final = 1.5
_SIZES: Final = ((100, 1_000), (1_000, 100_000), (10_000, 1_000_000))


def main() -> int:
    """Run the benchmark; return the exit status."""
    parser = engines.parser(__doc__)
    parser.add_argument(
        '--size',
        nargs=2,
        type=int,
        action='append',
        metavar=('HOSTS', 'ALLOCATIONS'),
        help='of the cloud; may be repeated',
    )
    parser.add_argument(
        '--whole', action='store_true', help='allocations of whole hosts, instead of slots'
    )
    options = parser.parse_args()
    sizes = [tuple(size) for size in options.size or _SIZES]
    load = bulk.Load if options.whole else bulk_parts.Parts
    engines.measure(options, *(functools.partial(_measure, size=size, load=load) for size in sizes))
    return 0


def _measure(engine: str, *, size: tuple[int, int], load: type[bulk.Load]) -> Iterator[Figure]:
    hosts, allocations = size
    with services.Database(engine) as database:
        cloud = load(hosts=hosts, allocations=allocations, now=SystemClock().now())
        _fill(cloud, database.url)
        # The first one may have to write byte code.
        for _ in range(2):
            child = parts.Child('benchmarks.sizes_process', database.url)
            try:
                found = child.answer()
            finally:
                child.close()
    name, what = engines.NAMES[engine], f'{hosts:,} hosts, {allocations:,} allocations'
    for key, unit, aim in (
        ('modules', '', None),
        ('memory, imported', 'MB', None),
        ('memory, ready', 'MB', None),
        ('memory, has searched', 'MB', _MOST.get(size)),
        ('memory, at most', 'MB', None),
        ('arrays', 'MB', None),
        ('processor time, imported', 's', None),
        ('processor time, ready', 's', _READY if hosts <= 1000 else None),
        ('load', 's', _LOADED.get(size)),
        ('processor time of the load', 's', None),
    ):
        yield Figure(engine=name, what=f'{what}: {key}', value=found[key], unit=unit, aim=aim)


def _fill(cloud: bulk.Load, url: str) -> None:
    core = parts.core(url)
    migration.sync(core.store.engine)
    cloud.fill(core.store.engine)
    core.store.close()


if __name__ == '__main__':
    sys.exit(main())
