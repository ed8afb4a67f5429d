# SPDX-License-Identifier: Apache-2.0
"""Servers for a time, on a real cloud: the first use case, with seconds for days."""

from __future__ import annotations

from typing import Any

from tests.cloud.base import CloudTest
from tests.cloud.house import PREFIX
from tests.cloud.waiting import until

PATIENCE = 120.0


class OwnServersTest(CloudTest):
    """One host is registered; servers without a lease live on the others."""

    hosts = 1

    def lease(self, start: float, seconds: float, **wanted: Any) -> dict[str, Any]:
        """Book a server, with its room on our host."""
        room = f'["==", "$hypervisor_hostname", "{self.lent[0]}"]'
        reservation = {'resource_type': 'virtual:server', 'resource_properties': room, **wanted}
        return self.alice.create_lease(
            self.lease_body(start, seconds) | {'reservations': [reservation]}
        )

    def await_server(self, server_id: str, status: str) -> None:
        """Wait until a server is in a status."""
        until(lambda: self.alice.status(server_id) == status, PATIENCE, f'the server is {status}')

    def await_notified(self, lease: dict[str, Any], status: str) -> dict[str, Any]:
        """Return a lease when it is in a status."""
        return self.await_status(self.alice, lease, status, PATIENCE)

    def image(self, lease: dict[str, Any]) -> Any:
        """Return the only image that a lease has made, as its owner sees it."""
        (image_id,) = lease['reservations'][-1]['image_ids']
        found = self.alice.sdk.image.get_image(image_id)
        self.addCleanup(self.alice.sdk.image.delete_image, image_id)
        return found

    def test_my_server_from_tomorrow_on_for_five_days_with_snapshot_and_deletion(self) -> None:
        server_id = self.boot(self.alice)
        self.assertEqual('ACTIVE', self.alice.settled(server_id))
        lease = self.lease(30, 600, server_id=server_id, on_end=['snapshot', 'delete'])
        self.await_server(server_id, 'SHELVED_OFFLOADED')
        self.await_notified(lease, 'ACTIVE')
        self.assertEqual('ACTIVE', self.alice.status(server_id))
        self.assertEqual(self.lent[0], self.host_of(server_id))
        self.assertIn(self.lent[0], self.members(self.cloud.freepool))
        # Nobody else gets in, and it has not opened a way for the project either.
        self.assertNotEqual(self.lent[0], self.elsewhere())
        self.end_now(self.alice, lease)
        over = self.await_notified(lease, 'TERMINATED')
        self.assertEqual('GONE', self.alice.status(server_id))
        image = self.image(over)
        self.assertEqual(('active', self.alice.project_id), (image.status, image.owner_id))
        self.assertIn(self.lent[0], self.members(self.cloud.freepool))

    def elsewhere(self) -> str:
        """Return the host of another server of the project."""
        other = self.boot(self.alice)
        self.assertEqual('ACTIVE', self.alice.settled(other))
        return self.host_of(other)

    def test_as_it_was_if_the_lease_is_deleted(self) -> None:
        server_id = self.boot(self.alice)
        self.assertEqual('ACTIVE', self.alice.settled(server_id))
        lease = self.lease(300, 600, server_id=server_id)
        self.await_server(server_id, 'SHELVED_OFFLOADED')
        refused = self.alice.call('POST', '/leases', self.again(server_id))
        self.assertEqual(409, refused.status_code, refused.text)
        self.alice.delete_lease(lease['id'])
        self.await_gone(self.alice, lease, PATIENCE)
        self.assertEqual('ACTIVE', self.alice.status(server_id))
        self.assertNotIn(self.host_of(server_id), self.lent)

    def again(self, server_id: str) -> dict[str, Any]:
        """Return the body of another lease of the same server."""
        reservation = {'resource_type': 'virtual:server', 'server_id': server_id}
        return self.lease_body(400, 600) | {'reservations': [reservation]}

    def test_one_that_is_booted_in_my_name(self) -> None:
        sdk = self.alice.sdk
        lease = self.lease(
            10,
            600,
            name=f'{PREFIX}booted',
            flavor=sdk.compute.find_flavor(self.cloud.flavor).id,
            image=sdk.image.find_image(self.cloud.image).id,
            networks=[{'uuid': sdk.network.find_network(self.cloud.network).id}],
            metadata={'mine': 'yes'},
        )
        server_id = self.await_notified(lease, 'ACTIVE')['reservations'][-1]['server_id']
        found = sdk.compute.get_server(server_id)
        self.assertEqual(('ACTIVE', self.alice.project_id), (found.status, found.project_id))
        self.assertEqual('yes', found.metadata['mine'])
        self.assertEqual(self.lent[0], self.host_of(server_id))
        self.end_now(self.alice, lease)
        over = self.await_notified(lease, 'TERMINATED')
        self.assertEqual('GONE', self.alice.status(server_id))
        self.assertEqual('active', self.image(over).status)
