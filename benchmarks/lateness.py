# SPDX-License-Identifier: Apache-2.0
"""Measures the lateness of a manager when a thousand leases start within ten seconds."""

from __future__ import annotations

import datetime
import pathlib
import random
import time
import uuid
from collections.abc import Iterator

from benchmarks import parts
from benchmarks.figures import Figure
from benchmarks.figures import quantile
from climate.cmd import composition
from climate.simulator import SimulatedCloud
from tests.functional import bulk

_SPREAD = 10.0
_LEAD = datetime.timedelta(seconds=8)
_DEADLINE = 120.0
# The number of leases that start some seconds earlier, and are not counted. They make
# the manager open its connections and compile its statements.
_WARM_UP = 40
_BEFORE = datetime.timedelta(seconds=4)


def lateness(
    engine: str, url: str, directory: pathlib.Path, *, count: int, managers: int
) -> Iterator[Figure]:
    """Measure the time from the due time of a start to its first call to the cloud.

    :param directory: the directory of the simulated cloud; empty
    :param managers: the number of processes that share the work
    """
    core = parts.core(url)
    cloud = SimulatedCloud(directory, clock=core.clock)
    try:
        _host(core, cloud, count + _WARM_UP)
        children = [parts.Child('benchmarks.manager', url, directory) for _ in range(managers)]
        try:
            for child in children:
                child.answer()
            before = _states(children)
            due = _starts(core, count)
            cloud.keep_journal()
            _wait(core, due)
            after = _states(children)
        finally:
            for child in children:
                child.close()
        late = _late(cloud, due)
    finally:
        cloud.close()
        core.store.close()
    what = f'{count} starts within {_SPREAD:g} s, {managers} manager{"s" * (managers > 1)}'
    for share, aim in ((0.5, None), (0.99, 100.0)):
        yield Figure(
            engine=engine,
            what=f'{what}: late, p{share * 100:g}',
            value=1000 * quantile(late, share),
            aim=aim,
            samples=tuple(1000 * each for each in late) if aim else (),
        )
    used = sum(state['cpu'] for state in after) - sum(state['cpu'] for state in before)
    yield Figure(
        engine=engine, what=f'{what}: CPU for each', value=1000 * used / (count + _WARM_UP)
    )
    memory = max(state['megabytes'] for state in after)
    yield Figure(
        engine=engine, what=f'{what}: memory of a manager', value=memory, unit='MB', aim=150
    )


def _states(children: list[parts.Child]) -> list[dict[str, float]]:
    for child in children:
        child.send('state')
    return [child.answer() for child in children]


def _host(core: composition.Core, cloud: SimulatedCloud, count: int) -> None:
    """Add hosts to the simulated cloud and to the database, as if registered."""
    cloud.seed(count)
    freepool = cloud.compute.find_aggregate('freepool')
    assert freepool is not None
    hypervisors = {each.hostname: each.id for each in cloud.hypervisors()}
    for name in hypervisors:
        cloud.compute.add_host(freepool.id, name)
    bulk.Load(hosts=count, allocations=0, now=core.clock.now()).fill(core.store.engine)
    # A start uses the id to find servers of other projects.
    bulk.insert(
        core.store.engine,
        'properties',
        'resource_id, kind, name, value, number',
        (
            (number, 'attribute', 'hypervisor_id', hypervisors[f'compute-{number}'], None)
            for number in range(1, count + 1)
        ),
    )


def _starts(core: composition.Core, count: int) -> dict[str, datetime.datetime]:
    """Write leases of one host each; return when each reservation starts."""
    rng = random.Random(11)
    first = core.clock.now() + _LEAD
    due: dict[str, datetime.datetime] = {}
    leases, reservations, events, allocations = [], [], [], []
    for host in range(1, count + _WARM_UP + 1):
        lease_id, start = str(uuid.uuid4()), first + _SPREAD * rng.random() * parts.HOUR / 3600
        if host <= _WARM_UP:
            start = first - _BEFORE
        else:
            due[lease_id] = start
        begin, end = bulk.text(start), bulk.text(start + 24 * parts.HOUR)
        leases.append(
            (lease_id, 'l', 'u', 'p', begin, end, 'PENDING', 0, '{}', begin, bulk.text(first))
        )
        reservations.append(
            (lease_id, lease_id, 0, bulk.RESOURCE_TYPE, 'pending', bulk.REQUEST, '{}', 0, 0)
        )
        for kind, time_ in (('start_lease', begin), ('end_lease', end)):
            event_id = str(uuid.uuid4())
            events.append((event_id, lease_id, kind, time_, time_, 'UNDONE', 0, '{}'))
        allocations.append((lease_id, host, None, 1, begin, end, 'booked'))
    engine = core.store.engine
    # Managers see the leases only after the update of next_due, with all their rows.
    bulk.insert(engine, 'leases', bulk.LEASES, [(*row[:9], None, row[10]) for row in leases])
    bulk.insert(engine, 'reservations', bulk.RESERVATIONS, reservations)
    bulk.insert(engine, 'events', bulk.EVENTS, events)
    bulk.insert(engine, 'allocations', bulk.ALLOCATIONS, allocations)
    with engine.begin() as connection:
        connection.exec_driver_sql('UPDATE leases SET next_due = start_date')
    bulk.analyze(engine)
    return due


def _wait(core: composition.Core, due: dict[str, datetime.datetime]) -> None:
    """Wait until every lease is active.

    :raises RuntimeError: if that takes too long
    """
    deadline = time.monotonic() + _DEADLINE
    last = max(due.values())
    while (left := (last - core.clock.now()).total_seconds()) > 0:
        time.sleep(min(left, 1.0))
    while True:
        with core.store.engine.connect() as connection:
            active = connection.exec_driver_sql(
                "SELECT count(*) FROM leases WHERE status = 'ACTIVE'"
            ).scalar_one()
        if active == len(due) + _WARM_UP:
            return
        if time.monotonic() > deadline:
            raise RuntimeError(f'only {active} of {len(due) + _WARM_UP} leases have started')
        time.sleep(0.2)


def _late(cloud: SimulatedCloud, due: dict[str, datetime.datetime]) -> list[float]:
    first: dict[str, float] = {}
    for call in cloud.journal():
        for argument in call.arguments:
            if isinstance(argument, str) and argument in due and argument not in first:
                first[argument] = (call.at - due[argument]).total_seconds()
    return list(first.values())
