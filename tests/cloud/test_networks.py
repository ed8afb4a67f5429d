# SPDX-License-Identifier: Apache-2.0
"""Leased networks, on a real Neutron."""

from __future__ import annotations

from typing import Any

from climate.plugins.network import errors
from climate.plugins.network.plugin import NetworkPlugin
from tests.cloud.house import PREFIX
from tests.cloud.neutron import NeutronTest
from tests.cloud.neutron import PATIENCE
from tests.cloud.people import soon
from tests.cloud.waiting import until

VLAN = 1777
TUNNEL = 70001  # beyond what Neutron gives away


class NetworkTest(NeutronTest):
    """A segment from its registration to after the lease."""

    def setUp(self) -> None:
        super().setUp()
        self.plugin = NetworkPlugin()
        self.vlan = {'network_type': 'vlan', 'physical_network': 'physnet1', 'segment_id': VLAN}
        self.registry.register(self.plugin, **self.vlan)

    def ask(self, name: str, **more: Any) -> dict[str, Any]:
        """Return an active lease of a network."""
        return self.lease(
            self.alice, resource_type='network', network_name=f'{PREFIX}{name}', **more
        )

    def network_of(self, lease: dict[str, Any]) -> str:
        """Return the id in the lease."""
        return str(self.alice.lease(lease['id'])['reservations'][0]['network_id'])

    def boot_on(self, network_id: str) -> str:
        """Start a server of Alice's on a network."""
        compute = self.alice.sdk.compute
        server = compute.create_server(
            name=f'{PREFIX}plugged',
            flavor_id=compute.find_flavor(self.cloud.flavor).id,
            image_id=self.alice.sdk.image.find_image(self.cloud.image).id,
            networks=[{'uuid': network_id}],
        ).id
        self.assertEqual('ACTIVE', self.alice.settled(server))
        return str(server)

    def test_whole_life(self) -> None:
        lease = self.ask('lab', network_description='the lab')
        network_id = self.network_of(lease)
        seen = self.admin.sdk.network.get_network(network_id)
        self.assertEqual(
            (f'{PREFIX}lab', 'the lab', self.alice.project_id),
            (seen.name, seen.description, seen.project_id),
        )
        self.assert_has(seen, provider_network_type='vlan', provider_physical_network='physnet1')
        self.assertEqual(VLAN, seen.provider_segmentation_id)
        self.assertEqual(
            [network_id], [item.id for item in self.neutron.networks(tags=self.tag(lease))]
        )
        self.assertRaises(errors.SegmentInUse, self.registry.register, self.plugin, **self.vlan)
        router = self.router(self.subnet(network_id))
        server = self.boot_on(network_id)
        (port,) = self.neutron.ports(device_id=server)
        floating = self.neutron.create_ip(floating_network_id=self.external, port_id=port.id)
        self.addCleanup(self.neutron.delete_ip, floating)

        self.change(lease, network_name=f'{PREFIX}home')
        self.assertEqual(f'{PREFIX}home', self.neutron.get_network(network_id).name)
        self.assertTrue(list(self.neutron.ports(device_id=server)))

        self.end(lease)
        self.check_end(network_id, router, server, floating.id)

    def check_end(self, network_id: str, router: str, server: str, floating: str) -> None:
        """The network is gone; what was plugged in is not."""
        self.assertIsNone(self.admin.sdk.network.find_network(network_id))
        self.assertEqual([], list(self.neutron.ports(device_id=server)))
        self.assertEqual('ACTIVE', self.alice.status(server))
        self.assertEqual([], list(self.neutron.ports(device_id=router)))
        self.assertIsNotNone(self.neutron.find_router(router))
        self.assertIsNone(self.neutron.get_ip(floating).port_id)

    def test_deleted_by_its_project_and_ended(self) -> None:
        lease = self.ask('short')
        self.neutron.delete_network(self.network_of(lease))
        self.end(lease)
        self.assertEqual([], list(self.neutron.networks(tags=self.tag(lease))))

    def test_a_tunnel_and_the_next_lease_of_it(self) -> None:
        self.registry.register(self.plugin, network_type='vxlan', segment_id=TUNNEL)
        wanted = '["==", "$network_type", "vxlan"]'
        first = self.ask('first', network_properties=wanted)
        self.subnet(self.network_of(first))
        first = self.alice.update_lease(first['id'], end_date=soon(4).isoformat())
        body = {
            'resource_type': 'network',
            'network_name': f'{PREFIX}second',
            'network_properties': wanted,
        }
        second = self.book(self.bob, 0, 600, start_date=first['end_date'], reservations=[body])
        second = self.await_status(self.bob, second, 'ACTIVE', PATIENCE)
        network_id = second['reservations'][0]['network_id']
        seen = self.admin.sdk.network.get_network(network_id)
        self.assertEqual(
            (self.bob.project_id, TUNNEL), (seen.project_id, seen.provider_segmentation_id)
        )
        until(
            lambda: self.alice.lease(first['id'])['status'] == 'TERMINATED', PATIENCE, 'it is over'
        )
