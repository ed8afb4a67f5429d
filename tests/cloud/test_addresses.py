# SPDX-License-Identifier: Apache-2.0
"""Leased floating IPs, on a real Neutron."""

from __future__ import annotations

from typing import Any

from climate.plugins.floating_ip.plugin import FloatingIP
from tests.cloud.neutron import NeutronTest
from tests.cloud.neutron import PATIENCE
from tests.cloud.waiting import until

ADDRESSES = ('198.51.100.101', '198.51.100.102', '198.51.100.103')


class FloatingIPTest(NeutronTest):
    """Addresses from their registration to after the lease."""

    def setUp(self) -> None:
        super().setUp()
        for address in ADDRESSES:
            self.registry.register(
                FloatingIP(), floating_network_id=self.external, floating_ip_address=address
            )

    def ask(self, amount: int, *required: str) -> dict[str, Any]:
        """Return an active lease of some."""
        what = {'resource_type': 'virtual:floatingip', 'network_id': self.external}
        wanted = list(required)
        return self.lease(self.alice, **what, amount=amount, required_floatingips=wanted)

    def found(self, lease: dict[str, Any]) -> dict[str, Any]:
        """Return what Alice sees of a lease in Neutron, by address."""
        listed = self.neutron.ips(tags=self.tag(lease))
        return {item.floating_ip_address: item for item in listed}

    def taken(self) -> set[str]:
        """Return the addresses of the external network that anybody has."""
        listed = self.admin.sdk.network.ips(floating_network_id=self.external)
        return {item.floating_ip_address for item in listed}

    def test_whole_life(self) -> None:
        _, kept, _ = ADDRESSES
        lease = self.ask(2, kept)
        found = self.found(lease)
        self.assertEqual(2, len(found))
        self.assertIn(kept, found)
        for item in found.values():
            self.assertEqual(self.alice.project_id, item.project_id)
            self.assertIn('blazar', item.tags)
        subnet = self.inner()
        router = self.router(subnet)
        port = self.neutron.create_port(network_id=self.neutron.get_subnet(subnet).network_id)
        self.neutron.update_ip(found[kept], port_id=port.id)

        self.check_changes(lease, kept)
        self.check_what_is_in_use_stays(lease, kept, subnet)

        self.end(lease)
        self.assertEqual(set(), self.taken())
        self.assertEqual('DOWN', self.neutron.get_port(port.id).status)
        self.neutron.remove_interface_from_router(router, subnet_id=subnet)

    def check_changes(self, lease: dict[str, Any], kept: str) -> None:
        """It shrinks to what is in use, and grows again."""
        self.change(lease, amount=1)
        self.assertEqual({kept}, set(self.found(lease)))
        self.change(lease, amount=3)
        self.assertEqual(set(ADDRESSES), set(self.found(lease)))

    def check_what_is_in_use_stays(self, lease: dict[str, Any], kept: str, subnet: str) -> None:
        """A change that would take what is in use is undone."""
        network = self.neutron.get_subnet(subnet).network_id
        for address in set(ADDRESSES) - {kept}:
            port = self.neutron.create_port(network_id=network)
            self.neutron.update_ip(self.found(lease)[address], port_id=port.id)
        changes = [{'id': lease['reservations'][0]['id'], 'amount': 2}]
        self.alice.update_lease(lease['id'], reservations=changes)

        def amount() -> int:
            seen = self.alice.lease(lease['id'])
            self.assertIn(seen['status'], ('ACTIVE', 'UPDATING'))
            return seen['reservations'][0]['amount'] if seen['status'] == 'ACTIVE' else 0

        until(lambda: amount() == 3, 30, 'the change is undone')
        self.assertEqual(set(ADDRESSES), set(self.found(lease)))
        self.assertTrue(all(item.port_id for item in self.found(lease).values()))

    def test_deleted_while_it_is_active(self) -> None:
        lease = self.ask(3)
        self.assertEqual(set(ADDRESSES), self.taken())
        self.alice.delete_lease(lease['id'])
        self.await_gone(self.alice, lease, PATIENCE)
        self.assertEqual(set(), self.taken())

    def test_an_address_in_use_is_waited_for(self) -> None:
        neutron = self.admin.sdk.network
        stranger = neutron.create_ip(
            floating_network_id=self.external, floating_ip_address=ADDRESSES[0]
        )
        body = {
            'resource_type': 'virtual:floatingip',
            'network_id': self.external,
            'amount': 1,
            'required_floatingips': [ADDRESSES[0]],
        }
        lease = self.book(self.alice, 1, reservations=[body])
        self.await_status(self.alice, lease, 'STARTING', PATIENCE)
        neutron.delete_ip(stranger)
        self.await_status(self.alice, lease, 'ACTIVE', 60)
        self.assertEqual({ADDRESSES[0]}, set(self.found(lease)))
