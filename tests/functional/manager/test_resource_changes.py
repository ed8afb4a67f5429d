# SPDX-License-Identifier: Apache-2.0

"""Hosts that the cloud has changed since they were registered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from climate import exceptions
from climate.db.resources.shortages import Shortages
from climate.domain.leases import Lease
from climate.domain.resources import Resource
from climate.plugins.contract import SweepFinding
from climate.plugins.host import errors
from climate.resources.registrar import Registrar
from climate.upkeep.health import HostHealth
from climate.upkeep.rehoming import Rehoming
from tests.databases import fetch
from tests.functional.manager import test_instances


class ChangesCase(test_instances._Test):
    """Three hosts with room for four slots of four processors each."""

    def contents(self) -> dict[str, object]:
        """What is left in the cloud at the end does not matter here."""
        return {}

    def setUp(self) -> None:
        super().setUp()
        self.registrar = Registrar(self.site.store, self.site.plugins, self.cloud)

    def repair(self) -> list[SweepFinding]:
        """Run a repair, and return its findings about changes of the cloud."""
        return [one for one in self.site.repair().run() if 'host compute' in one.what]

    def rehearse(self) -> list[SweepFinding]:
        """Return what a repair would find."""
        return [one for one in self.site.repair().rehearse() if 'host compute' in one.what]

    def host(self, name: str) -> Resource:
        """Return a registered host."""
        found = fetch(self.site.store, lambda tx: tx.resources.named('physical:host', name))
        assert found is not None
        return found

    def refresh(self, name: str) -> None:
        """Read a host again."""
        self.registrar.refresh_resource(self.host(name).id or 0)

    def capacity(self, name: str, resource_class: str = 'VCPU') -> int:
        """Return the registered capacity of a host."""
        found = {item.resource_class: item.capacity for item in self.host(name).inventories}
        return found.get(resource_class, 0)

    def heal(self) -> None:
        """Move reservations off failed hosts."""
        Rehoming(self.site.store, self.site.plugins, self.site.settings).round(self.cloud)
        self.site.work()

    def on(self, lease: Lease) -> set[str]:
        """Return the hosts of a lease."""
        return {item.resource_name for item in self.site.allocations(lease)}

    def zone(self, host: str) -> None:
        """Put a host into a zone of an operator."""
        self.cloud.compute.add_host(self.cloud.compute.create_aggregate('az1-agg', 'az1').id, host)


class TestCapacity(ChangesCase):
    """Nova and Placement have another capacity than is registered."""

    def test_nothing_has_changed(self) -> None:
        self.assertEqual(([], []), (self.rehearse(), self.repair()))

    def test_less_is_not_booked_from_the_next_check_on(self) -> None:
        self.cloud.add_hypervisor('compute-1', vcpus=8)
        self.assertIn('its capacity of VCPU is 8, not 16', self.rehearse()[0].what)
        self.assertEqual(16, self.capacity('compute-1'))
        lowered, recorded = self.repair()
        self.assertEqual('capacity lowered', lowered.done)
        self.assertIn('compute-1 has changed since it was registered: vcpus is 8', recorded.what)
        self.assertEqual(8, self.capacity('compute-1'))
        self.assertEqual('vcpus is 8, not 16', self.host('compute-1').degraded)
        self.assertIsNone(self.host('compute-1').failed_at)
        # Each change is reported once.
        self.assertEqual(([], []), (self.repair(), self.rehearse()))
        self.create(3600, 7200, amount=10)
        self.assertRaises(exceptions.NotEnoughResources, lambda: self.create(3600, 7200, amount=1))

    def test_a_refresh_takes_less_and_more_over(self) -> None:
        self.cloud.add_hypervisor('compute-1', vcpus=8, memory_mb=131072, traits={'HW_NEW'})
        self.repair()
        self.assertEqual(65536, self.capacity('compute-1', 'MEMORY_MB'))
        self.assertIn('it also has HW_NEW', self.host('compute-1').degraded)
        self.refresh('compute-1')
        host = self.host('compute-1')
        self.assertEqual(8, self.capacity('compute-1'))
        self.assertEqual(131072, self.capacity('compute-1', 'MEMORY_MB'))
        self.assertEqual((8, 131072), (host.attributes['vcpus'], host.attributes['memory_mb']))
        self.assertEqual(frozenset({'HW_NEW'}), host.traits)
        self.assertEqual(('', False, None), (host.degraded, host.unusable, host.failed_at))
        self.assertEqual([], self.repair())

    def test_what_no_longer_fits_moves(self) -> None:
        lease = self.create(3600, 7200, amount=4, affinity='True')
        (name,) = self.on(lease)
        self.cloud.add_hypervisor(name, vcpus=8)
        (found,) = self.repair()
        self.assertIn('cannot be used: 16 units of VCPU are booked at one time, of 8;', found.what)
        self.assertIsNotNone(self.host(name).failed_at)
        # Nova says that the host works, which does not make it larger.
        self.site.away_until(10)
        HostHealth(self.site.store, self.site.clock, self.site.plugins).look(self.cloud)
        self.assertIsNotNone(self.host(name).failed_at)
        self.heal()
        (other,) = self.on(lease)
        self.assertNotEqual(name, other)
        self.assertIn('has no room for it: 16', self.site.bus.last('lease.rehomed')['reason'])
        self.repair()
        self.assertEqual(8, self.capacity(name))
        self.assertIsNone(self.host(name).failed_at)

    def test_everything_leaves_one_that_also_fails(self) -> None:
        leases = [self.create(3600, 7200, amount=2, affinity='True') for _ in range(2)]
        both = self.on(leases[0]) | self.on(leases[1])
        for name in both:
            self.cloud.add_hypervisor(name, vcpus=4)
        self.repair()
        for name in both:
            self.cloud.set_hypervisor(name, state='down')
        health = HostHealth(self.site.store, self.site.clock, self.site.plugins)
        self.assertTrue(health.look(self.cloud))
        self.assertFalse(health.look(self.cloud))
        with self.site.store.reading() as tx:
            self.assertEqual(2, len(tx.affected_leases.leases(None)))
            self.assertEqual([], Shortages(tx.session, tx.now).surplus())
        self.repair()
        self.assertTrue(all(self.host(name).unusable for name in both))

    def test_a_refresh_keeps_what_is_booked_until_it_has_moved(self) -> None:
        (name,) = self.on(self.create(3600, 7200, amount=4, affinity='True'))
        self.cloud.add_hypervisor(name, vcpus=8)
        self.refresh(name)
        host = self.host(name)
        self.assertEqual((True, 8), (host.unusable, host.attributes['vcpus']))
        self.heal()
        self.refresh(name)
        self.assertEqual((False, ''), (self.host(name).unusable, self.host(name).degraded))
        self.assertEqual(8, self.capacity(name))

    def test_a_cloud_that_does_not_respond_changes_nothing(self) -> None:
        self.cloud.add_hypervisor('compute-1', vcpus=8)
        self.cloud.fail('placement.find_provider', times=None)
        self.repair()
        self.assertEqual((16, ''), (self.capacity('compute-1'), self.host('compute-1').degraded))


class TestPlaces(ChangesCase):
    """Nova has put a host elsewhere, or calls it by another name."""

    def test_a_zone(self) -> None:
        lease = self.create(3600, 7200, amount=1)
        (name,) = self.on(lease)
        self.zone(name)
        (found,) = self.repair()
        self.assertIn('puts it into availability zone az1', found.what)
        self.assertIsNotNone(self.host(name).failed_at)
        self.heal()
        self.assertNotIn(name, self.on(lease))
        (made,) = (item for item in self.cloud.aggregates() if item.name == 'az1-agg')
        self.cloud.compute.remove_host(made.id, name)
        (found,) = self.repair()
        self.assertIn('is again as it is registered', found.what)
        self.assertIsNone(self.host(name).failed_at)

    def test_the_zone_of_a_lease_is_none(self) -> None:
        self.site.create(0, 3600, until=10)
        self.assertEqual([], self.repair())

    def test_a_second_node(self) -> None:
        self.cloud.add_hypervisor('node-2', service_host='compute-1')
        (found,) = self.repair()
        self.assertIn('nova-compute compute-1 also serves node-2', found.what)
        self.assertTrue(self.host('compute-1').unusable)

    def test_a_new_name(self) -> None:
        lease = self.site.create(3600, 7200, hosts=3)
        self.cloud.rename_hypervisor('compute-1', 'compute-1.example.org')
        (found,) = self.repair()
        self.assertIn(
            'Nova now calls the host of nova-compute compute-1 compute-1.example.org', found.what
        )
        number = self.host('compute-1').id or 0
        self.assert_error(
            exceptions.NotRefreshed,
            'compute-1.example.org',
            self.registrar.refresh_resource,
            number,
        )
        self.registrar.rename_resource(number, 'compute-1.example.org')
        self.assertEqual(number, self.host('compute-1.example.org').id)
        self.assertIn('compute-1.example.org', self.on(lease))
        (found,) = self.repair()
        self.assertIn('is again as it is registered', found.what)
        placement = self.cloud.placement
        self.assertIsNone(placement.find_provider('blazar_compute-1'))
        self.assertIsNotNone(placement.find_provider('blazar_compute-1.example.org'))
        # nova-compute on compute-1 is up.
        self.assertEqual('ACTIVE', self.site.status_at(3700, lease))
        self.assertIn('compute-1', self.site.hosts(lease))

    def test_names_of_other_machines(self) -> None:
        number = self.host('compute-1').id or 0
        rename = self.registrar.rename_resource
        self.assertRaises(errors.HostNotFound, rename, number, 'compute-9')
        self.assertRaises(errors.HostExists, rename, number, 'compute-2')
        self.cloud.add_hypervisor('other')
        error = self.assertRaises(errors.NotTheHost, rename, number, 'other')
        self.assertIn('its nova-compute is other, not compute-1', error.message)
        self.cloud.add_hypervisor('second', service_host='compute-1')
        self.assert_error(errors.NotTheHost, 'also serves compute-1', rename, number, 'second')
        rename(number, 'compute-1')

    def test_another_nova_compute(self) -> None:
        self.cloud.add_hypervisor('compute-1', service_host='elsewhere')
        (found,) = self.repair()
        self.assertIn('service_name is elsewhere, not compute-1', found.what)
        self.assertTrue(self.host('compute-1').unusable)
        self.refresh('compute-1')
        self.assertFalse(self.host('compute-1').unusable)
        (pool,) = (item for item in self.cloud.aggregates() if item.name == 'freepool')
        self.assertIn('elsewhere', pool.hosts)


class TestStarts(ChangesCase):
    """A start is the first to notice that a host has changed."""

    def start(self, change: Callable[[str], object], **facts: Any) -> tuple[str, Lease]:
        """Start a lease whose first host has changed since it was booked; return both."""
        lease = self.site.create(60, 3600, **facts)
        name = min(self.on(lease))
        change(name)
        self.assertEqual('ACTIVE', self.site.status_at(90, lease))
        return name, lease

    def assert_moved(self, name: str, lease: Lease, why: str) -> None:
        """Fail unless a lease has left a host for the reason given."""
        self.assertNotIn(name, self.on(lease))
        self.assertEqual(self.on(lease), self.site.hosts(lease))
        self.assertTrue(self.host(name).unusable)
        self.assertIsNotNone(self.host(name).failed_at)
        self.assertIn(why, self.site.bus.last('resource.degraded')['reason'])
        self.assertIn(why, self.site.bus.last('lease.rehomed')['reason'])
        self.assertEqual('TERMINATED', self.site.status_at(4000, lease))
        (pool,) = (item for item in self.cloud.aggregates() if item.name == 'freepool')
        self.assertLessEqual({'compute-1', 'compute-2', 'compute-3'}, set(pool.hosts))

    def test_a_zone(self) -> None:
        name, lease = self.start(self.zone)
        self.assert_moved(name, lease, 'aggregate az1-agg puts it into availability zone az1')

    def test_a_second_node(self) -> None:
        name, lease = self.start(
            lambda host: self.cloud.add_hypervisor('node-2', service_host=host), hosts=2
        )
        self.assert_moved(name, lease, f'nova-compute {name} also serves node-2')

    def test_a_new_name(self) -> None:
        name, lease = self.start(lambda host: self.cloud.rename_hypervisor(host, f'{host}.org'))
        self.assert_moved(name, lease, f'Nova now calls the host of nova-compute {name} {name}.org')

    def test_a_flavor_that_is_gone_by_then_is_not_needed(self) -> None:
        lease = self.create(60, 3600, flavor_id=test_instances.GOLD.id)
        self.cloud.compute.delete_flavor(test_instances.GOLD.id)
        self.assertEqual('ACTIVE', self.site.status_at(90, lease))

    def test_slots(self) -> None:
        lease = self.create(60, 3600, amount=2)
        (name, *_) = sorted(self.on(lease))
        self.cloud.add_hypervisor('node-2', service_host=name)
        self.assertEqual('ACTIVE', self.site.status_at(90, lease))
        self.assertNotIn(name, self.on(lease))

    def test_a_comparison_finds_nothing_else(self) -> None:
        name, _ = self.start(self.zone)
        sent = [item.event_type for item in self.site.bus.taken]
        self.repair()
        self.site.work()
        self.assertEqual(1, sent.count('resource.degraded'))
        self.assertEqual(len(sent), len(self.site.bus.taken))
        self.assertTrue(self.host(name).unusable)
