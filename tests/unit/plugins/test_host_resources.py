# SPDX-License-Identifier: Apache-2.0

"""Hosts come into the pool and leave it."""

from __future__ import annotations

from climate import exceptions
from climate.cloud.base import CloudNotFound
from climate.plugins.host import errors
from climate.plugins.host.isolation import Isolation
from tests import base
from tests.unit.plugins.world import draft
from tests.unit.plugins.world import OTHER
from tests.unit.plugins.world import Stumble
from tests.unit.plugins.world import World


class TestResources(base.TestCase):
    """Hosts come and go."""

    def test_discover_and_release(self) -> None:
        world = World()
        resource = world.resources[0]
        self.assert_has(resource.attributes, service_name='compute-1', vcpus=16)
        found = {item.resource_class for item in resource.inventories}
        self.assertEqual({'DISK_GB', 'MEMORY_MB', 'VCPU'}, found)
        self.assertIn('HW_CPU_X86_AVX2', resource.traits)
        for _ in range(2):
            world.plugin.release(resource, world.cloud)
            self.assertEqual([], world.places()['compute-1'])
        for _ in range(2):
            world.plugin.admit(resource, world.cloud)
            self.assertEqual(['freepool'], world.places()['compute-1'])

    def test_refusals(self) -> None:
        world = World()
        with self.assertRaises(errors.HostNotFound):
            world.plugin.discover(draft('compute-9'), world.cloud)
        world.cloud.boot_server('compute-1', OTHER, 'stranger')
        error = self.assertRaises(
            errors.HostHavingServers, world.plugin.discover, draft('compute-1'), world.cloud
        )
        self.assertIn('compute-1', error.message)
        with self.assertRaises(errors.HostHavingServers):
            world.plugin.release(world.resources[0], world.cloud)
        # They are there although Nova does not list them just now.
        world.cloud.hide_servers('compute-1')
        again = self.assertRaises(
            errors.HostHavingServers, world.plugin.discover, draft('compute-1'), world.cloud
        )
        self.assertEqual(error.message, again.message)

    def test_without_a_pool(self) -> None:
        world = World()
        world.delete_aggregate(world.pool())
        with self.assertRaises(errors.FreePoolNotFound):
            world.plugin.admit(world.resources[0], world.cloud)
        world.plugin.release(world.resources[0], world.cloud)

    def test_each_call_of_coming_and_going_fails_once(self) -> None:
        for effect, places in (('admit', ['freepool']), ('release', [])):
            for nth in range(1, 8):
                for when in ('before', 'after'):
                    world = World()
                    if effect == 'admit':
                        world.plugin.release(world.resources[0], world.cloud)
                    stumble = Stumble(world.cloud, nth, when)
                    verb = getattr(world.plugin, effect)
                    try:
                        verb(world.resources[0], stumble)
                    except exceptions.Transient:
                        verb(world.resources[0], world.cloud)
                    self.assertEqual(places, world.places()['compute-1'])
                    nested = world.cloud.placement.find_provider('blazar_compute-1')
                    self.assertEqual(effect == 'admit', nested is not None)

    def test_slots_are_counted_in_a_provider_of_our_own(self) -> None:
        world = World()
        world.configure(Isolation.PLACEMENT)
        placement = world.cloud.placement
        for trait in (frozenset(), {'CUSTOM_CLIMATE_FREEPOOL'}):
            nested, root = world.provider('blazar_compute-1'), world.provider('compute-1')
            self.assertEqual(root.uuid, nested.parent_uuid)
            self.assertEqual(trait, placement.traits(nested.uuid))
            world.plugin.admit(world.resources[0], world.cloud)

    def test_a_provider_that_placement_does_not_know(self) -> None:
        world = World()
        world.plugin.release(world.resources[0], world.cloud)
        provider = world.provider('compute-1')
        world.cloud.placement.delete_provider(provider.uuid)
        resource = world.plugin.discover(draft('compute-1'), world.cloud)
        self.assertEqual(((), frozenset()), (resource.inventories, resource.traits))
        self.assertRaises(CloudNotFound, world.cloud.placement.traits, provider.uuid)
        # It can be leased as a whole.
        world.plugin.admit(resource, world.cloud)
        self.assertEqual(['freepool'], world.places()['compute-1'])
        self.assertIsNone(world.cloud.placement.find_provider('blazar_compute-1'))
