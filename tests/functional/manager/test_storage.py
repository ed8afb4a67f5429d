# SPDX-License-Identifier: Apache-2.0

"""Leases of whole storage pools, from HTTP to the cloud."""

from __future__ import annotations

import dataclasses
from typing import Any

from climate.cloud.base import CloudNotFound
from climate.plugins.contract import Records
from tests.databases import fetch
from tests.functional import bodies
from tests.functional import http
from tests.functional.manager import test_volumes
from tests.functional.manager.harness import SETTINGS
from tests.functional.manager.neutron_case import END
from tests.functional.manager.neutron_case import START
from tests.functional.manager.test_volumes import LATER
from tests.narrowing import present

FIRST, SECOND = 'cinder@gold#one', 'cinder@gold#two'


class StorageTest(test_volumes.VolumeCase):
    """``physical:storage``."""

    def setUp(self) -> None:
        super().setUp()
        self.serve('physical:storage')
        self.cloud.put_member('alice', 'blue', 'member')
        for name in (FIRST, SECOND):
            self.cloud.volumes.add_pool(name, 'gold', 100.0)
        self.cinder = self.cloud.of_caller('alice:blue').volume

    def admit(self, status: int = 201, name: str = FIRST, **more: Any) -> Any:
        """Register a pool over HTTP."""
        body = {'resource_type': 'physical:storage', 'name': name, **more}
        answer = http.send(
            self.service.app, 'POST', '/v1/resources', body, token=http.ADMIN, version='1.2'
        )
        self.assertEqual(status, answer.status_int, answer.text)
        return answer.json['resource'] if status == 201 else answer.json

    def pools(self, status: int = 201, **request: Any) -> Any:
        """Book one pool."""
        return self.book(status, **{'min': 1, 'max': 1, **request})

    def types(self) -> list[str]:
        """Return the private volume types that there are."""
        return [item.name for item in self.cloud.volume.list_volume_types() if not item.public]

    def test_a_pool_that_cinder_no_longer_has(self) -> None:
        self.admit()
        (known,) = fetch(self.service.store, lambda tx: tx.resources.of_type('physical:storage'))
        renamed = dataclasses.replace(known, name='cinder@platinum#one')
        found = [one.trouble for one in self.plugin.report([known, renamed], self.cloud)]
        self.assertEqual(['', 'Cinder has no such storage pool'], found)

    def test_a_pool_that_lost_capacity(self) -> None:
        self.admit()
        self.admit(name=SECOND, inventories={'DISK_GB': 80})
        self.assertEqual([], self.compared())
        for name in (FIRST, SECOND):
            self.cloud.volumes.add_pool(name, 'gold', 60.0)
        self.assertEqual(3, len(self.compared()))
        found = {name: self.resource(name) for name in (FIRST, SECOND)}
        # What operators declare is their decision.
        self.assertEqual([60, 80], [one.inventories[0].total for one in found.values()])
        for one in found.values():
            self.assertEqual(('total_gb is 60, not 100', False), (one.degraded, one.unusable))

    def test_a_pool_to_which_types_no_longer_lead_alone(self) -> None:
        self.cloud.volumes.add_pool(FIRST, 'bronze', 100.0)
        self.admit()
        self.cloud.volumes.add_pool('cinder@other#one', 'bronze', 100.0)
        self.compared()
        self.assertEqual('alone is false, not true', self.resource(FIRST).degraded)
        self.cloud.volumes.add_pool(FIRST, 'silver', 100.0)
        self.compared()
        self.assertTrue(self.resource(FIRST).unusable)
        self.assertEqual('its volume_backend_name is silver now', self.resource(FIRST).degraded)

    def test_a_pool_is_registered_with_what_cinder_says(self) -> None:
        self.cloud.volume.create_volume_type('b', {'volume_backend_name': 'gold'})
        self.cloud.volume.create_volume('old', 30, volume_type='b')
        found = self.admit()
        named = {'volume_backend_name': 'gold', 'pool_name': 'one', 'backend': 'cinder@gold'}
        others = {'alone': 'true', 'public_types': '', 'total_gb': 100}
        self.assertEqual({**named, **others}, found['attributes'])
        self.assertEqual((100, 30), self.capacity(found))
        self.assertIn('no storage pool', self.admit(404, 'cinder@gold#none')['error_message'])
        self.assertEqual('RESOURCE_EXISTS', self.admit(409)['error_name'])

    def capacity(self, found: dict[str, Any]) -> tuple[int, int]:
        """Return total and reserved GiB of a resource."""
        inventory = found['inventories']['DISK_GB']
        return inventory['total'], inventory['reserved']

    def test_what_operators_declare_wins(self) -> None:
        self.cloud.volumes.add_pool('cinder@endless#x', 'endless', None)
        refused = self.admit(400, 'cinder@endless#x')
        self.assertIn('does not know how large', refused['error_message'])
        found = self.admit(name='cinder@endless#x', inventories={'DISK_GB': 500})
        self.assertEqual((500, 0), self.capacity(found))
        found = self.admit(inventories={'DISK_GB': {'total': 80, 'reserved': 10}})
        self.assertEqual((80, 10), self.capacity(found))
        self.assertIn('DISK_GB', self.admit(400, SECOND, inventories={'VCPU': 1})['error_message'])

    def test_whole_life(self) -> None:
        self.admit()
        lease = self.pools()
        self.pools(409)
        self.until(START)
        name = f'reservation:{self.reservation(lease)["id"]}'
        self.assertEqual([name], self.types())
        self.assertEqual([name], self.reservation(lease)['volume_types'])
        made = self.cinder.create_volume('v', 5, volume_type=name)
        self.assertEqual(FIRST, present(self.cloud.volume.find_volume(made)).pool)
        others = self.cloud.of_caller('bob:red').volume
        self.assertRaises(CloudNotFound, others.create_volume, 'v', 1, volume_type=name)
        self.until(END + LATER)
        self.assertEqual(('TERMINATED', []), (self.status(lease), self.types()))
        self.assertEqual([], self.made())

    def test_each_pool_has_a_type_of_its_own(self) -> None:
        self.admit()
        self.admit(name=SECOND)
        lease = self.started(min=1, max=1)
        mine = f'reservation:{self.reservation(lease)["id"]}'
        self.change(lease, min=2, max=2)
        self.later(10)
        self.assertEqual([mine, f'{mine}:2'], self.types())
        pools = set()
        for name in self.types():
            volume = present(
                self.cloud.volume.find_volume(self.cinder.create_volume('v', 1, volume_type=name))
            )
            pools.add(volume.pool)
        self.assertEqual({FIRST, SECOND}, pools)
        # With volumes in both nothing can be given up.
        self.change(lease, min=1, max=1)
        self.later(LATER.total_seconds())
        self.assertEqual(('ACTIVE', 2), (self.status(lease), self.reservation(lease)['min']))

    def test_volumes_in_use_are_not_deleted_and_hold_the_pool(self) -> None:
        self.admit()
        lease = self.started(min=1, max=1)
        (name,) = self.types()
        volume_id = self.cinder.create_volume('v', 5, volume_type=name)
        server_id = self.attach(present(self.cloud.volume.find_volume(volume_id)))
        self.until(END + LATER)
        self.assert_notified(lease, 'attached', server_id)
        self.assertRaises(CloudNotFound, self.cinder.create_volume, 'w', 1, volume_type=name)
        self.cloud.compute.delete_server(server_id)
        self.later(120)
        self.assertEqual(('TERMINATED', []), (self.status(lease), self.types()))

    def test_without_a_step_for_them_volumes_stay_and_are_reported(self) -> None:
        self.admit()
        lease = self.started(min=1, max=1, on_end=[])
        (name,) = self.types()
        volume_id = self.cinder.create_volume('v', 5, volume_type=name)
        self.until(END + LATER)
        self.assert_notified(lease, 'still has volumes', volume_id)
        self.cloud.volume.delete_volume(volume_id)
        self.later(120)
        self.assertEqual('TERMINATED', self.status(lease))

    def test_they_are_backed_up_for_their_owner(self) -> None:
        self.admit()
        lease = self.started(min=1, max=1, on_end='backup,delete')
        (name,) = self.types()
        for _ in range(2):
            self.cinder.create_volume('v', 5, volume_type=name)
        self.cloud.set_seconds('backup_creation', 20)
        self.until(END + LATER)
        self.assertEqual(('TERMINATED', []), (self.status(lease), self.made()))
        backups = self.cloud.volumes.backups()
        self.assertEqual(['blue', 'blue'], [item.project_id for item in backups])
        shown = {item['id'] for item in self.reservation(lease)['copies']}
        self.assertEqual({item.id for item in backups}, shown)

    def test_wrong_requests(self) -> None:
        self.admit()
        for request, word in (
            ({'min': 2}, 'min'),
            ({'min': 'x'}, 'min'),
            ({'max': None}, 'max'),
            ({'on_end': ['snapshot']}, 'use backup'),
            ({'on_end': [3]}, 'on_end'),
            ({'resource_properties': '['}, 'resource_properties'),
        ):
            self.assertIn(word, self.pools(400, **request)['error_message'])
        refused = self.change(self.pools(), 409, on_end=['backup', 'delete'])
        self.assertEqual('CANT_UPDATE_PARAMETER', refused['error_name'])

    def test_pools_that_no_type_distinguishes_are_not_leased_whole(self) -> None:
        self.cloud.volumes.add_pool('other@gold#one', 'gold', 100.0)
        self.assertEqual('false', self.admit()['attributes']['alone'])
        self.pools(409)

    def test_a_pool_is_leased_whole_or_in_parts(self) -> None:
        self.admit()
        kind = self.cloud.volume.create_volume_type('gold', {'volume_backend_name': 'gold'})
        self.cloud.volume.allow_volume_type(kind.id, 'blue')
        part = {'resource_type': 'virtual:volume', 'size': 60, 'volume_type': 'gold'}
        whole = {'resource_type': 'physical:storage', 'min': 1, 'max': 1}
        body = bodies.lease('l', START.isoformat(), END.isoformat(), part)
        first = self.send(201, 'POST', '/v1/leases', body)['lease']
        self.send(409, 'POST', '/v1/leases', {**body, 'reservations': [whole]})
        self.send(204, 'DELETE', f'/v1/leases/{first["id"]}')
        self.later()
        self.send(201, 'POST', '/v1/leases', {**body, 'reservations': [whole]})
        self.send(409, 'POST', '/v1/leases', body)

    def test_drift_is_repaired_and_what_is_gone_is_reported(self) -> None:
        self.admit()
        lease = self.started(min=1, max=1)
        (name,) = self.types()
        kind = present(self.cloud.volume.find_volume_type(name))
        self.cloud.volume.forbid_volume_type(kind.id, 'blue')
        self.cloud.volume.allow_volume_type(kind.id, 'red')
        self.later(SETTINGS.check_interval.total_seconds() + 10)
        self.assertEqual(('blue',), self.cloud.volume.list_volume_type_projects(kind.id))
        self.cloud.volume.delete_volume_type(kind.id)
        self.later(SETTINGS.check_interval.total_seconds() + 10)
        self.assertEqual([name], self.types())
        self.assertFalse(self.now(lease)['degraded'])

    def test_types_that_were_left_are_swept_up_but_no_volumes(self) -> None:
        self.admit()
        lease = self.started(min=1, max=1)
        (name,) = self.types()
        self.until(END + LATER)
        self.assertEqual('TERMINATED', self.status(lease))
        self.cloud.volume.create_volume_type(name, {})
        self.assertEqual([f'volume type {name} of a lease that is over'], self.repaired())
        self.assertEqual([], self.types())
        self.cloud.volume.create_volume_type(name, {})
        self.cloud.volume.create_volume('v', 1, volume_type=name)
        (finding,) = self.plugin.sweep(self.records(lease), self.cloud, dry_run=False)
        self.assertEqual('', finding.done)
        self.assertEqual(1, len(self.made()))

    def records(self, lease: dict[str, Any]) -> Any:
        """Return what the store would know."""
        ended = frozenset({self.reservation(lease)['id']})
        return Records(alive=frozenset(), ended=ended)
