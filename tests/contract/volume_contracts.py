# SPDX-License-Identifier: Apache-2.0

"""What every client of Cinder is held to: the docstrings of its protocols, as tests."""

from __future__ import annotations

from typing import Any

from climate import exceptions
from climate.cloud import base
from tests import waiting
from tests.contract import backends
from tests.contract import contracts
from tests.contract.volume_backends import PATIENCE
from tests.narrowing import present


class StorageContract(contracts.Contract):
    """Makes volumes that go away after the test."""

    def setUp(self) -> None:
        super().setUp()
        self.volume: base.BlockStorage = self.backend.cloud.volume

    def made(self, size_gb: int | None = 1, **options: Any) -> base.Volume:
        """Make a volume and wait until it is there."""
        volume_id = self.volume.create_volume(backends.unique(), size_gb, **options)
        self.addCleanup(self.clean_volume, volume_id)
        return self.settled(volume_id)

    def settled(self, volume_id: str) -> base.Volume:
        """Wait until a volume has been made, or not."""

        def look() -> base.Volume | None:
            found = present(self.volume.find_volume(volume_id))
            return None if found.status in ('creating', 'downloading') else found

        return present(waiting.until(look, PATIENCE, 'the volume is made'))

    def clean_volume(self, volume_id: str) -> None:
        """Remove a volume and its snapshots, and wait until they are gone."""
        for snapshot in self.volume.list_snapshots(volume_id):
            self.gone_snapshot(snapshot.id)
        self.volume.delete_volume(volume_id)
        waiting.until(
            lambda: self.volume.find_volume(volume_id) is None, PATIENCE, 'the volume is gone'
        )

    def free(self, volume_id: str, server_id: str) -> None:
        """Delete the server that a volume is attached to."""
        self.compute.delete_server(server_id)

        def loose() -> bool:
            found = self.volume.find_volume(volume_id)
            return found is not None and found.status == 'available'

        waiting.until(loose, PATIENCE, 'the volume is free')

    def snapshot(self, volume_id: str) -> base.VolumeSnapshot:
        """Make a snapshot and wait until it is there."""
        snapshot_id = self.volume.create_snapshot(volume_id, backends.unique())

        def look() -> base.VolumeSnapshot | None:
            found = present(self.volume.find_snapshot(snapshot_id))
            return None if found.status == 'creating' else found

        return present(waiting.until(look, PATIENCE, 'the snapshot is made'))

    def gone_snapshot(self, snapshot_id: str) -> None:
        """Delete a snapshot and wait until it is gone."""
        self.volume.delete_snapshot(snapshot_id)
        waiting.until(
            lambda: self.volume.find_snapshot(snapshot_id) is None, PATIENCE, 'it is gone'
        )

    def refused(self, expected: type[Exception], call: Any, *arguments: Any, **named: Any) -> None:
        """Check that a call is refused with exactly this kind of error."""
        error = self.assertRaises(exceptions.Permanent, call, *arguments, **named)
        self.assertIs(expected, type(error), error.message)


class VolumeContract(StorageContract):
    """Volumes."""

    def test_made_found_and_listed(self) -> None:
        mark = {'reservation': backends.unique()}
        made = self.made(metadata={**mark, 'other': '1'})
        self.assertEqual(('available', 1, ()), (made.status, made.size_gb, made.server_ids))
        self.assertEqual({**mark, 'other': '1'}, made.metadata)
        self.assertTrue(made.project_id)
        self.assertTrue(made.availability_zone)
        self.assertEqual((made,), self.volume.list_volumes(metadata=mark))
        self.assertEqual((), self.volume.list_volumes(metadata={**mark, 'other': '2'}))

    def test_it_lies_in_a_pool_and_is_of_a_type(self) -> None:
        made = self.made()
        self.assertIn(made.pool, [pool.name for pool in self.volume.list_pools()])
        self.assertIn(made, self.volume.list_volumes(pool=made.pool))
        self.assertIn(made, self.volume.list_volumes(volume_type=made.volume_type))
        self.assertEqual((), self.volume.list_volumes(pool=backends.unique()))
        self.assertEqual((), self.volume.list_volumes(volume_type=backends.unique()))
        ids = [found.id for found in self.volume.list_volumes()]
        self.assertEqual(sorted(ids), ids)
        found = present(self.volume.find_volume_type(made.volume_type))
        self.assertEqual(made.volume_type, self.made(volume_type=found.name).volume_type)

    def test_what_is_not_there_is_none_or_fine(self) -> None:
        for nobody in (contracts.NOBODY, 'nobody'):
            self.assertIsNone(self.volume.find_volume(nobody))
            self.volume.delete_volume(nobody)

    def test_made_of_something(self) -> None:
        first = self.made(2)
        snapshot = self.snapshot(first.id)
        for kind, ident, size in (
            ('snapshot', snapshot.id, None),
            ('volume', first.id, None),
            ('volume', first.id, 3),
            ('image', self.backend.image(), 2),
        ):
            made = self.made(size, source=base.Source(kind=kind, id=ident))
            self.assertEqual(('available', size or 2), (made.status, made.size_gb))

    def test_what_cannot_be_had_is_refused(self) -> None:
        first = self.made(2)
        nobody = contracts.NOBODY
        for expected, size, options in (
            (base.CloudNotFound, 1, {'volume_type': backends.unique()}),
            (base.CloudNotFound, 1, {'source': base.Source(kind='snapshot', id=nobody)}),
            (base.CloudNotFound, 1, {'source': base.Source(kind='volume', id=nobody)}),
            (exceptions.Permanent, 1, {'source': base.Source(kind='image', id=nobody)}),
            (exceptions.Permanent, 1, {'source': base.Source(kind='volume', id=first.id)}),
            (exceptions.Permanent, 1, {'availability_zone': backends.unique()}),
            (exceptions.Permanent, 0, {}),
            (exceptions.Permanent, None, {}),
        ):
            self.refused(expected, self.made, size, **options)

    def test_quotas_are_reported(self) -> None:
        self.backend.quota('gigabytes', 1)
        self.refused(base.CloudQuota, self.made, 2)
        self.backend.quota('gigabytes', 100)
        self.backend.quota('volumes', 0)
        self.refused(base.CloudQuota, self.made)

    def test_one_that_no_pool_takes_is_in_error_and_can_be_deleted(self) -> None:
        kind = self.volume.create_volume_type(backends.unique(), {'volume_backend_name': 'nobody'})
        self.addCleanup(self.volume.delete_volume_type, kind.id)
        made = self.made(volume_type=kind.name)
        self.assertEqual(('error', '', kind.name), (made.status, made.pool, made.volume_type))
        self.refused(base.CloudConflict, self.volume.create_snapshot, made.id, 'x')
        self.refused(base.CloudConflict, self.volume.create_backup, made.id, 'x')
        self.refused(base.CloudConflict, self.volume.delete_volume_type, kind.id)

    def test_deleted_and_again(self) -> None:
        made = self.made()
        for _ in range(2):
            self.volume.delete_volume(made.id)
        self.clean_volume(made.id)

    def test_one_in_use_stays(self) -> None:
        made = self.made()
        server_id = self.backend.attach(made.id)
        self.addCleanup(self.free, made.id, server_id)
        found = present(self.volume.find_volume(made.id))
        self.assertEqual(('in-use', (server_id,)), (found.status, found.server_ids))
        self.refused(base.CloudConflict, self.volume.delete_volume, made.id)
        self.assertEqual('available', self.snapshot(made.id).status)

    def test_detached_and_again(self) -> None:
        made = self.made()
        server_id = self.backend.attach(made.id)
        self.addCleanup(self.free, made.id, server_id)
        self.assertEqual((made.id,), self.volumes_of(server_id))
        detach = self.compute.detach_volume
        self.lost('compute.detach_volume', detach, server_id, made.id)

        def loose() -> bool:
            found = self.volume.find_volume(made.id)
            return found is not None and found.status == 'available' and not found.server_ids

        waiting.until(loose, PATIENCE, 'the volume is detached')
        for server, volume in (
            (server_id, made.id),
            (server_id, contracts.NOBODY),
            (contracts.NOBODY, made.id),
        ):
            detach(server, volume)
        self.assertEqual((), self.volumes_of(server_id))

    def volumes_of(self, server_id: str) -> tuple[str, ...]:
        """Return the volumes of a server, as Nova knows them."""
        return tuple(present(self.compute.find_server(server_id)).volume_ids)

    def test_one_with_snapshots_stays(self) -> None:
        made = self.made()
        self.snapshot(made.id)
        self.refused(base.CloudConflict, self.volume.delete_volume, made.id)

    def test_made_and_deleted_although_the_answer_was_lost(self) -> None:
        mark = {'reservation': backends.unique()}
        self.backend.lose_answer('volume.create_volume')
        self.assertRaises(exceptions.Transient, self.made, metadata=mark)
        (found,) = self.volume.list_volumes(metadata=mark)
        self.addCleanup(self.clean_volume, found.id)
        self.settled(found.id)
        self.lost('volume.delete_volume', self.volume.delete_volume, found.id)
        self.volume.delete_volume(found.id)


class SnapshotContract(StorageContract):
    """Snapshots, and backups where there are none."""

    def test_made_found_listed_and_deleted_and_again(self) -> None:
        volume = self.made()
        made = self.snapshot(volume.id)
        self.assert_has(
            made, volume_id=volume.id, project_id=volume.project_id, size_gb=1, status='available'
        )
        self.assertEqual((made,), self.volume.list_snapshots(volume.id))
        for _ in range(2):
            self.volume.delete_snapshot(made.id)
        self.gone_snapshot(made.id)
        self.assertEqual((), self.volume.list_snapshots(volume.id))

    def test_what_is_not_there(self) -> None:
        self.assertIsNone(self.volume.find_snapshot(contracts.NOBODY))
        self.assertIsNone(self.volume.find_backup(contracts.NOBODY))
        self.assertEqual((), self.volume.list_snapshots(contracts.NOBODY))
        self.assertEqual((), self.volume.list_backups(contracts.NOBODY))
        self.volume.delete_snapshot(contracts.NOBODY)
        self.volume.delete_backup(contracts.NOBODY)
        self.refused(base.CloudNotFound, self.volume.create_snapshot, contracts.NOBODY, 'x')
        self.refused(base.CloudNotFound, self.volume.create_backup, contracts.NOBODY, 'x')

    def test_quotas_are_reported(self) -> None:
        volume = self.made()
        for resource in ('snapshots', 'gigabytes'):
            self.backend.quota(resource, 0)
            self.refused(base.CloudQuota, self.volume.create_snapshot, volume.id, 'x')
            self.backend.quota(resource, 100)

    def test_made_and_deleted_although_the_answer_was_lost(self) -> None:
        volume = self.made()
        self.lost('volume.create_snapshot', self.volume.create_snapshot, volume.id, 'x')
        (found,) = self.volume.list_snapshots(volume.id)
        waiting.until(
            lambda: self.volume.list_snapshots(volume.id)[0].status == 'available',
            PATIENCE,
            'the snapshot is made',
        )
        self.lost('volume.delete_snapshot', self.volume.delete_snapshot, found.id)
        self.gone_snapshot(found.id)


class BackupContract(StorageContract):
    """Backups where there is a service for them."""

    def test_made_found_and_deleted_and_again(self) -> None:
        volume = self.made()
        backup_id = self.volume.create_backup(volume.id, 'mine')
        waiting.until(
            lambda: self.volume.list_backups(volume.id)[0].status == 'available',
            PATIENCE,
            'the backup is made',
        )
        found = present(self.volume.find_backup(backup_id))
        self.assert_has(found, project_id=volume.project_id, size_gb=1, reason='')
        self.clean_volume(volume.id)
        self.assertEqual((found,), self.volume.list_backups(volume.id))
        for _ in range(2):
            self.volume.delete_backup(backup_id)
        waiting.until(lambda: self.volume.find_backup(backup_id) is None, PATIENCE, 'it is gone')


class NoBackupContract(StorageContract):
    """What a Cinder says that has no service for backups.

    The cloud for tests has one, and Cinder goes on using one that is disabled:
    this was seen on a cloud without.
    """

    def test_without_a_service_a_backup_goes_to_error_and_stays(self) -> None:
        self.backend.no_backups()
        volume = self.made()
        backup_id = self.volume.create_backup(volume.id, 'mine')

        def look() -> base.Backup | None:
            found = present(self.volume.find_backup(backup_id))
            return None if found.status == 'creating' else found

        made = present(waiting.until(look, PATIENCE, 'the backup is decided upon'))
        self.assertEqual(('mine', volume.id, 'error'), (made.name, made.volume_id, made.status))
        self.assertIn('Service', made.reason)
        self.assertEqual((made,), self.volume.list_backups(volume.id))
        self.refused(base.CloudConflict, self.volume.delete_backup, backup_id)
        self.assertEqual('available', self.settled(volume.id).status)
