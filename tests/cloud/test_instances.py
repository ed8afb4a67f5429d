# SPDX-License-Identifier: Apache-2.0

"""Leases of room for servers, on a real Nova and a real Placement."""

from __future__ import annotations

from typing import Any

import openstack

from tests.cloud.base import CloudTest
from tests.cloud.base import reservation
from tests.cloud.base import smoke
from tests.cloud.house import PREFIX
from tests.cloud.people import Person
from tests.cloud.settings import await_scheduler
from tests.cloud.settings import configure
from tests.cloud.waiting import until
from tools.cloud import services

SCHEDULER = """[filter_scheduler]
enabled_filters = ComputeFilter, ComputeCapabilitiesFilter, ImagePropertiesFilter, \
ServerGroupAntiAffinityFilter, ServerGroupAffinityFilter, AggregateMultiTenancyIsolation
[scheduler]
enable_isolated_aggregate_filtering = True
"""
MANAGER = '[physical:host]\nisolation = placement\n'
CLOSED = ('filter_tenant_id', 'trait:CUSTOM_CLIMATE_FREEPOOL')
VERSION = '2.74'
PATIENCE = 120.0


class InstancesTest(CloudTest):
    """Two hosts are registered, and parts of them leased."""

    hosts = 2

    def setUp(self) -> None:
        super().setUp()
        self.placement = self.admin.sdk.placement

    # -- leases

    def wanted(self, amount: int, **wanted: Any) -> dict[str, Any]:
        """Return a request for slots, by size or by flavor."""
        if 'flavor_id' in wanted:
            return {'resource_type': 'flavor:instance', 'amount': amount, **wanted}
        sizes = {'vcpus': 1, 'memory_mb': 64, 'disk_gb': 1}
        free = {'affinity': 'None', 'resource_properties': ''}
        return {'resource_type': 'virtual:instance', **sizes, 'amount': amount, **free, **wanted}

    def lease(self, person: Person, amount: int, **wanted: Any) -> dict[str, Any]:
        """Return an active lease of slots."""
        body = self.lease_body(8, 3600) | {'reservations': [self.wanted(amount, **wanted)]}
        return self.await_status(person, person.create_lease(body), 'ACTIVE', PATIENCE)

    def resize(self, person: Person, lease: dict[str, Any], amount: int) -> None:
        """Ask for another number of slots, and return when it is there, or was refused."""
        person.update_lease(
            lease['id'], reservations=[{'id': reservation(lease), 'amount': amount}]
        )
        self.await_status(person, lease, 'ACTIVE', PATIENCE)

    def end(self, person: Person, lease: dict[str, Any]) -> None:
        """End a lease, and find nothing left of it."""
        person.delete_lease(lease['id'])
        self.await_gone(person, lease, PATIENCE)
        name = reservation(lease)
        self.assertIsNone(self.aggregate(name))
        self.assertIsNone(self.admin.sdk.compute.find_flavor(name))
        self.assertNotIn(self.class_of(lease), self.classes())
        self.assertEqual({}, self.slots(lease))
        groups = self.admin.sdk.compute.server_groups(all_projects=True)
        self.assertNotIn(f'reservation:{name}', {each.name for each in groups})
        self.assertLessEqual(set(self.lent), set(self.members(self.cloud.freepool)))

    # -- what there is

    def class_of(self, lease: dict[str, Any]) -> str:
        """Return the resource class of a lease."""
        return f'CUSTOM_RESERVATION_{reservation(lease).upper().replace("-", "_")}'

    def classes(self) -> set[str]:
        """Return all resource classes."""
        found = self.placement.get('/resource_classes', microversion='1.2').json()
        return {each['name'] for each in found['resource_classes']}

    def slots(self, lease: dict[str, Any]) -> dict[str, int]:
        """Return the slots of a lease in Placement, by host."""
        found = {}
        for host in self.lent:
            listed = self.placement.get(f'/resource_providers?name=blazar_{host}').json()
            (provider,) = listed['resource_providers']
            inventories = self.placement.get(
                f'/resource_providers/{provider["uuid"]}/inventories'
            ).json()['inventories']
            if self.class_of(lease) in inventories:
                found[host] = inventories[self.class_of(lease)]['total']
        return found

    def amount(self, lease: dict[str, Any]) -> int:
        """Return how many slots there are."""
        return sum(self.slots(lease).values())

    # -- servers

    def ask(
        self, person: Person, flavor: str, image: str | None = None, **hints: str
    ) -> str | None:
        """Ask for a server; return its id, None if the flavor is not for this person."""
        compute = person.sdk.compute
        server = {
            'name': f'{PREFIX}{person.name}',
            'flavorRef': flavor,
            'imageRef': image or person.sdk.image.find_image(self.cloud.image).id,
            'networks': 'none',
        }
        body = {'server': server, 'os:scheduler_hints': hints}
        response = compute.post('/servers', json=body, microversion=VERSION)
        if response.status_code == 400 and 'Flavor' in response.text:
            return None
        openstack.exceptions.raise_from_response(response)
        return str(response.json()['server']['id'])

    def landed(self, person: Person, flavor: str, **words: str) -> tuple[str, str]:
        """Ask for a server and return its id and its host; '' for no host."""
        server = self.ask(person, flavor, **words)
        if server is None:
            return '', ''
        status = person.settled(server, PATIENCE)
        return server, self.host_of(server) if status == 'ACTIVE' else ''

    def delete(self, person: Person, server: str) -> None:
        """Delete a server, and return when its slot is free."""
        person.sdk.compute.delete_server(server)
        until(lambda: person.status(server) == 'GONE', PATIENCE, f'{server} is gone')

    def fill(self, lease: dict[str, Any], amount: int) -> list[str]:
        """Make so many servers, each on a host with slots; return their ids."""
        found = [self.landed(self.alice, reservation(lease)) for _ in range(amount)]
        for _, host in found:
            self.assertIn(host, self.slots(lease))
        return [server for server, _ in found]

    # -- tests

    @smoke
    def test_whole_life(self) -> None:
        lease = self.lease(self.alice, 2)
        name = reservation(lease)
        self.assertEqual(2, self.amount(lease))
        self.assertEqual(sorted(self.slots(lease)), self.members(name))
        self.assertEqual(sorted(self.lent), self.members(self.cloud.freepool))
        servers = self.fill(lease, 2)
        # One too many, one of another project, and one of an ordinary flavor.
        self.assertEqual('', self.landed(self.alice, name)[1])
        self.assertEqual('', self.landed(self.bob, name)[1])
        ordinary = self.alice.sdk.compute.find_flavor(self.cloud.flavor).id
        self.assertNotIn(self.landed(self.alice, ordinary)[1], ['', *self.lent])
        self.delete(self.alice, servers[0])
        self.fill(lease, 1)
        self.end(self.alice, lease)
        self.assertEqual(['GONE'] * 2, [self.alice.status(each) for each in servers])

    def test_more_and_fewer(self) -> None:
        lease = self.lease(self.alice, 1)
        servers = self.fill(lease, 1)
        self.resize(self.alice, lease, 3)
        until(lambda: self.amount(lease) == 3, PATIENCE, 'three slots')
        servers += self.fill(lease, 2)
        # Nobody loses a server.
        self.resize(self.alice, lease, 2)
        self.assertEqual((3, 3), (self.amount(lease), len(servers)))
        self.assertEqual(3, self.alice.lease(lease['id'])['reservations'][0]['amount'])
        self.delete(self.alice, servers[0])
        self.resize(self.alice, lease, 2)
        until(lambda: self.amount(lease) == 2, PATIENCE, 'two slots')
        for server in servers[1:]:
            self.assertEqual('ACTIVE', self.alice.status(server))
            self.assertIn(self.host_of(server), self.slots(lease))
        self.assertEqual('', self.landed(self.alice, reservation(lease))[1])
        self.end(self.alice, lease)

    def test_affinity(self) -> None:
        for affinity, hosts in (('False', 2), ('True', 1)):
            lease = self.lease(self.alice, 2, affinity=affinity)
            (line,) = lease['reservations']
            self.assertEqual(hosts, len(self.slots(lease)))
            landed = {
                self.landed(self.alice, line['id'], group=line['server_group_id'])[1]
                for _ in range(2)
            }
            self.assertEqual(set(self.slots(lease)), landed)
            self.end(self.alice, lease)

    def test_a_flavor_with_its_extra_specs(self) -> None:
        compute = self.admin.sdk.compute
        source = compute.create_flavor(
            name=f'{PREFIX}gold', vcpus=1, ram=64, disk=1, ephemeral=1, swap=128, is_public=False
        )
        self.addCleanup(compute.delete_flavor, source)
        compute.create_flavor_extra_specs(source, {'hw:watchdog_action': 'reset'})
        body = self.lease_body(8, 3600) | {'reservations': [self.wanted(1, flavor_id=source.id)]}
        refused = self.alice.call('POST', '/leases', body)
        self.assertEqual(400, refused.status_code, refused.text)
        compute.flavor_add_tenant_access(source, self.alice.project_id)
        lease = self.lease(self.alice, 2, flavor_id=source.id)
        made = compute.get_flavor(reservation(lease))
        self.assertEqual((64, 1, 1, 128), (made.ram, made.disk, made.ephemeral, made.swap))
        specs = compute.fetch_flavor_extra_specs(made).extra_specs
        self.assertEqual('reset', specs['hw:watchdog_action'])
        self.fill(lease, 2)
        self.assertEqual('', self.landed(self.alice, made.id)[1])
        self.end(self.alice, lease)


class PlacementInstancesTest(InstancesTest):
    """The same where Placement keeps others off, and not a filter of ours."""

    alone = True

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        managers = dict.fromkeys(services.managers(cls.cloud), MANAGER)
        cls.addClassCleanup(cls.configure, dict.fromkeys(['nova-scheduler', *managers], ''))
        cls.configure({'nova-scheduler': SCHEDULER} | managers)

    @classmethod
    def configure(cls, settings: dict[str, str]) -> None:
        """Configure Nova and Climate, and take away what the pool was marked with."""
        configure(cls.cloud, settings)
        await_scheduler(cls.cloud, cls.admin)

    def setUp(self) -> None:
        super().setUp()
        self.house.at_end.append(self.unmark)

    def unmark(self) -> None:
        """Take the marks of the pool away, which Climate leaves there."""
        pool = self.aggregate(self.cloud.freepool)
        gone: dict[str, Any] = dict.fromkeys(set(CLOSED) & set(pool.metadata))
        if gone:
            self.admin.sdk.compute.set_aggregate_metadata(pool, **gone)

    def test_the_trait_of_the_pool_is_of_no_use_to_others(self) -> None:
        lease = self.lease(self.alice, 1)
        facts = {'disk_format': 'raw', 'container_format': 'bare', CLOSED[1]: 'required'}
        image = self.alice.sdk.image.create_image(name=f'{PREFIX}greedy', data=b'x', **facts)
        ordinary = self.alice.sdk.compute.find_flavor(self.cloud.flavor).id
        self.assertEqual('', self.landed(self.alice, ordinary, image=image.id)[1])
        self.assertNotIn(self.landed(self.alice, ordinary)[1], ['', *self.lent])
        self.assertIn(self.landed(self.alice, reservation(lease))[1], self.slots(lease))
        self.end(self.alice, lease)
