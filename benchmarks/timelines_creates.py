# SPDX-License-Identifier: Apache-2.0

"""Measures whole creates of one host and of few slots."""

from __future__ import annotations

import random
from collections.abc import Callable
from collections.abc import Iterator
from typing import Any
from typing import Final

from benchmarks import engines
from benchmarks import parts
from benchmarks.figures import Figure
from benchmarks.figures import quantile
from benchmarks.processors import ProcessorClock
from climate import exceptions
from climate.booking.leases import Leases
from climate.clock import SystemClock
from climate.cmd import composition
from climate.db.migrations import migration
from climate.domain.requests import Caller
from climate.domain.requests import LeaseDraft
from climate.plugins.host import plugin as host_plugin
from tests import services
from tests.functional import bulk
from tests.functional import bulk_parts
from tests.functional.db import plans
from tests.functional.manager import slots

_CALLER: Final = Caller(user_id='u', project_id='project-1')
_ALLOCATIONS: Final = 100


def measure(engine: str, *, hosts: int, times: int) -> Iterator[Figure]:
    """Yield the processor time of creates, and the most statements of one.

    :param hosts: each with a hundred allocations
    :param times: how many creates of each kind
    """
    with services.Database(engine) as database:
        core = parts.core(database.url)
        migration.sync(core.store.engine)
        now = SystemClock().now()
        load = bulk_parts.Parts(hosts=hosts, allocations=_ALLOCATIONS * hosts, now=now)
        load.fill(core.store.engine)
        core.store.load_timelines([bulk.RESOURCE_TYPE])
        for what, body in _bodies(now).items():
            mine = _Creates(core, body)
            label = f'{hosts:,} hosts: create of {what}'
            name = engines.NAMES[engine]
            yield Figure(engine=name, what=label, value=quantile(mine.booked(times), 0.5))
            most = max(mine.statements() for _ in range(5))
            yield Figure(engine=name, what=f'{label}, statements', value=most, unit='')
        core.store.close()


def _bodies(now: Any) -> dict[str, Any]:
    """Return reservations by what they are of."""
    host = parts.lease_body('one', now)['reservations'][0]
    some = {
        'resource_type': slots.RESOURCE_TYPE,
        'demand': bulk_parts.DEMAND,
        'spread': 'any',
        'contrary': False,
    }
    few = {f'{count} slots': {**some, 'min': count, 'max': count} for count in (1, 5, 50)}
    return {'1 host': host, **few}


class _Creates:
    """Books an hour of the next weeks again and again."""

    def __init__(self, core: composition.Core, body: Any) -> None:
        plugins: list[Any] = [host_plugin.PhysicalHost.from_conf(core.conf), slots.Slots()]
        types = {plugin.resource_type: plugin for plugin in plugins}
        self._leases = Leases(
            core.store, types, core.clock, core.settings, lambda: None, random.Random(5)
        )
        self._store = core.store
        self._clock: Callable[[], float] = ProcessorClock(core.store.engine)
        self._now = core.clock.now
        self._rng = random.Random(3)
        self._body = body

    def _book(self) -> bool:
        start = self._now() + self._rng.randrange(60, 20 * 24 * 60) * parts.HOUR / 60
        draft = LeaseDraft(
            name='b', start=start, end=start + parts.HOUR, reservations=(self._body,)
        )
        try:
            self._leases.create(_CALLER, draft)
        except exceptions.NotEnoughResources:
            return False
        return True

    def booked(self, times: int) -> list[float]:
        """Return the processor time of each create that is not refused, in milliseconds."""
        self._book()
        spent = []
        for _ in range(times):
            began = self._clock()
            if self._book():
                spent.append((self._clock() - began) * 1000)
        return spent

    def statements(self) -> int:
        """Return how many statements a create takes; 0 if it is refused."""
        with plans.captured(self._store.engine) as statements:
            done = self._book()
        return len(statements) if done else 0
