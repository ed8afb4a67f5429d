# SPDX-License-Identifier: Apache-2.0

"""What reservations of instances that are over left in the cloud is found."""

from __future__ import annotations

from climate import exceptions
from climate.plugins import contract
from tests import base
from tests.unit.plugins.every_call import that_matter
from tests.unit.plugins.instance_world import InstanceWorld
from tests.unit.plugins.instance_world import RESOURCE_CLASS
from tests.unit.plugins.test_instance_effects import active
from tests.unit.plugins.test_instance_effects import active_flavor
from tests.unit.plugins.test_instance_effects import without_aggregate
from tests.unit.plugins.test_instance_effects import without_flavor
from tests.unit.plugins.world import RESERVATION
from tests.unit.plugins.world import Stumble

OVER = contract.Records(alive=frozenset(), ended=frozenset({RESERVATION}))


def sweep(
    world: InstanceWorld, records: contract.Records = OVER, *, dry_run: bool = False
) -> list[contract.SweepFinding]:
    """Sweep once."""
    return list(world.plugin.sweep(records, world.cloud, dry_run=dry_run))


class TestSweep(base.TestCase):
    def test_everything_of_a_reservation_that_is_over(self) -> None:
        for given in (active, active_flavor, without_aggregate, without_flavor):
            world = given()
            first = sweep(world)
            self.assertTrue(any('server' in each.what for each in first), first)
            world.clock.advance(1)
            second = sweep(world)
            self.assertTrue(all(each.done == 'removed' for each in second), second)
            self.assertEqual(([], None), (world.left(), world.aggregate()))
            self.assertEqual([], sweep(world))

    def test_a_dry_run_finds_the_same_and_changes_nothing(self) -> None:
        world = active()
        for name in ('own-1', 'own-2'):
            world.delete(name)
        stumble = Stumble(world.cloud)
        dry = list(world.plugin.sweep(OVER, stumble, dry_run=True))
        self.assertEqual([], stumble.changes)
        self.assertEqual({''}, {each.done for each in dry})
        self.assertEqual([each.what for each in dry], [each.what for each in sweep(world)])
        found = {each.what.split()[0] for each in dry}
        self.assertEqual({'inventory', 'resource', 'server', 'aggregate', 'flavor'}, found)

    def test_what_is_alive_or_unknown_is_left_alone(self) -> None:
        world = active()
        ended = frozenset({RESERVATION})
        for records in (
            contract.Records(alive=ended, ended=ended),
            contract.Records(alive=ended, ended=frozenset()),
            contract.Records(alive=frozenset(), ended=frozenset({'another'})),
        ):
            stumble = Stumble(world.cloud)
            self.assertEqual([], list(world.plugin.sweep(records, stumble, dry_run=False)))
            self.assertEqual([], stumble.changes)

    def test_the_aggregate_of_whole_hosts_is_left_alone(self) -> None:
        world = InstanceWorld()
        world.cloud.compute.create_aggregate(RESERVATION, f'blazar_{RESERVATION}')
        self.assertEqual([], sweep(world))

    def test_a_slot_that_is_held_is_reported_until_it_is_not(self) -> None:
        world = InstanceWorld().started()
        world.cloud.hold('ghost', world.provider('blazar_compute-2').uuid, RESOURCE_CLASS, 1)
        world.run('end')
        for _ in range(2):
            (found,) = sweep(world)
            self.assertEqual('', found.done)
            self.assertIn('held by ghost', found.what)

    def test_each_call_fails_once(self) -> None:
        clean = active()
        calls = Stumble(clean.cloud)
        list(clean.plugin.sweep(OVER, calls, dry_run=False))
        for nth, verb in enumerate(calls.made, 1):
            for when in that_matter(verb):
                world = active()
                self.fail_once(world, Stumble(world.cloud, nth, when))

    def fail_once(self, world: InstanceWorld, stumble: Stumble) -> None:
        with self.assertRaises(exceptions.Transient):
            list(world.plugin.sweep(OVER, stumble, dry_run=False))
        for _ in range(2):
            sweep(world)
            world.clock.advance(1)
        self.assertEqual(([], None), (world.left(), world.aggregate()))
