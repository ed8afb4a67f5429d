# SPDX-License-Identifier: Apache-2.0

"""What becomes of volumes at the end of a lease; nothing is ever lost."""

from __future__ import annotations

import contextlib
import datetime
import uuid
from typing import Any

import fixtures

from climate import exceptions
from climate.cloud.base import Volume
from climate.plugins.contract import Done
from climate.plugins.contract import Work
from climate.plugins.volume.end import StorageSettings
from tests.databases import fetch
from tests.functional.manager import test_volumes
from tests.functional.manager.neutron_case import END
from tests.functional.manager.neutron_case import START
from tests.functional.manager.test_volumes import LATER


class ExistingVolumeTest(test_volumes.VolumeCase):
    """Volumes that were there before the lease."""

    def setUp(self) -> None:
        super().setUp()
        self.mine = self.cloud.volumes.add_volume('mine', 'blue', 5)

    def take(self, status: int = 201, **request: Any) -> Any:
        """Book the volume."""
        return self.book(status, volume_id=self.mine.id, **request)

    def there(self) -> Volume | None:
        """Return the volume as it is now."""
        return self.cloud.volume.find_volume(self.mine.id)

    def test_two_leases_cannot_have_it_at_the_same_time(self) -> None:
        lease = self.take()
        self.assertEqual('Not enough volumes available', self.take(409)['error_message'])
        self.until(START)
        shown = self.reservation(lease)
        self.assert_has(
            shown, volume_id=self.mine.id, volumes=[self.mine.id], on_end=[], guarantee=False
        )
        self.until(END)
        self.assertEqual('TERMINATED', self.status(lease))
        self.assertEqual(self.mine.name, getattr(self.there(), 'name', None))

    def test_what_cannot_be_taken_is_reported_early(self) -> None:
        theirs = self.cloud.volumes.add_volume('theirs', 'red')
        for request, word in (
            ({'volume_id': 'x'}, 'not the id of a volume'),
            ({'volume_id': f'{self.mine.id}#2'}, 'not the id of a volume'),
            ({'volume_id': theirs.id}, 'not found'),
            ({'volume_id': self.mine.id, 'size': 3}, 'size'),
            ({'volume_id': self.mine.id, 'amount': 2}, 'amount'),
        ):
            self.assertIn(word, self.book(400, **request)['error_message'])
        self.cloud.set_seconds('volume_deletion', 100)
        self.cloud.volume.delete_volume(self.mine.id)
        self.assertIn('it is deleting', self.take(400)['error_message'])

    def test_only_the_end_can_be_changed(self) -> None:
        lease = self.take()
        for request in ({'volume_id': str(uuid.uuid4())}, {'size': 3}, {'on_end': ['backup']}):
            refused = self.change(lease, 409, **request)
            self.assertEqual('CANT_UPDATE_PARAMETER', refused['error_name'])
        self.change(lease, on_end='detach,delete')
        self.until(END + LATER)
        self.assertIsNone(self.there())

    def test_one_that_has_gone_meanwhile_is_reported(self) -> None:
        lease = self.take(on_end=['delete'])
        self.cloud.volume.delete_volume(self.mine.id)
        self.until(START + LATER)
        self.assert_notified(lease, 'is gone')

    def test_a_lease_that_never_started_deletes_nothing(self) -> None:
        for when in (START - datetime.timedelta(minutes=5), START):
            lease = self.take(on_end=['delete'], start=START + datetime.timedelta(minutes=1))
            self.until(when)
            self.send(204, 'DELETE', f'/v1/leases/{lease["id"]}')
            self.later(60)
            self.assertIsNotNone(self.there())

    def test_it_is_copied_and_deleted(self) -> None:
        lease = self.take(on_end=['detach', 'backup', 'delete'])
        self.until(START)
        self.attach(self.mine)
        self.until(END + LATER)
        self.assertEqual(('TERMINATED', None), (self.status(lease), self.there()))
        (backup,) = self.cloud.volumes.backups()
        reservation = self.reservation(lease)
        self.assert_has(backup, project_id='blue', status='available')
        self.assertEqual(f'mine reservation:{reservation["id"]}', backup.name)
        found = reservation['copies']
        self.assertEqual([{'type': 'backup', 'id': backup.id, 'volume_id': self.mine.id}], found)

    def test_a_snapshot_keeps_the_volume(self) -> None:
        lease = self.take(on_end=['snapshot'])
        self.until(END + LATER)
        self.assertEqual('TERMINATED', self.status(lease))
        (made,) = self.cloud.volumes.snapshots()
        self.assertEqual((self.mine.id, 'blue'), (made.volume_id, made.project_id))
        self.assertIsNotNone(self.there())

    def test_one_in_use_is_not_deleted_until_it_is_not(self) -> None:
        lease = self.take(on_end=['delete'])
        self.until(START)
        server_id = self.attach(self.mine)
        self.until(END + LATER)
        self.assert_notified(lease, 'attached', server_id)
        self.assertIsNotNone(self.there())
        self.cloud.compute.delete_server(server_id)
        self.later(120)
        self.assertEqual(('TERMINATED', None), (self.status(lease), self.there()))

    def test_one_with_snapshots_is_not_deleted(self) -> None:
        lease = self.take(on_end=['delete'])
        self.until(START)
        snapshot = self.cloud.volume.create_snapshot(self.mine.id, 'users own')
        self.until(END + LATER)
        self.assert_notified(lease, 'snapshots', snapshot)
        self.assertIsNotNone(self.there())
        self.cloud.volume.delete_snapshot(snapshot)
        self.later(120)
        self.assertEqual(('TERMINATED', None), (self.status(lease), self.there()))

    def test_one_that_could_not_be_backed_up_stays(self) -> None:
        lease = self.take(on_end=['backup', 'delete'])
        self.until(START)
        self.cloud.volumes.set_backup_service(False)
        self.until(END + LATER)
        self.assert_notified(lease, 'backup', 'the volume was not changed')
        self.assertIsNotNone(self.there())
        # No heap of failed ones: it could not be removed either.
        self.assertEqual(['error'], [item.status for item in self.cloud.volumes.backups()])
        self.cloud.volumes.set_backup_service(True)
        self.later(200)
        self.assertEqual(('TERMINATED', None), (self.status(lease), self.there()))
        self.assertEqual(['available'], [item.status for item in self.cloud.volumes.backups()])

    def test_a_quota_of_backups_keeps_it(self) -> None:
        self.cloud.volumes.set_quota('blue', 'backups', 0)
        lease = self.take(on_end=['backup', 'delete'])
        self.until(END + LATER)
        self.assert_notified(lease, 'quota')
        self.assertIsNotNone(self.there())

    def test_a_backup_that_takes_long_is_waited_for_and_reported(self) -> None:
        # Every look costs a transaction: a few will do.
        poll = StorageSettings(poll=datetime.timedelta(minutes=5))
        self.useFixture(fixtures.MockPatchObject(self.plugin, '_settings', poll))
        self.cloud.set_seconds('backup_creation', 20000)
        lease = self.take(on_end=['backup', 'delete'])
        self.until(END + datetime.timedelta(hours=1))
        self.assertEqual('TERMINATING', self.status(lease))
        self.until(END + datetime.timedelta(hours=5))
        self.assert_notified(lease, 'takes too long', 'backing-up')
        self.assertIsNotNone(self.there())
        self.until(END + datetime.timedelta(hours=6))
        self.assertEqual(('TERMINATED', None), (self.status(lease), self.there()))
        self.assertEqual(1, len(self.cloud.volumes.backups()))

    def test_every_call_of_the_end_fails_in_turn(self) -> None:
        lease = self.take(on_end=['detach', 'backup', 'delete'])
        self.until(START)
        self.attach(self.mine)
        begin = self.cloud.state()
        work = self.work_of(lease)
        self.cloud.keep_journal()
        self.run_end(work)
        calls = [call.verb for call in self.cloud.journal()]
        self.assertIn('volume.create_backup', calls)
        for nth in range(len(calls)):
            for when in ('before', 'after'):
                for error in ('transient', 'permanent'):
                    self.cloud.restore(begin)
                    self.cloud.fail('*', when=when, error=error, skip=nth)
                    self.run_end(work)
                    (backup,) = self.cloud.volumes.backups()
                    self.assertEqual('available', backup.status, (nth, calls[nth], when, error))
                    self.assertIsNone(self.there())

    def work_of(self, lease: dict[str, Any]) -> Any:
        """Return what a manager would hand over at the end."""
        found = fetch(self.service.store, lambda tx: tx.leases.find(lease['id']))
        assert found is not None
        now = self.service.clock.now()
        return Work(
            lease=found,
            reservation=found.reservations[0],
            allocations=(),
            resources=(),
            now=now,
            since=now,
        )

    def run_end(self, work: Any) -> None:
        """End until it is done; the volume is there until its backup is."""
        for _ in range(30):
            with contextlib.suppress(exceptions.EffectError):
                if isinstance(self.plugin.end(work, self.cloud), Done):
                    return
            saved = [item for item in self.cloud.volumes.backups() if item.status == 'available']
            self.assertTrue(saved or self.cloud.volumes.volumes())
            self.service.clock.advance(10)
        raise AssertionError('it does not come to an end')
