# SPDX-License-Identifier: Apache-2.0

"""What effects of reservations of instances say, and what they do in corners."""

from __future__ import annotations

import dataclasses

from climate import exceptions
from climate.cloud.base import Server
from climate.plugins.host.isolation import Isolation
from climate.plugins.instance.by_flavor import FlavorRequest
from tests import base
from tests.narrowing import present
from tests.unit.plugins.instance_world import InstanceWorld
from tests.unit.plugins.instance_world import RESOURCE_CLASS
from tests.unit.plugins.instance_world import SIZE
from tests.unit.plugins.instance_world import SOURCE
from tests.unit.plugins.test_instance_effects import active
from tests.unit.plugins.test_instance_effects import booked
from tests.unit.plugins.test_instance_effects import drifted
from tests.unit.plugins.test_instance_effects import failed
from tests.unit.plugins.test_instance_effects import grown
from tests.unit.plugins.test_instance_effects import hidden
from tests.unit.plugins.world import OTHER
from tests.unit.plugins.world import OWNER
from tests.unit.plugins.world import RESERVATION
from tests.unit.plugins.world import Stumble


class TestSlots(base.TestCase):
    """Who lands where."""

    def test_as_many_servers_as_slots_and_of_the_project_only(self) -> None:
        for given in (InstanceWorld(), flavor_world()):
            given.run('prepare')
            self.assertEqual('REFUSED', given.boot('early'))
            given.run('start')
            given.fill(3)
            found = sorted(given.hosts_of('own-1', 'own-2', 'own-3'))
            self.assertEqual(['compute-1', 'compute-1', 'compute-2'], found)
            self.assertEqual('ERROR', given.boot('too-many'))
            self.assertEqual('REFUSED', given.boot('thief', OTHER))
            given.delete('own-2')
            self.assertEqual('ACTIVE', given.boot('next'))

    def test_both_kinds_on_one_host(self) -> None:
        world = InstanceWorld().started()
        other = flavor_world()
        other.cloud, other.resources = world.cloud, world.resources
        name = 'reservation:other'
        work = other.work()
        reservation = dataclasses.replace(work.reservation, id='other')
        other.plugin.start(dataclasses.replace(work, reservation=reservation), world.cloud)
        self.assertEqual({1: 2, 2: 1}, world.slots())
        self.assertIn(name, {each.name for each in world.cloud.compute.list_flavors()})
        world.run('end')
        self.assertEqual({'CUSTOM_RESERVATION_OTHER'}, classes(world))

    def test_placement_keeps_others_off_by_a_trait_of_the_slots(self) -> None:
        for mode, specs, traits in (
            (Isolation.FILTER, None, set()),
            (Isolation.PLACEMENT, 'required', {'CUSTOM_CLIMATE_FREEPOOL'}),
            (Isolation.BOTH, 'required', {'CUSTOM_CLIMATE_FREEPOOL'}),
        ):
            world = InstanceWorld(isolation=mode).started()
            flavor = present(world.cloud.compute.find_flavor(RESERVATION))
            self.assertEqual(specs, flavor.extra_specs.get('trait:CUSTOM_CLIMATE_FREEPOOL'))
            provider = world.provider('blazar_compute-1')
            self.assertEqual(traits, world.cloud.placement.traits(provider.uuid))
            self.assertEqual('ACTIVE', world.boot('own'))

    def test_another_isolation_is_taken_over_by_the_check(self) -> None:
        world = active()
        world.configure(Isolation.BOTH)
        lines = world.run('check').repaired
        self.assertTrue(any('CUSTOM_CLIMATE_FREEPOOL' in line for line in lines), lines)
        self.assertEqual('ACTIVE', world.boot('third'))
        self.assertEqual((), world.run('check').repaired)
        world.configure(Isolation.FILTER)
        world.run('check')
        flavor = present(world.cloud.compute.find_flavor(RESERVATION))
        self.assertNotIn('trait:CUSTOM_CLIMATE_FREEPOOL', flavor.extra_specs)


class TestGroups(base.TestCase):
    """Server groups are the project's own, for Nova lets it use no others."""

    def groups(self, world: InstanceWorld) -> list[tuple[str, str]]:
        found = world.cloud.compute.list_server_groups()
        return [(group.project_id, group.policy) for group in found]

    def test_made_by_the_caller(self) -> None:
        world = booked()
        self.assertEqual([(OWNER, 'anti-affinity')], self.groups(world))
        world.run('start')
        (group,) = world.cloud.compute.list_server_groups()
        self.assertEqual(group.id, world.facts['server_group_id'])
        self.assertNotIn('other_server_groups', world.facts)
        self.assertEqual('ACTIVE', world.boot('own-1', scheduler_hints={'group': group.id}))

    def test_another_policy_before_the_start(self) -> None:
        for affinity, wanted in ((True, [(OWNER, 'affinity')]), (None, [])):
            world = booked()
            world.run('prepare')
            world.request = dataclasses.replace(SIZE, affinity=affinity)
            world.book()
            world.run('start')
            self.assertEqual(wanted, self.groups(world))
            world.run('end')
            self.assertEqual([], world.left())

    def test_groups_of_others_are_left_alone(self) -> None:
        world = booked()
        name = f'reservation:{RESERVATION}'
        world.cloud.compute_of(OTHER).create_server_group(name, 'anti-affinity')
        world.run('start')
        world.run('end')
        self.assertEqual([(OTHER, 'anti-affinity')], self.groups(world))

    def test_without_one_the_slots_lie_as_they_should(self) -> None:
        world = booked()
        for group in world.cloud.compute.list_server_groups():
            world.cloud.compute.delete_server_group(group.id)
        world.run('start')
        self.assertNotIn('server_group_id', world.facts)
        self.assertEqual((), world.run('check').repaired)
        # Until there is one.
        world.book()
        self.assertTrue(world.run('check').repaired)
        self.assertIn('server_group_id', world.facts)


class TestFewer(base.TestCase):
    """Slots are given up."""

    def test_free_ones_go(self) -> None:
        world = booked().started(1)
        world.shrink({1: 1})
        self.assertIsNone(world.run('start').kept)
        self.assertEqual({1: 1}, world.slots())
        self.assertEqual('ERROR', world.boot('too-many'))

    def test_others_than_suggested_are_kept_if_they_are_in_use(self) -> None:
        world = active()
        world.fill_third()
        world.delete('own-1')
        world.delete('own-2')
        world.shrink({1: 1})
        self.assertEqual({2: 1}, world.run('start').kept)
        self.assertEqual({2: 1}, world.slots())
        self.assertEqual(('compute-2',), world.present().hosts)
        self.assertEqual([], [each for each in world.cloud.servers() if each.status == 'ERROR'])

    def test_more_servers_than_slots_stay(self) -> None:
        world = active()
        world.fill_third()
        world.shrink({1: 2})
        self.assertRaisesRegex(exceptions.Permanent, '1 on compute-2', world.once, 'start')
        self.assertEqual({1: 2, 2: 1}, world.slots())

    def test_hosts_that_must_not_be_used_any_more_are_not_kept(self) -> None:
        world = InstanceWorld().started(3)
        world.delete('own-1')
        # compute-2 is used, and does not fulfil what is now required.
        wanted = '["==", "$hypervisor_hostname", "compute-1"]'
        world.request = dataclasses.replace(SIZE, resource_properties=wanted)
        world.shrink({1: 2})
        self.assertRaises(exceptions.Permanent, world.once, 'start')
        self.assertEqual({1: 2, 2: 1}, world.slots())
        self.assertEqual(3 - 1, len(world.cloud.servers()))

    def test_a_move_with_servers_in_the_way_changes_nothing(self) -> None:
        world = active()
        world.mine, world.leaving = {2: 1, 3: 2}, {1: 2}
        self.assertRaises(exceptions.Permanent, world.once, 'start')
        self.assertEqual({1: 2, 2: 1}, world.slots())

    def test_a_server_that_takes_a_slot_meanwhile_is_seen(self) -> None:
        world = booked().started()
        world.shrink({1: 2})
        world.cloud.fail('placement.remove_inventory', error='conflict')
        self.assertIsNone(world.once('start'))
        world.fill(3)
        self.assertRaises(exceptions.Permanent, world.once, 'start')
        self.assertEqual({1: 2, 2: 1}, world.slots())

    def test_what_was_begun_is_put_back_if_it_cannot_be_done(self) -> None:
        world = active()
        world.fill_third()
        world.delete('own-1')
        world.shrink({1: 2})
        world.waits('start')
        self.assertEqual({1: 2, 2: 1}, world.slots())
        self.assertEqual('ACTIVE', world.boot('late'))
        self.assertRaises(exceptions.Permanent, world.once, 'start')
        # The core has the effect undo it, by asking for what was before.
        world.mine, world.leaving = {1: 2, 2: 1}, {}
        world.run('start')
        self.assertEqual({1: 2, 2: 1}, world.slots())
        self.assertNotIn('shrinking', world.facts)

    def test_a_growth_is_undone_by_giving_up_what_came(self) -> None:
        world = active()
        world.mine = {1: 2, 2: 1, 3: 1}
        world.cloud.fail('placement.set_inventory', error='transient')
        self.assertIsNone(world.once('start'))
        world.mine, world.leaving = {1: 2, 2: 1}, {3: 1}
        world.run('start')
        self.assertEqual({1: 2, 2: 1}, world.slots())


class TestFailedHosts(base.TestCase):
    """Slots move away from a host that has failed."""

    def test_servers_stay_with_their_slot_until_they_are_gone(self) -> None:
        world = failed().started()
        self.assertEqual({1: 2, 2: 1, 3: 1}, world.slots())
        self.assertEqual(4, len(world.cloud.servers()))
        self.assertEqual(['compute-2'], world.hosts_of('own-3'))
        # There are three slots that somebody can use, as before.
        self.assertEqual('ACTIVE', world.boot('instead'))
        self.assertEqual('ERROR', world.boot('too-many'))
        self.assertEqual((), world.run('check').repaired)
        world.delete('own-3')
        self.assertIn(f'host compute-2 was in aggregate {RESERVATION}', world.run('check').repaired)
        self.assertEqual({1: 2, 3: 1}, world.slots())

    def test_free_slots_go_at_once(self) -> None:
        world = failed()
        world.delete('own-3')
        world.run('start')
        self.assertEqual({1: 2, 3: 1}, world.slots())

    def test_of_several_slots_the_free_ones_go(self) -> None:
        world = InstanceWorld().started(1)
        world.resources = tuple(
            dataclasses.replace(each, failed_at=world.clock.now()) if each.id == 1 else each
            for each in world.resources
        )
        world.mine, world.leaving = {2: 1, 3: 2}, {1: 2}
        world.run('start')
        self.assertEqual({1: 1, 2: 1, 3: 2}, world.slots())


class TestEnd(base.TestCase):
    """Everything goes."""

    def test_no_server_starts_while_the_others_go(self) -> None:
        world = active()
        self.assertEqual('2 servers are being deleted', world.waits('end').why)
        self.assertEqual('REFUSED', world.boot('late'))
        self.assertEqual({1: 2, 2: 1}, world.slots())
        world.run('end')
        self.assertEqual([], world.left())

    def test_servers_in_no_slot_go_as_well(self) -> None:
        world = active()
        world.fill_third()
        self.assertEqual('ERROR', world.boot('too-many'))
        self.assertEqual('SHELVED_OFFLOADED', shelve(world))
        world.run('end')
        self.assertEqual([], [each for each in world.cloud.servers() if each.project_id == OWNER])
        self.assertEqual([], world.left())

    def test_servers_that_nova_does_not_find_by_their_flavor(self) -> None:
        world = hidden()
        self.assertEqual(3, len(world.cloud.servers()))
        world.run('end')
        self.assertEqual(['neighbour'], [each.name for each in world.cloud.servers()])

    def test_who_holds_a_slot_for_ever_does_not_keep_a_lease_from_ending(self) -> None:
        world = booked().started()
        world.cloud.hold('ghost', world.provider('blazar_compute-2').uuid, RESOURCE_CLASS, 1)
        self.assertEqual('1 slots are still held', world.waits('end').why)
        world.run('end')
        self.assertEqual({2: 1}, world.slots())
        self.assertIsNone(world.aggregate())

    def test_slots_that_no_aggregate_shows(self) -> None:
        world = grown().started()
        world.mine = {1: 2}
        aggregate = world.present()
        for host in aggregate.hosts:
            world.cloud.compute.remove_host(aggregate.id, host)
        world.run('end')
        self.assertEqual([], world.left())

    def test_a_host_that_left_the_cloud(self) -> None:
        world = active()
        world.cloud.remove_hypervisor('compute-2')
        world.run('end')
        self.assertEqual([], world.left())

    def test_nothing_is_asked_twice_of_servers_that_go(self) -> None:
        world = active()
        world.once('end')
        stumble = Stumble(world.cloud)
        world.once('end', stumble)
        self.assertNotIn('delete_server', stumble.made)


class TestCheck(base.TestCase):
    """Drift is corrected and reported."""

    def test_it_says_what_it_repaired(self) -> None:
        world = drifted()
        lines = world.run('check').repaired
        for words in (
            'was not marked as it should be: affinity_id, blazar:owner, reservation',
            'had wrong extra specs',
            'host compute-2 was not in aggregate freepool',
            f'host compute-2 was not in aggregate {RESERVATION}',
            f'host compute-3 was in aggregate {RESERVATION}',
            'provider blazar_compute-2 was missing',
            'host compute-2 did not have 1 slots',
            f'project {OWNER} could not use flavor',
        ):
            self.assertTrue(any(words in line for line in lines), (words, lines))
        self.assertEqual((), world.run('check').repaired)

    def test_a_host_that_was_set_up_again(self) -> None:
        world = booked().started()
        placement = world.cloud.placement
        placement.delete_provider(world.provider('blazar_compute-2').uuid)
        other = placement.create_provider('elsewhere', None)
        placement.create_provider('blazar_compute-2', other.uuid)
        world.run('check')
        self.assertEqual({1: 2, 2: 1}, world.slots())
        self.assertEqual('ACTIVE', world.boot('own-1'))

    def test_a_host_of_which_placement_does_not_know(self) -> None:
        world = booked()
        nested, root = world.provider('blazar_compute-2'), world.provider('compute-2')
        world.cloud.placement.delete_provider(nested.uuid)
        world.cloud.placement.delete_provider(root.uuid)
        self.assertIsNone(world.once('start'))


def flavor_world() -> InstanceWorld:
    """Return a reservation of a flavor."""
    return InstanceWorld(FlavorRequest(flavor_id='gold', amount=3, source=SOURCE))


def classes(world: InstanceWorld) -> frozenset[str]:
    """Return the classes of reservations."""
    return world.cloud.placement.list_resource_classes('CUSTOM_RESERVATION_')


def shelve(world: InstanceWorld) -> str:
    """Shelve a server, and return what became of it."""
    found: Server = next(each for each in world.cloud.servers() if each.name == 'own-1')
    world.cloud.compute.shelve_server(found.id)
    world.clock.advance(1)
    return next(each.status for each in world.cloud.servers() if each.name == 'own-1')
