# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of the constraints and triggers of the database for a create.

Creates the same leases, in turn, on two databases with the same rows, one of which has
the constraints and triggers. The result is the processor time of this process and the
database, which other work on the machine does not affect.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import datetime
import random
import sys
import time
from collections.abc import Callable
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from benchmarks import engines
from benchmarks import parts
from benchmarks.figures import Figure
from benchmarks.figures import quantile
from benchmarks.processors import ProcessorClock
from climate.booking.leases import Leases
from climate.clock import SystemClock
from climate.cmd import composition
from climate.db.migrations import migration
from climate.domain.requests import Caller
from climate.domain.requests import LeaseDraft
from climate.leases.settings import LeasingSettings
from climate.plugins.host import plugin as host_plugin
from tests import services
from tests.functional import bulk
from tests.functional import bulk_parts
from tests.functional.db import unguarded
from tests.functional.manager import slots

SLOTS = 50
HOSTS = 1000
# The target: at most a tenth more than a create without the constraints and triggers.
MOST = 1.1

_CALLER = Caller(user_id='u', project_id='project-1')
_SLOT_BODY = {
    'resource_type': slots.RESOURCE_TYPE,
    'min': SLOTS,
    'max': SLOTS,
    'demand': bulk_parts.DEMAND,
    'spread': 'any',
    'contrary': False,
}
_HOST_BODY = {
    'resource_type': host_plugin.RESOURCE_TYPE,
    'min': 1,
    'max': 1,
    'hypervisor_properties': '',
    'resource_properties': '',
}


def main() -> int:
    """Run the benchmark; return the exit status."""
    options = _parser().parse_args()
    engines.measure(options, lambda engine: _measure(engine, options))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = engines.parser(__doc__)
    parser.add_argument('--times', type=int, default=120, help='number of creates on each side')
    parser.add_argument('--warm', type=int, default=10, help='number of creates before these')
    parser.add_argument(
        '--allocations', type=int, default=100_000, help='number of existing allocations'
    )
    return parser


def _measure(engine: str, options: argparse.Namespace) -> Iterator[Figure]:
    loads: tuple[tuple[type[bulk.Load], dict[str, Any], Any, str], ...] = (
        (bulk.Load, _HOST_BODY, host_plugin.PhysicalHost, 'one host'),
        (bulk_parts.Parts, _SLOT_BODY, slots.Slots, f'{SLOTS} slots of 2 classes'),
    )
    for load, body, plugin, what in loads:
        now = SystemClock().now()
        with contextlib.ExitStack() as stack:
            sides = []
            for guarded in (False, True):
                core = parts.core(stack.enter_context(services.Database(engine)).url)
                stack.callback(core.store.close)
                migration.sync(core.store.engine)
                load(hosts=HOSTS, allocations=options.allocations, now=now).fill(core.store.engine)
                if not guarded:
                    with core.store.engine.begin() as connection:
                        unguarded.remove(connection)
                create = _creator(core, plugin.from_conf(core.conf), body, now)
                sides.append(_Side(engine=core.store.engine, create=create))
            yield from _compared(engines.NAMES[engine], (sides[0], sides[1]), what, options)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Side:
    """A database with or without the constraints and triggers, and a create there."""

    engine: sa.Engine
    create: Callable[[], None]


def _creator(
    core: composition.Core, plugin: Any, body: dict[str, Any], now: datetime.datetime
) -> Callable[[], None]:
    leases = Leases(
        core.store,
        {plugin.resource_type: plugin},
        core.clock,
        LeasingSettings(),
        lambda: None,
        random.Random(5),
    )
    # The same seed on both sides, so that each create is compared with itself.
    rng = random.Random(3)

    def create() -> None:
        start = now + rng.randrange(60, 20 * 24 * 60) * parts.HOUR / 60
        end = start + parts.HOUR
        leases.create(_CALLER, LeaseDraft(name='b', start=start, end=end, reservations=(body,)))

    return create


def _compared(
    engine: str, sides: tuple[_Side, _Side], what: str, options: argparse.Namespace
) -> Iterator[Figure]:
    for _ in range(options.warm):
        for side in sides:
            side.create()
    clocks = [ProcessorClock(side.engine) for side in sides]
    walls: tuple[list[float], list[float]] = ([], [])
    works: tuple[list[float], list[float]] = ([], [])
    for number in range(options.times):
        # The sides take turns in being first, because the second one may benefit.
        for place in (number % 2, 1 - number % 2):
            began, worked = time.perf_counter(), clocks[place]()
            sides[place].create()
            works[place].append((clocks[place]() - worked) * 1000)
            walls[place].append((time.perf_counter() - began) * 1000)
    for kind, (without, with_) in (('processor', works), ('clock', walls)):
        # The first quartile, because other work on the machine only adds to the times.
        bare, kept = quantile(without, 0.25), quantile(with_, 0.25)
        yield Figure(engine=engine, what=f'{what}, {kind}, without', value=bare)
        yield Figure(engine=engine, what=f'{what}, {kind}, with', value=kept)
        yield Figure(
            engine=engine,
            what=f'{what}, {kind}, percent of that without',
            value=kept / bare * 100,
            unit='%',
            # On a busy machine, the wall-clock time is not reliable.
            aim=MOST * 100 if kind == 'processor' else None,
        )


if __name__ == '__main__':
    sys.exit(main())
