# SPDX-License-Identifier: Apache-2.0

"""The processor time of plans of many leases, and of creates that displace some."""

from __future__ import annotations

import datetime
import json
import random
from collections.abc import Iterator
from typing import Any
from typing import ClassVar
from typing import Final

import sqlalchemy as sa

from benchmarks import planner_service
from benchmarks.engines import NAMES
from benchmarks.figures import Figure
from benchmarks.figures import quantile
from benchmarks.planner_service import PlannedService
from climate.db.schema import tables
from climate.db.schema import types
from tests.functional import bulk

SIZES: Final = {(1_000, 100_000): 0.5, (10_000, 1_000_000): 5.0}
"""The aims of a plan, in seconds of processor time, by hosts and allocations."""

_DISPLACED: Final = 20
_LEASES: Final = tables.LEASES
_RESOURCES: Final = tables.RESOURCES


class DenseLoad(bulk.Load):
    """Resources that leases of random length have all the time, one after the other."""

    reserved_type: ClassVar[str] = planner_service.NODE
    request: ClassVar[str] = json.dumps({'min': 10, 'max': 10, 'resource_properties': ''})

    def _leases(self) -> Iterator[tuple[bulk.Row, range]]:
        rng = random.Random(7)
        before = {1: self.now - self.slots * bulk.HOUR / 2}
        for row, hosts in super()._leases():
            start = before.setdefault(hosts.start, before[1])
            end = start + bulk.HOUR * rng.uniform(0.25, 1.75)
            before[hosts.start] = end
            yield self._at(row, start, end), hosts

    def _at(self, row: bulk.Row, start: datetime.datetime, end: datetime.datetime) -> bulk.Row:
        over, started = end <= self.now, start <= self.now
        status = 'TERMINATED' if over else 'ACTIVE' if started else 'PENDING'
        due = None if over else bulk.text(end if started else start)
        asked = bulk.text(start - 24 * bulk.HOUR)
        return (*row[:4], bulk.text(start), bulk.text(end), status, *row[7:9], due, asked)


def plan(engine: str, hosts: int, allocations: int, times: int = 3) -> Iterator[Figure]:
    """Measure plans after one lease has ended early.

    There are as many flexible leases as hosts, among others that are fixed.
    """
    with PlannedService(engine, 0) as service:
        load = DenseLoad(hosts=hosts, allocations=allocations, now=service.clock.now())
        load.fill(service.core.store.engine)
        _make_flexible(service, hosts)
        service.planner.round()
        spent, moves = [], []
        for lease_id in _active(service, times):
            service.end(lease_id)
            service.work()
            began = service.used()
            moves.append(service.planner.round())
            spent.append(service.used() - began)
    what = f'plan of {hosts:,} leases on {hosts:,} hosts, {allocations:,} allocations'
    aim = SIZES.get((hosts, allocations))
    name = NAMES[engine]
    yield Figure(engine=name, what=what, value=quantile(spent, 0.5), unit='s', aim=aim)
    yield Figure(engine=name, what=f'{what}: moves', value=quantile(moves, 0.5), unit='')


def _make_flexible(service: PlannedService, count: int) -> None:
    """Make leases flexible that have not begun, evenly among the first four of five.

    The last ones would move into what is free at the end.
    """
    pending = sa.select(_LEASES.c.id, _LEASES.c.start_date).where(_LEASES.c.status == 'PENDING')
    change = sa.update(_LEASES).where(_LEASES.c.id == sa.bindparam('row_id'))
    options = {'earliest': planner_service.BEGIN.isoformat(), 'firm_before': 0}
    with service.core.store.engine.begin() as connection:
        connection.execute(sa.update(_RESOURCES).values(resource_type=planner_service.NODE))
        rows = connection.execute(pending.order_by(_LEASES.c.start_date)).all()
        rows = rows[: len(rows) * 4 // 5]
        connection.execute(
            change.values(
                firm_at=sa.bindparam('start', type_=types.UtcDateTime()), options=options
            ),
            [{'row_id': row.id, 'start': row.start_date} for row in rows[:: len(rows) // count]],
        )


def _active(service: PlannedService, count: int) -> list[str]:
    """Return the leases that last longest of those that have begun."""
    query = sa.select(_LEASES.c.id).where(_LEASES.c.status == 'ACTIVE')
    with service.core.store.reading() as tx:
        found = tx.session.scalars(query.order_by(_LEASES.c.end_date.desc()).limit(count))
        return list(found)


def displacement(engine: str, times: int = 5) -> Iterator[Figure]:
    """Measure creates of a lease with a fixed start that displace some flexible ones."""
    spent = []
    with PlannedService(engine, planner_service.NODES) as service:
        each = planner_service.NODES // _DISPLACED
        _book(service, each * _DISPLACED, _fixed(0, 12))
        for _ in range(_DISPLACED):
            _book(service, each, {'duration': '2h'})
        for number in range(times + 1):
            hour = 12 + 2 * number
            began = service.used()
            _book(service, each * _DISPLACED, _fixed(hour, hour + 2))
            spent.append(service.used() - began)
            moved = sum(start >= (hour + 2) * 3600 for start in service.waiting().values())
            if moved != _DISPLACED:
                raise RuntimeError(f'{moved} leases were displaced')
    what = f'create that displaces {_DISPLACED} leases'
    value = quantile(spent[1:], 0.5) * 1000
    yield Figure(engine=NAMES[engine], what=what, value=value, aim=100.0)


def _fixed(first: int, last: int) -> dict[str, Any]:
    return {
        'start_date': planner_service.written(3600 * first),
        'end_date': planner_service.written(3600 * last),
    }


def _book(service: PlannedService, nodes: int, facts: dict[str, Any]) -> None:
    if service.book(nodes, **facts) is None:
        raise RuntimeError('a lease was refused')
