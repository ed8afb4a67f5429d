# SPDX-License-Identifier: Apache-2.0

"""One manager plans at a time, and another takes over from one that is gone."""

from __future__ import annotations

from typing import Any
from unittest import mock

from fixtures import MonkeyPatch

from climate import exceptions
from climate.booking.planning import replanning
from climate.cmd.metrics import database_readings
from climate.domain.leases import Lease
from climate.manager.periodic.planning import Planning
from climate.metrics import catalogue
from climate.testing.deployment import at
from climate.upkeep.planning import Planner
from tests import base
from tests import metrics
from tests.databases import fetch
from tests.functional.manager.harness import Site


class TestPlanning(base.TestCase):
    """Two managers of a deployment with three hosts."""

    def setUp(self) -> None:
        super().setUp()
        self.site = self.useFixture(Site())
        self.woken = 0
        self.one, self.other = (self.planning(name) for name in ('one', 'other'))

    def planning(self, name: str) -> Planning:
        planner = Planner(self.site.leases)
        return Planning(planner, self.site.store, self.site.clock, name, 5.0, self.wake)

    def wake(self) -> None:
        self.woken += 1

    def movable(self, start: float = 3600) -> Lease:
        """Return a lease that can begin an hour earlier."""
        fixed = self.site.create(start, start + 3600, hosts=3)
        lease = self.site.create(start, start + 1200, hosts=3, earliest=at(start))
        self.assertEqual(at(start + 3600), lease.period.start)
        self.site.delete(fixed)
        return lease

    def test_one_plans(self) -> None:
        self.assertEqual(0, self.one.look())
        self.movable()
        self.assertEqual([0, 1, 0], [self.other.look(), self.one.look(), self.one.look()])
        self.assertEqual(1, self.woken)

    def test_what_operators_see(self) -> None:
        recorded = self.useFixture(metrics.RecordedMetrics())
        lease = self.movable()
        self.one.look()
        self.assertEqual(1, len(recorded.of(catalogue.PLANS)))
        self.assertEqual([('room', 3600.0)], recorded.of(catalogue.MOVES))
        self.assertEqual('ACTIVE', self.site.status_at(3660, lease))
        ((waited,),) = recorded.of(catalogue.WAITS)
        self.assertTrue(0 <= waited <= 60, waited)
        waits = self.site.create(
            3660, 3900, hosts=3, earliest=at(3660), latest=at(4000), waits=True
        )
        self.assertEqual('WAITING', self.site.status_at(3700, waits))
        found = {(one.metric, *one.labels): one.value for one in database_readings(self.site.store)}
        self.assertEqual(1, found[catalogue.LEASES, 'WAITING'])
        self.assertEqual(40, found[catalogue.WAITING,])

    def test_another_takes_over_from_one_that_is_gone(self) -> None:
        self.one.look()
        self.movable()
        self.site.clock.advance(20)
        self.assertEqual(0, self.other.look())
        self.site.clock.advance(11)
        self.assertEqual(1, self.other.look())
        self.movable(9000)
        self.assertEqual([0, 1], [self.one.look(), self.other.look()])

    def test_one_that_stops_lets_another_plan_at_once(self) -> None:
        self.one.look()
        self.movable()
        self.one.stop(0)
        self.assertEqual(1, self.other.look())

    def test_a_manager_that_never_planned_removes_nothing(self) -> None:
        self.one.look()
        self.other.stop(0)
        self.movable()
        self.assertEqual([0, 1], [self.planning('third').look(), self.one.look()])

    def test_one_that_plans_again_knows_what_has_changed(self) -> None:
        self.one.look()
        self.site.clock.advance(31)
        self.other.look()
        lease = self.movable()
        self.assertEqual(0, self.one.look())
        self.site.clock.advance(31)
        self.assertEqual(1, self.one.look())
        self.assertEqual(at(3600), self.site.now(lease).period.start)

    def test_a_lease_that_is_gone_does_not_end(self) -> None:
        self.site.create(3600, 9000, hosts=3)
        lease = self.site.create(
            3600, 4800, hosts=3, earliest=at(3600), latest=at(8000), waits=True
        )
        self.one.look()
        self.site.delete(lease)
        self.site.clock.advance(7000)
        self.assertEqual(0, self.one.look())
        with self.site.store.reading() as tx:
            self.assertRaises(exceptions.NotFound, tx.leases.get, lease.id)

    def test_a_database_that_is_gone_while_leases_are_read_costs_no_lease_its_turn(self) -> None:
        self.movable()
        failing = MonkeyPatch(
            'climate.booking.planning.replanning.allocations',
            mock.Mock(side_effect=exceptions.DatabaseUnavailable),
        )
        with failing:
            self.assertRaises(exceptions.DatabaseUnavailable, self.one.look)
        self.assertEqual(1, self.one.look())

    def test_a_lease_that_cannot_be_read_does_not_block_others(self) -> None:
        first, second = self.movable(), self.movable(9000)
        real = replanning.of

        def of(context: Any, lease: Lease, *has: Any) -> Any:
            if lease.id == first.id:
                raise KeyError('what a plugin does not know')
            return real(context, lease, *has)

        with MonkeyPatch('climate.booking.planning.replanning.of', of):
            self.assertEqual(1, self.one.look())
        found = fetch(self.site.store, lambda tx: tx.leases.get(second.id))
        self.assertEqual(at(9000), found.period.start)

    def test_what_the_database_refuses_is_tried_once_in_each_pass(self) -> None:
        self.movable()
        refused = mock.Mock(side_effect=exceptions.BookedMeanwhile)
        with MonkeyPatch('climate.booking.planning.moves.DecidedMove.write', refused):
            self.one.look()
        self.assertIn(refused.call_count, {1, 2})
