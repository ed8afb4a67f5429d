# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Hosts come into the pool and leave it."""

from __future__ import annotations

from climate import exceptions
from climate.clients.base import CloudNotFound
from climate.plugins.isolation import Isolation
from tests import base
from tests.unit.plugins.world import draft
from tests.unit.plugins.world import OTHER
from tests.unit.plugins.world import Stumble
from tests.unit.plugins.world import World


class TestResources(base.TestCase):
    """Hosts come and go."""

    def test_discover_and_release(self) -> None:
        cloud = World()
        resource = cloud.resources[0]
        self.assertEqual('compute-1', resource.attributes['service_name'])
        self.assertEqual(16, resource.attributes['vcpus'])
        self.assertEqual(
            {'DISK_GB', 'MEMORY_MB', 'VCPU'}, {item.resource_class for item in resource.inventories}
        )
        self.assertIn('HW_CPU_X86_AVX2', resource.traits)
        for _ in range(2):
            cloud.plugin.release(resource, cloud.twin)
            self.assertEqual([], cloud.places()['compute-1'])
        for _ in range(2):
            cloud.plugin.admit(resource, cloud.twin)
            self.assertEqual(['freepool'], cloud.places()['compute-1'])

    def test_refusals(self) -> None:
        cloud = World()
        self.assertRaises(
            exceptions.HostNotFound, cloud.plugin.discover, draft('compute-9'), cloud.twin
        )
        cloud.twin.boot_server('compute-1', OTHER, 'stranger')
        error = self.assertRaises(
            exceptions.HostHavingServers,
            cloud.plugin.discover,
            draft('compute-1'),
            cloud.twin,
        )
        self.assertIn('compute-1', error.message)
        self.assertRaises(
            exceptions.HostHavingServers, cloud.plugin.release, cloud.resources[0], cloud.twin
        )
        # They are there although Nova does not list them just now.
        cloud.twin.hide_servers('compute-1')
        again = self.assertRaises(
            exceptions.HostHavingServers,
            cloud.plugin.discover,
            draft('compute-1'),
            cloud.twin,
        )
        self.assertEqual(error.message, again.message)

    def test_without_a_pool(self) -> None:
        cloud = World()
        pool = next(item for item in cloud.twin.aggregates() if item.name == 'freepool')
        for host in pool.hosts:
            cloud.twin.compute.remove_host(pool.id, host)
        cloud.twin.compute.delete_aggregate(pool.id)
        self.assertRaises(
            exceptions.FreePoolNotFound, cloud.plugin.admit, cloud.resources[0], cloud.twin
        )
        cloud.plugin.release(cloud.resources[0], cloud.twin)

    def test_each_call_of_coming_and_going_fails_once(self) -> None:
        for effect, places in (('admit', ['freepool']), ('release', [])):
            for nth in range(1, 8):
                for when in ('before', 'after'):
                    cloud = World()
                    if effect == 'admit':
                        cloud.plugin.release(cloud.resources[0], cloud.twin)
                    stumble = Stumble(cloud.twin, nth, when)
                    verb = getattr(cloud.plugin, effect)
                    try:
                        verb(cloud.resources[0], stumble)
                    except exceptions.Transient:
                        verb(cloud.resources[0], cloud.twin)
                    self.assertEqual(places, cloud.places()['compute-1'])
                    nested = cloud.twin.placement.find_provider('blazar_compute-1')
                    self.assertEqual(effect == 'admit', nested is not None)

    def test_slots_are_counted_in_a_provider_of_our_own(self) -> None:
        cloud = World()
        cloud.configure(Isolation.PLACEMENT)
        placement = cloud.twin.placement
        for trait in (frozenset(), {'CUSTOM_CLIMATE_FREEPOOL'}):
            nested = placement.find_provider('blazar_compute-1')
            root = placement.find_provider('compute-1')
            assert nested is not None and root is not None
            self.assertEqual(root.uuid, nested.parent_uuid)
            self.assertEqual(trait, placement.traits(nested.uuid))
            cloud.plugin.admit(cloud.resources[0], cloud.twin)

    def test_a_provider_that_placement_does_not_know(self) -> None:
        cloud = World()
        cloud.plugin.release(cloud.resources[0], cloud.twin)
        provider = cloud.twin.placement.find_provider('compute-1')
        assert provider is not None
        cloud.twin.placement.delete_provider(provider.uuid)
        resource = cloud.plugin.discover(draft('compute-1'), cloud.twin)
        self.assertEqual(((), frozenset()), (resource.inventories, resource.traits))
        self.assertRaises(CloudNotFound, cloud.twin.placement.traits, provider.uuid)
        # It can be leased as a whole.
        cloud.plugin.admit(resource, cloud.twin)
        self.assertEqual(['freepool'], cloud.places()['compute-1'])
        self.assertIsNone(cloud.twin.placement.find_provider('blazar_compute-1'))
