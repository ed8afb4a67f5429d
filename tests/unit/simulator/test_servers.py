# SPDX-License-Identifier: Apache-2.0

"""What takes time in the simulated cloud takes it, and servers go where there is room."""

from __future__ import annotations

from climate import exceptions
from climate.cloud import base
from climate.domain.resources import Inventory
from tests.narrowing import present
from tests.unit.simulator.memory import MemoryCase


class ServerCase(MemoryCase):
    """Two hypervisors, on which servers are made."""

    def setUp(self) -> None:
        super().setUp()
        self.compute = self.cloud.compute

    def make(self, **wanted: object) -> str:
        """Make a server."""
        return self.compute.create_server(
            base.ServerDraft(**{'name': 'vm', 'flavor_id': '1'} | wanted)
        )

    def server(self, server_id: str) -> base.Server:
        """Return a server that is there."""
        return present(self.compute.find_server(server_id))

    def state(self, server_id: str) -> tuple[str, str | None]:
        """Return what a server is, and what is done with it."""
        found = self.server(server_id)
        return found.status, found.task_state


class TestTime(ServerCase):
    """What is begun is under way until its time has come."""

    def test_a_server_is_made(self) -> None:
        self.cloud.set_seconds('server_creation', 10)
        server_id = self.make()
        self.assertEqual(('BUILD', 'spawning'), self.state(server_id))
        self.clock.advance(10)
        self.assertEqual(('ACTIVE', None), self.state(server_id))

    def test_a_server_is_shelved_and_offloaded_later(self) -> None:
        self.cloud.set_seconds('server_action', 10)
        self.cloud.set_seconds('shelved_offload', 100)
        server_id = self.make(host='compute-1')
        self.compute.shelve_server(server_id)
        self.assertEqual(('ACTIVE', 'shelving'), self.state(server_id))
        self.clock.advance(10)
        self.assertEqual(('SHELVED', None), self.state(server_id))
        self.assertEqual('compute-1', self.server(server_id).host)
        self.clock.advance(99)
        self.assertEqual(('SHELVED', None), self.state(server_id))
        self.clock.advance(1)
        self.assertEqual(('SHELVED_OFFLOADED', None), self.state(server_id))
        self.assertEqual('', self.server(server_id).host)

    def test_a_client_that_does_not_wait_offloads_it(self) -> None:
        self.cloud.set_seconds('shelved_offload', 100)
        server_id = self.make()
        self.compute.shelve_server(server_id)
        self.assertEqual(('SHELVED', None), self.state(server_id))
        self.compute.offload_server(server_id)
        self.assertEqual(('SHELVED_OFFLOADED', None), self.state(server_id))

    def test_an_image_that_is_not_complete_goes_with_its_server(self) -> None:
        self.cloud.set_seconds('image', 10)
        server_id = self.make()
        first = self.compute.create_image(server_id, 'first')
        self.assertEqual(('ACTIVE', 'image_snapshot'), self.state(server_id))
        self.assertEqual(['queued'], [image.status for image in self.cloud.images()])
        self.clock.advance(10)
        self.compute.create_image(server_id, 'second')
        self.compute.delete_server(server_id)
        self.clock.advance(10)
        found = [(each.id, each.status) for each in self.cloud.images()]
        self.assertEqual([(first, 'active')], found)


class TestScheduler(ServerCase):
    """Where servers go."""

    def provider(self, name: str) -> base.Provider:
        """Return the provider of a host."""
        return present(self.cloud.placement.find_provider(name))

    def test_no_server_gets_more_than_there_is(self) -> None:
        self.compute.create_flavor(
            base.Flavor(id='big', name='big', vcpus=16, memory_mb=1, disk_gb=0)
        )
        servers = [self.make(flavor_id='big') for _ in range(3)]
        found = [self.server(each).status for each in servers]
        self.assertEqual(['ACTIVE', 'ACTIVE', 'ERROR'], found)
        self.assertEqual(16, self.cloud.placement.usages(self.provider('compute-1').uuid)['VCPU'])

    def test_a_shelved_server_for_which_there_is_no_room_stays_shelved(self) -> None:
        self.compute.create_flavor(
            base.Flavor(id='big', name='big', vcpus=16, memory_mb=1, disk_gb=0)
        )
        first = self.make(flavor_id='big')
        self.compute.shelve_server(first)
        others = [self.make(flavor_id='big') for _ in range(2)]
        self.compute.unshelve_server(first)
        self.assertEqual(('SHELVED_OFFLOADED', None), self.state(first))
        self.compute.delete_server(others[0])
        self.compute.unshelve_server(first)
        self.assertEqual(('ACTIVE', None), self.state(first))

    def test_zones_hints_and_hosts_that_are_out(self) -> None:
        self.compute.add_host(self.compute.create_aggregate('r', 'blazar_r').id, 'compute-2')
        for wanted in (
            {'availability_zone': 'blazar_r'},
            {'scheduler_hints': {'reservation': 'r'}},
        ):
            self.assertEqual('compute-2', self.server(self.make(**wanted)).host)
        found = self.server(self.make(availability_zone='nova'))
        self.assertEqual('compute-1', found.host)
        self.compute.disable_service('compute-1', 'maintenance')
        found = self.server(self.make(availability_zone='nova'))
        self.assertEqual('ERROR', found.status)

    def test_traits_and_nested_providers(self) -> None:
        placement = self.cloud.placement
        placement.create_resource_class('CUSTOM_R')
        placement.create_trait('CUSTOM_T')
        nested = placement.create_provider('blazar', self.provider('compute-2').uuid)
        placement.set_inventory(
            nested.uuid, Inventory(resource_class='CUSTOM_R', total=1, max_unit=1)
        )
        specs = {'resources:CUSTOM_R': '1', 'resources:DISK_GB': '0'}
        flavor = base.Flavor(
            id='f', name='f', vcpus=1, memory_mb=1, disk_gb=10**9, extra_specs=specs
        )
        self.compute.create_flavor(flavor)
        server_id = self.make(flavor_id='f')
        self.assertEqual('compute-2', self.server(server_id).host)
        self.assertEqual({'CUSTOM_R': 1}, placement.usages(nested.uuid))
        self.assertEqual('ERROR', self.server(self.make(flavor_id='f')).status)
        self.compute.delete_server(server_id)
        self.compute.set_extra_specs('f', {'trait:CUSTOM_T': 'required'})
        self.assertEqual('ERROR', self.server(self.make(flavor_id='f')).status)
        placement.add_trait(self.provider('compute-2').uuid, 'CUSTOM_T')
        self.assertEqual('ACTIVE', self.server(self.make(flavor_id='f')).status)

    def test_a_private_flavor_is_for_those_who_may_use_it(self) -> None:
        self.compute.create_flavor(
            base.Flavor(id='f', name='f', vcpus=1, memory_mb=1, disk_gb=1, public=False)
        )
        other = self.cloud.compute_of('p')
        draft = base.ServerDraft(name='vm', flavor_id='f')
        self.assertRaises(exceptions.Permanent, other.create_server, draft)
        self.compute.add_flavor_access('f', 'p')
        self.assertEqual('p', self.server(other.create_server(draft)).project_id)
