# SPDX-License-Identifier: Apache-2.0

"""Processes that plan, displace, rebind and yield, and die at any statement."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Callable
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from climate import exceptions
from climate.domain.leases import Lease
from climate.plugins.custom.plugin import Custom
from climate.testing.deployment import at
from climate.testing.kinds import TypeRegistrar
from climate.upkeep.planning import Planner
from tests import base
from tests import drafts
from tests import services
from tests.functional import race_case
from tests.functional.manager import harness
from tests.functional.manager.harness import Site

GREEN = dataclasses.replace(harness.CALLER, project_id='green')
SETTINGS = harness.changed(
    # Not what others have taken that died.
    yield_seconds=((drafts.RACKS.name, 0),),
    notify_before_start=(),
    check_interval=harness.at(0) - harness.NOW,
)
_DAY = 86400
_HOUR = 3600


class Gone(Exception):
    """The process is gone."""


class KilledPlanners(base.TestCase):
    """A deployment with four hosts and two racks; each scenario is in a day of its own.

    A scenario returns whether it had as many statements as the number that it gets.
    """

    kind = services.SQLITE

    def setUp(self) -> None:
        super().setUp()
        self.site = self.useFixture(Site(SETTINGS, self.kind))
        self.site.plugins[drafts.RACKS.name] = Custom(drafts.RACKS)
        registrar = TypeRegistrar(self.site.store, self.site.plugins, self.site.cloud)
        for name in ('rack-1', 'rack-2'):
            registrar.register(drafts.RACKS.name, name)
        self.left, self.dead = 0, False
        for name in ('before_cursor_execute', 'commit'):
            sa.event.listen(self.site.store.engine, name, self.count)

    def count(self, connection: sa.Connection, *_: Any) -> None:
        """Let the process die at the last of some statements: no other comes through."""
        self.left -= 1
        self.dead = self.dead or self.left == 0
        if self.dead:
            connection.invalidate()
            raise Gone('the process is gone')

    @contextlib.contextmanager
    def dying(self, number: int) -> Iterator[list[bool]]:
        """Die at a statement; the list then says whether there were so many."""
        killed: list[bool] = []
        self.left = number
        # What becomes of it does not matter.
        with contextlib.suppress(Exception):
            yield killed
        killed.append(self.dead)
        self.left, self.dead = 0, False
        self.assertEqual(0, race_case.overlaps(self.site.store))

    def walk(self, scenario: Callable[[int], bool], least: int) -> None:
        """Let the process of a scenario die at each of its statements."""
        for number in itertools.count(1):
            if not scenario(number):
                break
        self.assertGreater(number, least)

    def again(self, call: Callable[[], Lease]) -> Lease:
        """Return the lease that was booked before its process died, or book it now."""
        found = [one for one in self.site.every_lease() if one.name == 'dies']
        lease = found[0] if found else call()
        self.assertEqual([], [one.id for one in found[1:]])
        return lease

    def check(self, *leases: Lease) -> list[float]:
        """Check that leases have what they have when they have it; return their starts."""
        found = [self.site.now(one) for one in leases]
        for one in found:
            self.assertEqual({one.period}, {item.period for item in self.site.allocations(one)})
        self.assertEqual(0, race_case.overlaps(self.site.store))
        return [(one.period.start - harness.NOW).total_seconds() for one in found]

    # -- scenarios

    def plans(self, number: int) -> bool:
        """A planner dies, and another goes on."""
        site, day = self.site, number * _DAY
        fixed = site.create(day, day + 7200, hosts=4)
        window = {'hosts': 4, 'earliest': at(day)}
        moves = site.create(day, day + 1200, **window)
        site.clock.advance(0.001)
        waits = site.create(day, day + 1200, **window, latest=at(day + 7200), waits=True)
        self.assertEqual((at(day + 7200), 'WAITING'), (moves.period.start, site.status(waits)))
        site.delete(fixed)
        with self.dying(number) as killed:
            Planner(site.leases).round()
        other = Planner(site.leases)
        other.round()
        self.assertEqual(0, other.round())
        self.assertEqual([day, day + 1200], self.check(moves, waits))
        for one in (moves, waits):
            self.assertEqual('PENDING', site.status(one))
            site.delete(one)
        return killed[0]

    def displaces(self, number: int) -> bool:
        """A request dies that takes the place of leases that move."""
        site, day = self.site, number * _DAY
        window = {'earliest': at(day), 'latest': at(day + 7200)}
        moves = [site.create(day, day + 1200, **window) for _ in range(4)]
        with self.dying(number) as killed:
            site.create(day, day + 1200, hosts=4, name='dies')
        fixed = self.again(lambda: site.create(day, day + 1200, hosts=4, name='dies'))
        self.assertEqual([day, *[day + 1200] * 4], self.check(fixed, *moves))
        for one in (fixed, *moves):
            site.delete(one)
        return killed[0]

    def rebinds(self, number: int) -> bool:
        """A request dies for which another lease gets another host."""
        site, day = self.site, number * _DAY
        leases = [site.create(day, day + 5 * _HOUR, hosts=2), site.create(day, day + 2 * _HOUR)]
        later = [site.create(day + 3 * _HOUR, day + 5 * _HOUR) for _ in range(2)]
        had = {item.resource_id for item in site.allocations(leases[1])}
        for one in later:
            if had & {item.resource_id for item in site.allocations(one)}:
                site.delete(one)
            else:
                leases.append(one)
        with self.dying(number) as killed:
            site.create(day + _HOUR, day + 4 * _HOUR, name='dies')
        lease = self.again(lambda: site.create(day + _HOUR, day + 4 * _HOUR, name='dies'))
        starts = [day + _HOUR, day, day, day + 3 * _HOUR]
        self.assertEqual(starts, self.check(lease, *leases))
        for one in (lease, *leases):
            site.delete(one)
        return killed[0]

    def preempts(self, number: int) -> bool:
        """A request dies to which a lease that runs has to yield."""
        slice_, now = self.slice()
        with self.dying(number) as killed:
            self.cut(now)
        self.again(lambda: self.cut(now))
        self.assertEqual(at(now + 1200), self.site.now(slice_).period.end)
        self.over(slice_, now)
        return killed[0]

    def yields(self, number: int) -> bool:
        """A manager dies while a lease yields and another begins, and one takes over."""
        slice_, now = self.slice()
        self.cut(now)
        self.site.until(now + 1199)
        with self.dying(number) as killed:
            self.site.until(now + 1210)
        if killed[0]:
            self.site.manager = self.site.add_manager()
        self.over(slice_, now)
        return killed[0]

    def slice(self) -> tuple[Lease, float]:
        """Return a lease of all racks that runs and can be suspended, and the time."""
        site = self.site
        now = site.seconds()
        draft = drafts.lease(at(now), at(now + _HOUR), _racks(), asked_at=at(now))
        draft = dataclasses.replace(draft, earliest=draft.start, preemptible=True)
        lease = site.leases.create(GREEN, draft)
        self.assertEqual('ACTIVE', site.status_at(now + 60, lease))
        return lease, now

    def cut(self, now: float) -> Lease:
        """Book what the lease has to yield to."""
        start, end = at(now + 1200), at(now + 2400)
        asked_at = self.site.clock.now()
        draft = drafts.lease(start, end, _racks(), name='dies', asked_at=asked_at)
        return self.site.leases.create(harness.CALLER, draft)

    def over(self, slice_: Lease, now: float) -> None:
        """Let both live until their ends: no time is lost or given twice."""
        site = self.site
        (fixed,) = (one for one in site.every_lease() if one.name == 'dies')
        self.assertEqual('ACTIVE', site.status_at(now + 1300, fixed))
        self.assertEqual('WAITING', site.status(slice_))
        self.assertEqual(([], 2400), (site.allocations(slice_), site.now(slice_).time_left))
        Planner(site.leases).round()
        self.assertEqual([now + 2400], self.check(slice_))
        self.assertEqual('ACTIVE', site.status_at(now + 4790, slice_))
        self.assertEqual('TERMINATED', site.status_at(now + 4810, slice_))
        self.assertEqual('TERMINATED', site.status(fixed))
        with contextlib.suppress(exceptions.ClimateError):
            site.delete(fixed)
        site.until(now + 4920)


def _racks() -> dict[str, Any]:
    return {'resource_type': drafts.RACKS.name, 'min': 2, 'max': 2}
