# SPDX-License-Identifier: Apache-2.0

"""Volumes and whole storage pools, from their booking to after the lease."""

from __future__ import annotations

from typing import Any

import fixtures
import openstack

from tests.cloud import base
from tests.cloud.base import smoke
from tests.cloud.house import PREFIX
from tests.cloud.people import Person
from tests.cloud.waiting import until
from tools.cloud.state import Cloud

# Cinder has one worker, and a backup takes a few seconds.
PATIENCE = 90.0


class Pool(fixtures.Fixture):
    """The only pool of the cloud, registered while a test runs."""

    def __init__(self, cloud: Cloud) -> None:
        super().__init__()
        self._cloud = cloud

    def _setUp(self) -> None:
        admin = Person(self._cloud, 'admin')
        self.addCleanup(admin.sdk.close)
        (pool,) = admin.sdk.block_storage.backend_pools()
        # The driver does not know how large it is.
        body = {
            'resource_type': 'physical:storage',
            'name': pool.name,
            'inventories': {'DISK_GB': 1000},
        }
        response = admin.call('POST', '/resources', body, version='1.2')
        assert response.status_code == 201, response.text
        self.resource = response.json()['resource']
        path = f'/resources/{self.resource["id"]}'
        self.addCleanup(admin.call, 'DELETE', path, version='1.2')


class VolumeTest(base.CloudTest):
    """What Cinder and Keystone have of a lease."""

    hosts = 0

    def setUp(self) -> None:
        # First, so that it goes last: the house takes the leases away before.
        self.pool = self.useFixture(Pool(self.cloud)).resource
        super().setUp()
        self.cinder = self.alice.sdk.block_storage
        self.kept = {item.id for item in self.cinder.backups()}
        self.addCleanup(self.remove_backups)

    def remove_backups(self) -> None:
        """Remove the backups of the test."""

        def remove() -> bool:
            found = [item for item in self.cinder.backups() if item.id not in self.kept]
            for item in found:
                if item.status in ('available', 'error'):
                    self.cinder.delete_backup(item)
            return not found

        until(remove, PATIENCE, 'the backups are gone')

    def volume(self, name: str, **wanted: str) -> Any:
        """Return a volume of Alice's that is made; none is left if the lease does not end."""
        made = self.cinder.create_volume(size=1, name=f'{PREFIX}{name}', **wanted)
        # When the servers that use it are gone.
        self.house.at_end.append(lambda: self.remove_volume(made.id))
        until(lambda: self.cinder.get_volume(made.id).status == 'available', PATIENCE, 'it is made')
        return made

    def remove_volume(self, volume_id: str) -> None:
        """Remove a volume, unless it is gone, and return when it is."""

        def remove() -> bool:
            found = self.cinder.find_volume(volume_id)
            if found is not None and found.status in ('available', 'error'):
                self.cinder.delete_volume(volume_id)
            return found is None

        until(remove, PATIENCE, f'the volume {volume_id} is gone')

    def started(self, **request: Any) -> dict[str, Any]:
        """Return an active lease of one reservation."""
        lease = self.book(self.alice, 2, reservations=[request])
        return self.await_status(self.alice, lease, 'ACTIVE', PATIENCE)

    def end(self, lease: dict[str, Any]) -> dict[str, Any]:
        """Have a lease end now, and return it when it has."""
        later = base.soon(2).isoformat()
        shorter = self.alice.update_lease(lease['id'], end_date=later)
        return self.await_status(self.alice, shorter, 'TERMINATED', PATIENCE)

    def trusts(self) -> int:
        """Return how many trusts Alice has made."""
        user_id = self.alice.sdk.current_user_id
        found = self.alice.sdk.identity.get(f'/OS-TRUST/trusts?trustor_user_id={user_id}')
        return len(found.json()['trusts'])

    @smoke
    def test_made_backed_up_and_deleted(self) -> None:
        trusts = self.trusts()
        kind = self.cloud.volume_type
        wanted = {'resource_type': 'virtual:volume', 'size': 1, 'amount': 2, 'volume_type': kind}
        lease = self.started(**wanted, on_end=['backup', 'delete'])
        (reservation,) = lease['reservations']
        found = [self.cinder.get_volume(each) for each in reservation['volumes']]
        self.assertEqual(2, len(found))
        for volume in found:
            self.assert_has(volume, status='available', size=1, volume_type=kind)
            self.assertEqual(reservation['id'], volume.metadata['climate:reservation'])
        self.assertEqual(trusts + 1, self.trusts())
        (reservation,) = self.end(lease)['reservations']
        copies = {self.cinder.get_backup(each['id']).status for each in reservation['copies']}
        self.assertEqual(({'available'}, 2), (copies, len(reservation['copies'])))
        for volume in found:
            self.assertRaises(
                openstack.exceptions.NotFoundException, self.cinder.get_volume, volume.id
            )
        self.assertEqual(trusts, self.trusts())

    def test_one_that_is_there_is_not_deleted_while_it_is_in_use(self) -> None:
        volume = self.volume('mine')
        server_id = self.boot(self.alice)
        self.assertEqual('ACTIVE', self.alice.settled(server_id))
        lease = self.started(resource_type='virtual:volume', volume_id=volume.id, on_end=['delete'])
        self.alice.sdk.compute.create_volume_attachment(server_id, volume_id=volume.id)
        until(
            lambda: self.cinder.get_volume(volume.id).status == 'in-use', PATIENCE, 'it is in use'
        )
        later = base.soon(2).isoformat()
        self.alice.update_lease(lease['id'], end_date=later)
        self.await_status(self.alice, lease, 'ERROR', PATIENCE)
        self.assertEqual('in-use', self.cinder.get_volume(volume.id).status)
        self.alice.sdk.compute.delete_server(server_id)
        self.await_status(self.alice, lease, 'TERMINATED', PATIENCE)
        self.assertIsNone(self.cinder.find_volume(volume.id))

    def test_a_whole_pool(self) -> None:
        lease = self.started(resource_type='physical:storage', min=1, max=1)
        (name,) = lease['reservations'][0]['volume_types']
        self.assertIn(name, [item.name for item in self.cinder.types()])
        self.assertNotIn(name, [item.name for item in self.bob.sdk.block_storage.types()])
        volume = self.volume('whole', volume_type=name)
        found = self.admin.sdk.block_storage.get_volume(volume.id)
        self.assertEqual(self.pool['name'], found.host)
        self.end(lease)
        self.assertIsNone(self.cinder.find_volume(volume.id))
        types = self.admin.sdk.block_storage.types(is_public='None')
        self.assertNotIn(name, [item.name for item in types])
