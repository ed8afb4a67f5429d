# SPDX-License-Identifier: Apache-2.0

"""Measures searches in timelines.

Without a database it measures the earliest start and heat maps of dense hosts. Prints a
row for each measurement and a column for each engine; a figure that misses its target is
marked with an exclamation mark, and does not fail the run.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import pathlib
import random
import shutil
import sys
import time
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence

import numpy as np
import sqlalchemy as sa

from benchmarks import dense
from benchmarks import engines
from benchmarks import parts
from benchmarks import timelines_creates as creates
from benchmarks.capacity import Bench
from benchmarks.figures import Figure
from benchmarks.figures import gathered
from benchmarks.figures import quantile
from benchmarks.figures import show
from benchmarks.figures import timed
from benchmarks.processors import ProcessorClock
from climate.allocation import memory
from climate.allocation.availability import availability
from climate.allocation.blocks import Block
from climate.allocation.buckets import Buckets
from climate.allocation.earliest import earliest
from climate.allocation.earliest import Question
from climate.allocation.steps import microseconds
from climate.booking.leases import Leases
from climate.clock import SystemClock
from climate.cmd import composition
from climate.db.migrations import migration
from climate.domain.requests import Caller
from climate.domain.requests import LeaseDraft
from climate.domain.resources import Spread
from climate.plugins.host import plugin as host_plugin
from tests import services
from tests.functional import bulk
from tests.functional import bulk_parts

MEMORY = 'memory'
HOURS = 336
ALLOCATIONS = 100


def main() -> int:
    """Run the benchmark; return the exit status."""
    options = _parser().parse_args()
    sizes = options.hosts or ([1000] if options.small else [1000, 10_000])
    if options.dense:
        figures = [figure for hosts in sizes for figure in gathered(_dense(hosts, options))]
        show(figures, as_json=options.json)
        return 0
    if options.creates:
        times = 10 * options.times
        engines.measure(
            options,
            *(functools.partial(creates.measure, hosts=hosts, times=times) for hosts in sizes),
        )
        return 0
    engines.measure(
        options, *(functools.partial(_measure, hosts=hosts, options=options) for hosts in sizes)
    )
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = engines.parser(__doc__)
    parser.add_argument('--times', type=int, default=7, help='number of repetitions')
    parser.add_argument('--small', action='store_true', help='skip the million allocations')
    parser.add_argument(
        '--hosts', type=int, action='append', help='number of hosts; may be repeated'
    )
    parser.add_argument(
        '--allocations', type=int, default=ALLOCATIONS, help='number of allocations of each host'
    )
    parser.add_argument(
        '--data',
        type=pathlib.Path,
        help='folder for the data of SQLite: it is written once, and copied for each run',
    )
    parser.add_argument(
        '--dense', action='store_true', help='earliest starts and heat maps, without a database'
    )
    parser.add_argument(
        '--creates',
        action='store_true',
        help='only processor time and statements of creates of one host and of a few slots',
    )
    parser.add_argument(
        '--processor',
        action='store_true',
        help='measure processor time, of this process and the local database, on a busy machine',
    )
    return parser


# -- searches in a database


def _measure(engine: str, *, hosts: int, options: argparse.Namespace) -> Iterator[Figure]:
    with services.Database(engine) as database:
        now = SystemClock().now()
        load = bulk_parts.Parts(hosts=hosts, allocations=options.allocations * hosts, now=now)
        if engine == services.SQLITE and options.data:
            _copy(load, options.data, database.url)
        else:
            _fill(load, database.url)
        core = parts.core(database.url)
        aim = 10 if hosts <= 1000 else 50
        clock = ProcessorClock(core.store.engine) if options.processor else time.perf_counter
        side = _Side(
            engine=engines.NAMES[engine],
            core=core,
            size=f'{hosts:,} hosts',
            times=options.times,
            clock=clock,
        )
        yield from _loads(side)
        bench = Bench(side.engine, core, side.size, side.times, clock)
        yield from bench.choices(now, aim)
        yield from bench.creations(40 if hosts <= 1000 else 60)
        yield _create_of_one(side)
        yield from _maps(side, aim)
        sys.stderr.write(f'{side.engine}: {side.size}: {dict(core.store.timelines.counts.found)}\n')
        core.store.close()


def _fill(load: bulk_parts.Parts, url: str) -> None:
    core = parts.core(url)
    migration.sync(core.store.engine)
    load.fill(core.store.engine)
    if core.store.engine.dialect.name in ('mysql', 'mariadb'):
        _write_pages(core.store.engine)
    core.store.close()


def _write_pages(engine: sa.Engine) -> None:
    """Have MariaDB write the pages of the new rows to the disk.

    It otherwise writes them for a minute, and creates have to wait for the space in its log.
    """
    tables = ', '.join(sa.inspect(engine).get_table_names())
    with engine.connect() as connection:
        connection.exec_driver_sql(f'FLUSH TABLES {tables} FOR EXPORT')
        connection.exec_driver_sql('UNLOCK TABLES')


def _copy(load: bulk_parts.Parts, folder: pathlib.Path, url: str) -> None:
    """Fill a database of SQLite with what an earlier run has written, or write it."""
    kept = folder / f'{load.hosts}-{load.allocations}.sqlite'
    if not kept.exists():
        unfinished = kept.with_suffix('.new')
        unfinished.unlink(missing_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        _fill(load, f'sqlite:///{unfinished}')
        unfinished.rename(kept)
    shutil.copyfile(kept, str(sa.engine.make_url(url).database))


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Side:
    """A database that is searched."""

    engine: str
    core: composition.Core
    size: str
    times: int
    clock: Callable[[], float]

    def figure(self, what: str, value: float, unit: str = 'ms', aim: float | None = None) -> Figure:
        """Return a figure."""
        return Figure(
            engine=self.engine, what=f'{self.size}: {what}', value=value, unit=unit, aim=aim
        )

    def blocks(self) -> Sequence[Block]:
        """Return the timeline of all hosts."""
        with self.core.store.reading() as tx:
            return tx.timeline(bulk.RESOURCE_TYPE, tx.now)

    def once(self, work: Callable[[], object]) -> float:
        """Return how long *work* takes, in milliseconds."""
        began = self.clock()
        work()
        return (self.clock() - began) * 1000

    def median(self, work: Callable[[], object]) -> float:
        """Return the median of how long *work* takes, in milliseconds."""
        return quantile(timed(work, self.times, self.clock), 0.5)


def _loads(side: _Side) -> Iterator[Figure]:
    """Measure the first load, a validation, and what changed resources cost."""
    before = parts.resident_megabytes()
    yield side.figure('cold load', side.once(side.blocks))
    grown = parts.resident_megabytes() - before
    found = side.blocks()
    if not found:
        raise RuntimeError('the timeline was not loaded')
    yield side.figure('arrays', sum(map(memory.size, found)) / 1e6, unit='MB')
    yield side.figure('memory of the process, in addition', grown, unit='MB')
    yield side.figure('nothing has changed', side.median(side.blocks), aim=5)
    for number in (1, 50):
        changed = [int(one) for block in found for one in block.ids][:: len(found)][:number]
        spent = []
        for _ in range(side.times):
            side.core.store.run(lambda tx, ids=changed: [tx.resources.touch(one) for one in ids])
            spent.append(side.once(side.blocks))
        yield side.figure(f'{number} changed', quantile(spent, 0.5))


def _create_of_one(side: _Side) -> Figure:
    plugin = host_plugin.PhysicalHost.from_conf(side.core.conf)
    core = side.core
    leases = Leases(
        core.store,
        {plugin.resource_type: plugin},
        core.clock,
        core.settings,
        lambda: None,
        random.Random(5),
    )
    caller, rng = Caller(user_id='u', project_id='project-1'), random.Random(3)
    body = parts.lease_body('one', core.clock.now())['reservations'][0]

    def book() -> None:
        start = core.clock.now() + rng.randrange(60, 20 * 24 * 60) * parts.HOUR / 60
        end = start + parts.HOUR
        leases.create(caller, LeaseDraft(name='b', start=start, end=end, reservations=(body,)))

    found = quantile(timed(book, 3 * side.times, side.clock), 0.5)
    return side.figure('create of one host', found)


def _maps(side: _Side, aim: float) -> Iterator[Figure]:
    """Measure the availability of 14 days, and the earliest start of 50 slots."""
    blocks = side.blocks()
    now = microseconds(side.core.clock.now())
    groups = [np.zeros(len(block), dtype=np.int64) for block in blocks]
    buckets = Buckets(start=now, width=dense.HOUR, number=HOURS, since=now)
    for what, demand in (('all classes', {}), ('slots', bulk_parts.DEMAND)):
        work = functools.partial(availability, blocks, buckets, demand, groups, 1)
        yield side.figure(f'{HOURS} hours, {what}', side.median(work), aim=aim)
    for what, demand in (('hosts', {}), ('slots', bulk_parts.DEMAND)):
        for hours in (1, 24):
            question = _question(now, demand, hours)
            for count in (50, 100_000_000):
                asked = dataclasses.replace(question, count=count)
                outcome = '' if earliest(blocks, asked) is not None else ', none at all'
                yield side.figure(
                    f'earliest start of {count:,} {what} for {hours} h{outcome}',
                    side.median(functools.partial(earliest, blocks, asked)),
                    aim=20 if aim == 10 else 150,
                )


# -- earliest starts in memory


def _dense(hosts: int, options: argparse.Namespace) -> Iterator[Figure]:
    memory.keep_freed()
    aim = 20 if hosts <= 1000 else 150
    clock = time.process_time if options.processor else time.perf_counter

    def median(work: Callable[[], object]) -> float:
        return quantile(timed(work, options.times, clock), 0.5)

    for name, allocations, days in (('dense', 50, 15), ('sparse', 100, 365)):
        blocks = list(dense.blocks(hosts, allocations=allocations, days=days))
        for what, question in _questions():
            enough = _most(blocks, question)
            for count, outcome in ((enough, 'the most'), (enough + 1, 'none at all')):
                asked = dataclasses.replace(question, count=count)
                yield Figure(
                    engine=MEMORY,
                    what=f'{hosts:,} hosts, {name}: {what}, {outcome}',
                    value=median(functools.partial(earliest, blocks, asked)),
                    aim=aim,
                )
        for demand, what in (({}, 'all classes'), ({dense.CLASS: 1}, 'slots')):
            yield Figure(
                engine=MEMORY,
                what=f'{hosts:,} hosts, {name}: {HOURS} hours, {what}',
                value=median(functools.partial(_map, blocks, demand)),
                aim=5 if hosts <= 1000 else 50,
            )


def _questions() -> Iterator[tuple[str, Question]]:
    """Yield what is asked of 14 days; the number of slots does not count yet."""
    for hours in (1, 24):
        for demand in ({dense.CLASS: 1}, {dense.CLASS: 16}, {}):
            what = f'slots of {demand[dense.CLASS]}' if demand else 'whole hosts'
            yield f'earliest {what} for {hours} h', _question(dense.NOW + dense.DAY, demand, hours)


def _question(now: int, demand: Mapping[str, int], hours: int) -> Question:
    return Question(
        demand=demand,
        count=1,
        spread=Spread.ANY,
        length=hours * dense.HOUR,
        earliest=now,
        latest=now + 14 * dense.DAY,
    )


def _most(blocks: Sequence[Block], question: Question) -> int:
    """Return the largest number of slots for which there is a start."""
    low, high = 0, len(blocks) * dense.UNITS * len(blocks[0])
    while high - low > 1:
        middle = (low + high) // 2
        found = earliest(blocks, dataclasses.replace(question, count=middle))
        low, high = (middle, high) if found is not None else (low, middle)
    return low


def _map(blocks: Sequence[Block], demand: Mapping[str, int]) -> None:
    groups = [np.zeros(len(block), dtype=np.int64) for block in blocks]
    buckets = Buckets(start=dense.NOW, width=dense.HOUR, number=HOURS, since=dense.NOW)
    availability(blocks, buckets, demand, groups, 1)


if __name__ == '__main__':
    sys.exit(main())
