# SPDX-License-Identifier: Apache-2.0

"""Leases of volumes, from HTTP to the cloud."""

from __future__ import annotations

import datetime
from typing import Any

from climate.cloud.base import Volume
from climate.domain.resources import ResourceDraft
from climate.resources.registrar import Registrar
from climate.simulator.volume_contents import POOL
from tests.databases import fetch
from tests.functional.manager.harness import SETTINGS
from tests.functional.manager.neutron_case import END
from tests.functional.manager.neutron_case import NeutronCase
from tests.functional.manager.neutron_case import START
from tests.narrowing import present

# After the last try of what is given up.
LATER = SETTINGS.effect_deadline + datetime.timedelta(minutes=5)


class VolumeCase(NeutronCase):
    """A service with a pool of 10,000 GiB, and what users do in Cinder."""

    def setUp(self) -> None:
        super().setUp()
        self.serve('virtual:volume')
        self.cloud.put_member('alice', 'blue', 'member')
        self.register(POOL)

    def register(self, name: str, **more: Any) -> int:
        """Have a pool registered."""
        registrar = Registrar(self.service.store, self.service.plugins, self.cloud)
        draft = ResourceDraft(resource_type='physical:storage', name=name, **more)
        return registrar.register_resource(draft)

    def new(self, status: int = 201, **request: Any) -> Any:
        """Book volumes of 10 GiB that are to be made."""
        return self.book(status, **{'size': 10, 'volume_type': 'standard', **request})

    def made(self) -> list[Volume]:
        """Return the volumes that are there, by name."""
        return sorted(self.cloud.volumes.volumes(), key=lambda item: item.name)

    def attach(self, volume: Volume) -> str:
        """Attach a volume to a new server of the project."""
        server = self.cloud.boot_server('compute-1', 'blue', 'server')
        self.cloud.volumes.attach(volume.id, server.id)
        return server.id

    def status(self, lease: dict[str, Any]) -> str:
        """Return where a lease is in its life."""
        return str(self.now(lease)['status'])

    def reasons(self, lease: dict[str, Any]) -> list[str]:
        """Return what went wrong with the events of a lease."""
        found = fetch(self.service.store, lambda tx: tx.leases.find(lease['id']))
        return [item.error for item in found.events if item.error]

    def assert_notified(self, lease: dict[str, Any], *words: str) -> None:
        """Check that the reason why a lease is in ERROR was sent."""
        self.assertEqual('ERROR', self.status(lease))
        text = ' '.join(self.reasons(lease))
        for word in words:
            self.assertIn(word, text)


class NewVolumeTest(VolumeCase):
    """Volumes that are made at the start."""

    def test_whole_life(self) -> None:
        lease = self.new(amount='2', name='data', on_end='delete')
        self.assertEqual([], self.made())
        self.until(START)
        made = self.made()
        self.assertEqual(['data-1', 'data-2'], [item.name for item in made])
        for item in made:
            self.assert_has(
                item, size_gb=10, volume_type='standard', project_id='blue', status='available'
            )
        shown = self.reservation(lease)
        self.assertEqual([item.id for item in made], shown['volumes'])
        self.assert_has(shown, size=10, volume_type='standard', amount=2, name='data')
        self.assert_has(shown, guarantee=True, on_end=['delete'], volume_id=None)
        self.until(END)
        self.assertEqual(('TERMINATED', []), (self.status(lease), self.made()))
        self.assertEqual([], self.held())

    def test_the_space_is_not_promised_twice(self) -> None:
        self.new(size=4000, amount=2)
        for request in ({'size': 2001}, {'size': 1000, 'amount': 3}):
            refused = self.new(409, **request)
            self.assertEqual('Not enough GiB of storage pools available', refused['error_message'])
        self.new(size=9999, guarantee=False)
        self.new(size=1000, amount=2)

    def test_what_lay_there_before_is_not_promised(self) -> None:
        self.cloud.volumes.add_pool('storage@b#b', 'b', 100.0)
        kind = self.cloud.volume.create_volume_type('b', {'volume_backend_name': 'b'})
        self.cloud.volume.create_volume('old', 60, volume_type='b')
        self.cloud.volume.allow_volume_type(kind.id, 'blue')
        self.register('storage@b#b')
        self.new(409, volume_type='b', size=41)
        self.new(volume_type='b', size=40)

    def test_what_is_not_there_is_reported_early(self) -> None:
        kind = self.cloud.volume.create_volume_type('secret', {'volume_backend_name': 'lvm'})
        self.cloud.volume.create_volume_type('anywhere', {})
        theirs = self.cloud.volumes.add_volume('theirs', 'red', 3)
        for request, word in (
            ({'volume_type': 'nothing'}, "Volume type 'nothing' not found"),
            ({'volume_type': kind.name}, "Volume type 'secret' not found"),
            ({'volume_type': None}, 'volume_type'),
            ({'source_volid': theirs.id}, f"Volume '{theirs.id}' not found"),
            ({'snapshot_id': 'x'}, 'not the id of a snapshot'),
            ({'snapshot_id': theirs.id}, f"Snapshot '{theirs.id}' not found"),
            ({'image_id': '../images'}, 'not the id of an image'),
            ({'image_id': theirs.id}, f"Image '{theirs.id}' not found"),
            ({'image_id': 'x', 'snapshot_id': 'y'}, 'one thing only'),
            ({'size': None}, 'size'),
            ({'size': 0}, 'size'),
            ({'amount': 101}, 'amount'),
            ({'on_end': ['snapshot', 'delete']}, 'use backup'),
            ({'on_end': ['delete', 'detach']}, 'after delete'),
            ({'on_end': 'backup,backup'}, 'twice'),
            ({'on_end': 'burn'}, "'burn' is not one of"),
            ({'colour': 'red'}, 'colour'),
        ):
            self.assertIn(word, self.new(400, **request)['error_message'])
        allowed = present(self.cloud.volume.find_volume_type('anywhere'))
        self.cloud.volume.allow_volume_type(allowed.id, 'blue')
        self.assertIn('anywhere', self.new(400, volume_type='anywhere')['error_message'])
        self.new(volume_type='anywhere', guarantee=False)

    def test_made_of_a_volume_and_of_a_snapshot(self) -> None:
        mine = self.cloud.volumes.add_volume('mine', 'blue', 3)
        snapshot = self.cloud.volume.create_snapshot(mine.id, 's')
        self.assertIsNotNone(self.cloud.volume.find_snapshot(snapshot))
        # The snapshot was made by an administrator, so it is not of the project.
        self.book(400, snapshot_id=snapshot)
        self.assertIn('3 GiB', self.book(400, source_volid=mine.id, size=2)['error_message'])
        self.started(source_volid=mine.id, name='copy')
        (made,) = [item for item in self.made() if item.name == 'copy']
        self.assertEqual((3, 'standard'), (made.size_gb, made.volume_type))

    def test_more_while_it_is_active_and_never_fewer(self) -> None:
        lease = self.started(size=10, volume_type='standard', name='data')
        self.change(lease, amount=3)
        self.later(30)
        self.assertEqual(3, len(self.made()))
        self.assertEqual('CANT_UPDATE_PARAMETER', self.change(lease, 409, amount=2)['error_name'])
        self.change(lease, 409, size=20)
        self.change(lease, on_end=['detach', 'delete'])
        self.attach(self.made()[0])
        self.until(END + LATER)
        self.assertEqual(('TERMINATED', []), (self.status(lease), self.made()))

    def test_before_the_start_everything_but_the_source_can_be_changed(self) -> None:
        self.change(self.new(amount=3), amount=1, size=20, name='other')
        self.until(START)
        self.assertEqual([('other', 20)], [(item.name, item.size_gb) for item in self.made()])

    def test_a_change_that_fails_leaves_what_was(self) -> None:
        lease = self.started(size=10, volume_type='standard')
        self.cloud.volumes.set_quota('blue', 'volumes', 2)
        self.change(lease, amount=4)
        self.later(LATER.total_seconds())
        self.assertEqual(('ACTIVE', 1), (self.status(lease), len(self.made())))
        self.assertEqual(1, self.reservation(lease)['amount'])

    def test_a_quota_is_waited_for_and_reported(self) -> None:
        self.cloud.volumes.set_quota('blue', 'volumes', 0)
        waits, fails = self.new(), self.new()
        self.until(START + datetime.timedelta(seconds=30))
        self.assertEqual(('STARTING', []), (self.status(waits), self.made()))
        self.cloud.volumes.set_quota('blue', 'volumes', 1)
        self.until(START + LATER)
        self.assertEqual(['ACTIVE', 'ERROR'], sorted([self.status(waits), self.status(fails)]))
        lost = fails if self.status(fails) == 'ERROR' else waits
        self.assert_notified(lost, 'quota')
        self.assertEqual(1, len(self.made()))

    def test_one_in_error_is_reported_and_all_are_undone(self) -> None:
        lease = self.new(guarantee=False, amount=2, size=6000)
        self.until(START + LATER)
        self.assert_notified(lease, 'is error')
        self.assertEqual([], self.made())

    def test_without_the_user_a_start_is_reported(self) -> None:
        lease = self.new()
        self.cloud.put_member('alice', 'blue', 'reader')
        self.until(START + LATER)
        self.assert_notified(lease, 'trust')
        self.assertEqual([], self.made())

    def test_without_the_user_an_end_works(self) -> None:
        lease = self.started(size=10, volume_type='standard', on_end=['backup', 'delete'])
        self.cloud.put_member('alice', 'blue', 'reader')
        self.until(END + LATER)
        self.assertEqual(('TERMINATED', []), (self.status(lease), self.made()))
        (backup,) = self.cloud.volumes.backups()
        self.assertEqual(('service', 'available'), (backup.project_id, backup.status))

    def test_one_that_is_gone_is_reported_and_not_made_again(self) -> None:
        lease = self.started(size=10, volume_type='standard', amount=2)
        self.cloud.volume.delete_volume(self.made()[0].id)
        self.later(SETTINGS.check_interval.total_seconds() + 10)
        self.assertTrue(self.now(lease)['degraded'])
        self.assertEqual(1, len(self.made()))
        self.change(lease, amount=3)
        self.later(30)
        self.assertEqual(('ACTIVE', 2), (self.status(lease), len(self.made())))
        self.until(END + LATER)
        self.assertEqual(('TERMINATED', []), (self.status(lease), self.made()))

    def test_what_bears_the_marks_and_is_none_of_it_stays(self) -> None:
        lease = self.started(size=10, volume_type='standard')
        (mine,) = self.made()
        for project in ('blue', 'red'):
            self.cloud.of_caller(f'x:{project}').volume.create_volume(
                'restored', 1, metadata=mine.metadata
            )
        self.until(END + LATER)
        self.assertEqual('TERMINATED', self.status(lease))
        self.assertEqual(['restored', 'restored'], [item.name for item in self.made()])
        self.assertEqual([], self.repaired())
