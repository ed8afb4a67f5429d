# SPDX-License-Identifier: Apache-2.0

"""Settings for networks and volumes that only the simulated cloud has."""

from __future__ import annotations

from climate import exceptions
from climate import simulator
from climate.cloud import base
from tests.narrowing import present
from tests.unit.simulator.memory import MemoryCase


class VolumeCase(MemoryCase):
    """One hypervisor, and volumes."""

    hypervisors = 1

    def setUp(self) -> None:
        super().setUp()
        self.volume = self.cloud.volume

    def status(self, volume_id: str) -> str:
        """Return the status of a volume."""
        found = self.volume.find_volume(volume_id)
        return found.status if found else 'gone'


class TestTimes(VolumeCase):
    """What takes time in a cloud takes as long here as it is set to."""

    def test_a_volume_comes_and_goes(self) -> None:
        self.cloud.set_seconds('volume_creation', 10)
        self.cloud.set_seconds('volume_deletion', 5)
        made = self.volume.create_volume('v', 1)
        self.assertEqual('creating', self.status(made))
        self.assertRaises(base.CloudConflict, self.volume.create_snapshot, made, 's')
        self.assertRaises(base.CloudConflict, self.volume.delete_volume, made)
        self.clock.advance(10)
        self.assertEqual('available', self.status(made))
        for _ in range(2):
            self.volume.delete_volume(made)
            self.assertEqual('deleting', self.status(made))
        self.clock.advance(5)
        self.assertEqual('gone', self.status(made))

    def test_a_snapshot_comes_and_goes(self) -> None:
        self.cloud.set_seconds('snapshot_creation', 10)
        self.cloud.set_seconds('snapshot_deletion', 5)
        volume = self.volume.create_volume('v', 1)
        made = self.volume.create_snapshot(volume, 's')
        self.assertRaises(base.CloudConflict, self.volume.delete_snapshot, made)
        source = base.Source(kind='snapshot', id=made)
        self.assertRaises(exceptions.Permanent, self.volume.create_volume, 'w', 1, source=source)
        self.clock.advance(10)
        self.volume.create_volume('w', 1, source=source)
        self.volume.delete_snapshot(made)
        self.assertEqual(['deleting'], [x.status for x in self.volume.list_snapshots(volume)])
        self.assertRaises(base.CloudConflict, self.volume.delete_volume, volume)
        self.clock.advance(5)
        self.volume.delete_volume(volume)

    def test_a_private_type_is_for_those_who_may_use_it(self) -> None:
        kind = self.volume.create_volume_type('own', {'volume_backend_name': 'lvm'})
        for name, seen in (('red', False), ('blue', True)):
            if seen:
                self.volume.allow_volume_type(kind.id, name)
            cinder = self.cloud.of_caller(f'user:{name}').volume
            found = cinder.find_volume_type('own')
            self.assertEqual(seen, found is not None)
            self.assertEqual(seen, 'own' in [item.name for item in cinder.list_volume_types()])
            if found is None:
                with self.assertRaises(base.CloudNotFound):
                    cinder.create_volume('v', 1, volume_type='own')
                continue
            # Where volumes lie is for administrators to know.
            self.assertEqual({}, found.extra_specs)
            cinder.create_volume('v', 1, volume_type='own')
        mine = self.cloud.of_caller('user:red').as_service().volume
        self.assertEqual(kind, mine.find_volume_type('own'))

    def test_a_volume_is_busy_while_it_is_backed_up(self) -> None:
        self.cloud.set_seconds('backup_creation', 10)
        volume = self.volume.create_volume('v', 1)
        made = self.volume.create_backup(volume, 'b')
        self.assertEqual('backing-up', self.status(volume))
        self.assertRaises(base.CloudConflict, self.volume.create_backup, volume, 'b')
        self.assertRaises(base.CloudConflict, self.volume.delete_volume, volume)
        self.assertRaises(base.CloudConflict, self.volume.delete_backup, made)
        self.clock.advance(10)
        self.assertEqual('available', self.status(volume))
        self.assertEqual((), self.volume.list_backups('another'))
        self.assertEqual(['available'], [x.status for x in self.cloud.volumes.backups()])

    def test_a_busy_server_keeps_its_volumes(self) -> None:
        self.cloud.set_seconds('image', 10)
        server = self.cloud.boot_server('compute-1', 'p1', 'vm').id
        volume = self.cloud.volumes.add_volume('v', 'p1').id
        self.cloud.volumes.attach(volume, server)
        self.cloud.compute.create_image(server, 'i')
        self.assertRaises(base.CloudConflict, self.cloud.compute.detach_volume, server, volume)
        self.clock.advance(10)
        self.cloud.compute.detach_volume(server, volume)
        self.assertEqual('available', self.status(volume))

    def test_a_volume_is_detached(self) -> None:
        self.cloud.set_seconds('volume_detachment', 10)
        volume = self.volume.create_volume('v', 1)
        server = self.cloud.boot_server('compute-1', 'p1', 'vm').id
        self.cloud.volumes.attach(volume, server)
        self.assertEqual('in-use', self.status(volume))
        self.cloud.compute.detach_volume(server, volume)
        self.assertEqual('detaching', self.status(volume))
        self.assertRaises(base.CloudConflict, self.cloud.compute.detach_volume, server, volume)
        self.assertRaises(base.CloudConflict, self.volume.delete_volume, volume)
        self.clock.advance(10)
        self.assertEqual('available', self.status(volume))
        self.cloud.compute.detach_volume(server, volume)

    def test_a_server_that_goes_lets_go(self) -> None:
        volume = self.volume.create_volume('v', 1)
        server = self.cloud.boot_server('compute-1', 'p1', 'vm').id
        self.cloud.volumes.attach(volume, server)
        self.cloud.compute.delete_server(server)
        self.assertIsNone(self.cloud.compute.find_server(server))
        self.assertEqual('available', self.status(volume))


class TestPools(VolumeCase):
    """Volumes take room, and lie where their types say."""

    def test_room_is_taken_and_given_back(self) -> None:
        self.cloud.volumes.add_pool('storage@ssd#fast', 'ssd', 10)
        self.volume.create_volume_type('fast', {'volume_backend_name': 'ssd', 'pool_name': 'fast'})
        made = self.volume.create_volume('v', 8, volume_type='fast')
        (pool,) = [found for found in self.volume.list_pools() if found.backend_name == 'ssd']
        sizes = (pool.total_gb, pool.free_gb, pool.allocated_gb, pool.provisioned_gb)
        self.assertEqual((10, 2, 8, 8), sizes)
        other = self.volume.create_volume('w', 3, volume_type='fast')
        self.assertEqual(['available', 'error'], [self.status(made), self.status(other)])
        self.volume.delete_volume(made)
        other = self.volume.create_volume('w', 10, volume_type='fast')
        self.assertEqual('available', self.status(other))

    def test_an_endless_pool_has_room(self) -> None:
        self.cloud.volumes.add_pool('storage@deep#deep', 'deep', None)
        self.volume.create_volume_type('deep', {'volume_backend_name': 'deep'})
        made = self.volume.create_volume('v', 10**6, volume_type='deep')
        self.assertEqual('available', self.status(made))
        (pool,) = [found for found in self.volume.list_pools() if found.backend_name == 'deep']
        self.assertEqual((None, None), (pool.total_gb, pool.free_gb))

    def test_without_a_default_type_any_pool_does(self) -> None:
        cloud = self.closing(simulator.SimulatedCloud(simulator.MEMORY, clock=self.clock))
        lost = cloud.volume.create_volume('v', 1)
        cloud.volumes.add_pool('storage@any#any', 'any', 10)
        made = cloud.volume.create_volume('v', 1)
        found = {item.id: (item.status, item.volume_type) for item in cloud.volumes.volumes()}
        self.assertEqual({lost: ('error', ''), made: ('available', '')}, found)


class TestContents(VolumeCase):
    """What the simulated cloud has to begin with, and what others do in it."""

    def test_an_external_network_is_there_once(self) -> None:
        self.cloud.seed(1)
        (found,) = self.cloud.networks.networks()
        self.assertEqual(('public', True), (found.name, found.external))
        made = self.cloud.network.create_floating_ip(found.id, 'p1')
        self.assertEqual((made,), self.cloud.networks.floating_ips())
        (subnet,) = self.cloud.network.list_subnets(found.id)
        self.assertEqual(made.address, subnet.allocation_pools[0][0])

    def test_nothing_is_plugged_into_nothing(self) -> None:
        self.assertRaises(LookupError, self.cloud.networks.add_port, 'no', 'p1')

    def test_quotas_are_lifted_again(self) -> None:
        (public,) = self.cloud.networks.networks()
        self.cloud.networks.set_quota('p1', 'floatingips', 0)
        self.assertRaises(base.CloudQuota, self.cloud.network.create_floating_ip, public.id, 'p1')
        self.cloud.networks.set_quota('p1', 'floatingips', None)
        self.cloud.network.create_floating_ip(public.id, 'p1')

    def test_a_volume_belongs_to_who_made_it(self) -> None:
        theirs = self.cloud.volumes.add_volume('v', 'p1', 2)
        ours = present(self.volume.find_volume(self.volume.create_volume('w', 1)))
        self.assertEqual(('p1', 'service'), (theirs.project_id, ours.project_id))
        snapshot = present(self.volume.find_snapshot(self.volume.create_snapshot(theirs.id, 's')))
        self.assertEqual('service', snapshot.project_id)
        self.assertEqual((snapshot,), self.cloud.volumes.snapshots())
