# SPDX-License-Identifier: Apache-2.0
"""What the tests of leased addresses and networks have in common."""

from __future__ import annotations

import contextlib
from typing import Any

import fixtures
import openstack

from climate.clock import SystemClock
from climate.cloud import real
from climate.db.transactions.store import register_opts
from climate.db.transactions.store import Store
from climate.domain.resources import Resource
from climate.domain.resources import ResourceDraft
from climate.plugins.contract import Plugin
from tests.cloud import base
from tests.cloud.house import PREFIX
from tests.cloud.people import Person
from tests.cloud.waiting import until
from tests.contract.backends import configuration
from tools.cloud.state import Cloud

CIDR = '198.51.100.0/24'
# Each address is two requests to Neutron, which has one worker. How promptly
# leases start and end is tested with hosts.
PATIENCE = 60.0
POOL = {'start': '198.51.100.10', 'end': '198.51.100.20'}


class Registry(fixtures.Fixture):
    """Has resources while a test runs, and an external network of its own.

    :ivar external: the id of that network
    """

    def __init__(self, cloud: Cloud) -> None:
        super().__init__()
        self._cloud = cloud

    def _setUp(self) -> None:
        conf = configuration(str(self._cloud.climate_conf))
        register_opts(conf)
        self._store = Store(conf, SystemClock())
        self.addCleanup(self._store.close)
        self._real = real.connect(conf)
        admin = Person(self._cloud, 'admin')
        self.addCleanup(admin.sdk.close)
        network = admin.sdk.network
        self.external = network.create_network(
            name=f'{PREFIX}public-{self._cloud.site}', is_router_external=True
        ).id
        self.addCleanup(network.delete_network, self.external)
        addresses = {'ip_version': 4, 'cidr': CIDR, 'allocation_pools': [POOL]}
        network.create_subnet(network_id=self.external, is_dhcp_enabled=False, **addresses)

    def register(self, plugin: Plugin[Any], **attributes: str | int) -> Resource:
        """Look a resource up as a manager does, and have it until the test is over."""
        draft = ResourceDraft(resource_type=plugin.resource_type, attributes=attributes)
        found = plugin.discover(draft, self._real)
        resource_id = self._store.run(lambda tx: tx.resources.insert(found))
        self.addCleanup(self._store.run, lambda tx: tx.resources.delete(resource_id))
        return found


class NeutronTest(base.CloudTest):
    """A test that leases what Neutron has; hosts are not needed for it."""

    hosts = 0

    def setUp(self) -> None:
        # First, so that it goes last: the house takes the leases away before.
        self.registry = self.useFixture(Registry(self.cloud))
        super().setUp()
        self.external = self.registry.external
        self.neutron = self.alice.sdk.network

    def lease(self, person: Person, **request: Any) -> dict[str, Any]:
        """Return an active lease of one reservation."""
        lease = self.book(person, 2, reservations=[request])
        return self.await_status(person, lease, 'ACTIVE', PATIENCE)

    def change(self, lease: dict[str, Any], **request: Any) -> dict[str, Any]:
        """Change the reservation, and return the lease when the cloud has followed."""
        changes = [{'id': base.reservation(lease), **request}]
        self.alice.update_lease(lease['id'], reservations=changes)
        return self.await_status(self.alice, lease, 'ACTIVE', PATIENCE)

    def tag(self, lease: dict[str, Any]) -> str:
        """Return the tag of what a lease has."""
        return f'reservation:{base.reservation(lease)}'

    def end(self, lease: dict[str, Any]) -> None:
        """Have a lease end now, and return when it has."""
        later = base.soon(2).isoformat()
        shorter = self.alice.update_lease(lease['id'], end_date=later)
        self.await_status(self.alice, shorter, 'TERMINATED', PATIENCE)

    # -- what Alice has beside

    def subnet(self, network_id: str) -> str:
        """Make a subnet; it goes with its network."""
        made = self.neutron.create_subnet(
            network_id=network_id, ip_version=4, cidr='10.9.0.0/24', is_dhcp_enabled=False
        )
        return str(made.id)

    def router(self, subnet_id: str) -> str:
        """Make a router between a subnet and the external network."""
        made = self.neutron.create_router(
            name=f'{PREFIX}router', external_gateway_info={'network_id': self.external}
        )
        self.addCleanup(self._remove_router, made.id)
        self.neutron.add_interface_to_router(made.id, subnet_id=subnet_id)
        return str(made.id)

    def _remove_router(self, router_id: str) -> None:
        for port in self.neutron.ports(device_id=router_id):
            with contextlib.suppress(openstack.exceptions.SDKException):
                self.neutron.remove_interface_from_router(router_id, port_id=port.id)
        self.neutron.delete_router(router_id)

    def inner(self) -> str:
        """Make a network with a subnet, and return the id of the subnet."""
        made = self.neutron.create_network(name=f'{PREFIX}inner')
        self.addCleanup(until, lambda: self._remove_network(made.id), 30, 'the network is gone')
        return self.subnet(made.id)

    def _remove_network(self, network_id: str) -> bool:
        for port in self.neutron.ports(network_id=network_id):
            with contextlib.suppress(openstack.exceptions.SDKException):
                self.neutron.delete_port(port)
        with contextlib.suppress(openstack.exceptions.SDKException):
            self.neutron.delete_network(network_id)
        return self.neutron.find_network(network_id) is None
