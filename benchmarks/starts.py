# SPDX-License-Identifier: Apache-2.0
"""Measures how many leases a manager starts, on each engine.

The effects do nothing, so the figures are those of Climate and of the database.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import sys
import time
import uuid
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Any

from benchmarks import engines
from benchmarks import parts
from benchmarks.figures import Figure
from benchmarks.figures import quantile
from climate.cmd import composition
from climate.db.migrations import migration
from tests import services
from tests.functional import bulk

_WORKERS = 64
# The aim for batches of fifty.
_STATEMENTS = 5.0
# Of the lateness of 99 %, in milliseconds, by starts a second.
_AIMS = {100: 60.0, 500: 100.0}
_DEADLINE = 300.0
# Time to write the leases before the first is due, in seconds, and for each lease.
_LEAD = 5.0
_LEAD_EACH = 0.001
_SMALL = 'small'


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Due:
    """A lease that is to start.

    :ivar after: seconds after the first
    """

    project: str
    after: float
    id: str = dataclasses.field(default_factory=lambda: str(uuid.uuid4()))


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Run:
    """What a manager has done.

    :ivar late: the seconds from the due time of each start to its effect, by lease id
    :ivar seconds: from the first due time to the last settled start
    :ivar cpu: processor time of all managers, in seconds
    :ivar database_cpu: that of the server of the database
    :ivar statements: the number of statements of all managers
    """

    late: dict[str, float]
    seconds: float
    cpu: float
    database_cpu: float
    statements: int


def main() -> int:
    """Run the benchmark; return the exit status."""
    parser = engines.parser(__doc__)
    parser.add_argument('--backlog', type=int, default=1000, help='number of leases in a backlog')
    parser.add_argument('--seconds', type=float, default=8.0, help='duration of a steady rate')
    parser.add_argument(
        '--rate', type=int, action='append', help='starts a second; may be repeated'
    )
    parser.add_argument('--crowd', type=int, default=10_000, help='leases due in one second')
    parser.add_argument(
        '--only', choices=('backlog', 'rates', 'crowd'), help='skip everything else'
    )
    parser.add_argument('--managers', type=int, default=1, help='number of processes')
    options = parser.parse_args()
    engines.measure(options, lambda engine: _measure(engine, options))
    return 0


def _measure(engine: str, options: argparse.Namespace) -> Iterator[Figure]:
    if options.only in (None, 'backlog'):
        yield from _backlog(engine, options.backlog, options.managers)
    if options.only in (None, 'rates'):
        for rate in options.rate or (100, 500):
            yield from _rate(engine, rate, options.seconds, options.managers)
    if options.only in (None, 'crowd'):
        yield from _crowd(engine, options.crowd, options.managers)


def _backlog(engine: str, count: int, managers: int) -> Iterator[Figure]:
    """Start leases that are all due already."""
    due = [_Due(project=f'p{n % 10}', after=0.0) for n in range(count)]
    run = _run(engine, due, managers)
    name, what = engines.NAMES[engine], f'{count} starts from a backlog'
    yield Figure(engine=name, what=what, value=count / run.seconds, unit='/s')
    yield Figure(engine=name, what=f'{what}: CPU for each', value=1000 * run.cpu / count)
    value = 1000 * run.database_cpu / count
    yield Figure(engine=name, what=f'{what}: CPU of the database for each', value=value)
    value, what = run.statements / count, f'{what}: statements for each'
    yield Figure(engine=name, what=what, value=value, unit='', aim=_STATEMENTS)


def _rate(engine: str, rate: int, seconds: float, managers: int) -> Iterator[Figure]:
    """Start leases at a steady rate."""
    count = int(rate * seconds)
    due = [_Due(project=f'p{n % 10}', after=n / rate) for n in range(count)]
    run = _run(engine, due, managers)
    name, what = engines.NAMES[engine], f'{rate} starts/s'
    late = [1000 * each for each in run.late.values()]
    for share, aim in ((0.5, None), (0.99, _AIMS.get(rate))):
        value = quantile(late, share)
        yield Figure(engine=name, what=f'{what}: late, p{share * 100:g}', value=value, aim=aim)
    yield Figure(engine=name, what=f'{what}: CPU for each', value=1000 * run.cpu / count)


def _crowd(engine: str, count: int, managers: int) -> Iterator[Figure]:
    """Start leases that are due in one second, a hundredth of them those of one project."""
    due = [_Due(project='large' if n % 100 else _SMALL, after=n / count) for n in range(count)]
    run = _run(engine, due, managers)
    name, what = engines.NAMES[engine], f'{count:,} due in one second'
    small = [run.late[each.id] for each in due if each.project == _SMALL]
    yield Figure(
        engine=name, what=f'{what}: last begun', value=max(run.late.values()), unit='s', aim=15
    )
    yield Figure(engine=name, what=f'{what}: of a small project', value=max(small), unit='s')
    yield Figure(engine=name, what=f'{what}: CPU for each', value=1000 * run.cpu / count)


def _run(engine: str, leases: Sequence[_Due], managers: int) -> _Run:
    """Have managers start leases."""
    with services.Database(engine) as database:
        core = parts.core(database.url)
        migration.sync(core.store.engine)
        bulk.Load(hosts=len(leases), allocations=0, now=core.clock.now()).fill(core.store.engine)
        arguments = (database.url, _WORKERS)
        children = [parts.Child('benchmarks.starter', *arguments) for _ in range(managers)]
        try:
            for child in children:
                child.answer()
            before = _state(children, database.url)
            lead = _LEAD + _LEAD_EACH * len(leases)
            first = core.clock.now() + datetime.timedelta(seconds=lead)
            due = _write(core, leases, first)
            _wait(core, len(leases), max(due.values()))
            seconds = (core.clock.now() - first).total_seconds()
            after = _state(children, database.url)
        finally:
            for child in children:
                child.close()
            core.store.close()
    begun = {key: datetime.datetime.fromisoformat(at) for key, at in after['begun'].items()}
    late = {key: (begun[key] - at).total_seconds() for key, at in due.items()}
    used = {key: after[key] - before[key] for key in ('cpu', 'database_cpu', 'statements')}
    return _Run(late=late, seconds=seconds, **used)


def _state(children: Sequence[parts.Child], url: str) -> dict[str, Any]:
    """Return what all managers have used and begun so far."""
    for child in children:
        child.send('state')
    states = [child.answer() for child in children]
    return {
        'cpu': sum(state['cpu'] for state in states),
        'database_cpu': parts.database_seconds(url),
        'statements': sum(state['statements'] for state in states),
        'begun': {key: at for state in states for key, at in state['begun'].items()},
    }


def _write(
    core: composition.Core, leases: Sequence[_Due], first: datetime.datetime
) -> dict[str, datetime.datetime]:
    """Write leases of one host each; return when each starts, by id."""
    due = {each.id: first + datetime.timedelta(seconds=each.after) for each in leases}
    rows, reservations, events, allocations = [], [], [], []
    for host, each in enumerate(leases, start=1):
        begin, end = bulk.text(due[each.id]), bulk.text(due[each.id] + 24 * parts.HOUR)
        rows.append((each.id, 'l', 'u', each.project, begin, end, 'PENDING', 0, '{}', None, begin))
        reservations.append(
            (each.id, each.id, 0, bulk.RESOURCE_TYPE, 'pending', bulk.REQUEST, '{}', 0, 0)
        )
        for kind, at in (('start_lease', begin), ('end_lease', end)):
            events.append((str(uuid.uuid4()), each.id, kind, at, at, 'UNDONE', 0, '{}'))
        allocations.append((each.id, host, None, 1, begin, end, 'booked'))
    engine = core.store.engine
    # A manager sees the leases only after the update of next_due, with all their rows.
    bulk.insert(engine, 'leases', bulk.LEASES, rows)
    bulk.insert(engine, 'reservations', bulk.RESERVATIONS, reservations)
    bulk.insert(engine, 'events', bulk.EVENTS, events)
    bulk.insert(engine, 'allocations', bulk.ALLOCATIONS, allocations)
    bulk.analyze(engine)
    with engine.begin() as connection:
        connection.exec_driver_sql('UPDATE leases SET next_due = start_date')
    if core.clock.now() > first:
        sys.stderr.write('the leases were written too late\n')
    return due


def _wait(core: composition.Core, count: int, last: datetime.datetime) -> None:
    """Wait until every lease is active.

    :raises RuntimeError: if that takes too long
    """
    time.sleep(max((last - core.clock.now()).total_seconds(), 0.0))
    deadline = time.monotonic() + _DEADLINE
    active = 0
    while active < count:
        if time.monotonic() > deadline:
            raise RuntimeError(f'only {active} of {count} leases have started')
        time.sleep(0.1)
        with core.store.engine.connect() as connection:
            active = connection.exec_driver_sql(
                "SELECT count(*) FROM leases WHERE status = 'ACTIVE'"
            ).scalar_one()


if __name__ == '__main__':
    sys.exit(main())
