# SPDX-License-Identifier: Apache-2.0

"""Leases of instances from the booking to the end, over SQL and the cloud."""

from __future__ import annotations

import datetime
import random
from collections import Counter
from typing import Any

from climate import exceptions
from climate.booking.leases import Leases
from climate.cloud.base import Flavor
from climate.cloud.base import ServerDraft
from climate.domain.leases import Lease
from climate.domain.requests import LeaseChange
from climate.domain.requests import ReservationChange
from climate.plugins.instance.by_flavor import FlavorInstance
from climate.plugins.instance.by_size import VirtualInstance
from tests import base
from tests import drafts
from tests.functional import bodies
from tests.functional.manager.harness import at
from tests.functional.manager.harness import CALLER
from tests.functional.manager.harness import PROJECT
from tests.functional.manager.harness import Site
from tests.narrowing import present

HOUR = 3600
# Each host of the simulated cloud has 16 processors, four times over.
ROOM = 64
SIZES = {'vcpus': 4, 'memory_mb': 2048, 'disk_gb': 10}
SPECS = {'trait:HW_CPU_X86_AVX2': 'required'}
GOLD = Flavor(id='gold', name='gold', **SIZES, extra_specs=SPECS)


class _Test(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.site = self.useFixture(Site(hosts=3))
        self.cloud = self.site.cloud
        self.cloud.compute.create_flavor(GOLD)
        for plugin in (VirtualInstance(), FlavorInstance()):
            self.site.plugins[plugin.resource_type] = plugin
        site = self.site
        self.leases = Leases(
            *(site.store, site.plugins, site.clock, site.settings),
            *(lambda: None, random.Random(7)),
            cloud_of=lambda caller: self.cloud.of_caller(f'{caller.user_id}:{caller.project_id}'),
        )
        self.empty = self.cloud.contents()

    def create(self, start: float = 0, end: float = HOUR, **wanted: Any) -> Lease:
        """Book slots, from and to so many seconds after noon."""
        body = bodies.instances(
            vcpus=4, memory_mb=2048, disk_gb=10, amount=3, affinity='None', resource_properties=''
        )
        if 'flavor_id' in wanted:
            body = {'resource_type': 'flavor:instance', 'amount': 3}
        draft = drafts.lease(
            at(start), at(end), {**body, **wanted}, asked_at=min(at(start), self.site.clock.now())
        )
        return self.leases.create(CALLER, draft)

    def update(self, lease: Lease, end: float | None = None, **wanted: Any) -> Lease:
        """Change a lease, and let the managers follow."""
        change = ReservationChange(id=lease.reservations[0].id, body=wanted)
        dates = {'end': None if end is None else at(end), 'grain': datetime.timedelta(0)}
        request = LeaseChange(reservations=(change,) if wanted else (), **dates)
        changed = self.leases.update(CALLER, lease.id, PROJECT, request)
        self.site.work()
        return changed

    def boot(self, lease: Lease, name: str) -> str:
        """Make a server in a slot; return its status."""
        compute = self.cloud.compute_of(PROJECT)
        draft = ServerDraft(name=name, flavor_id=lease.reservations[0].id)
        return present(compute.find_server(compute.create_server(draft))).status

    def slots(self, lease: Lease) -> dict[str, int]:
        """Return the slots that Placement has, by host."""
        name = f'CUSTOM_RESERVATION_{lease.reservations[0].id.upper().replace("-", "_")}'
        return {
            provider.name.removeprefix('blazar_'): inventory.total
            for provider in self.cloud.placement.list_providers(prefix='blazar_')
            for inventory in self.cloud.placement.inventories(provider.uuid)
            if inventory.resource_class == name
        }

    def booked(self, lease: Lease) -> dict[str, int]:
        """Return the slots that are written down, by host."""
        units: Counter[str] = Counter()
        for item in self.site.allocations(lease):
            if item.resource_class == 'VCPU':
                units[item.resource_name] += item.amount
        return {host: amount // 4 for host, amount in units.items()}

    def alike(self, lease: Lease, amount: int) -> None:
        """Check that SQL and Placement say the same."""
        self.assertEqual(self.booked(lease), self.slots(lease))
        self.assertEqual(amount, sum(self.slots(lease).values()))
        self.assertEqual(set(self.slots(lease)), self.site.hosts(lease))
        self.assertEqual('ACTIVE', self.site.status(lease))

    def over(self, lease: Lease) -> None:
        """Check that nothing is left."""
        self.assertEqual([], self.site.allocations(lease))
        self.assertEqual((), self.cloud.servers())
        self.assertEqual(self.empty, self.cloud.contents())


class TestLife(_Test):
    """From the booking to the end."""

    def test_of_sizes_and_of_a_flavor(self) -> None:
        for wanted in ({}, {'affinity': True}, {'affinity': 'False'}, {'flavor_id': 'gold'}):
            start = self.site.seconds() + 100
            lease = self.create(start, start + HOUR, **wanted)
            self.assertEqual('PENDING', lease.status.value)
            self.site.until(start + 10)
            self.alike(lease, 3)
            self.assertEqual(['ACTIVE'] * 3, [self.boot(lease, f's{n}') for n in range(3)])
            self.assertEqual('ERROR', self.boot(lease, 'too-many'))
            self.site.until(start + 1000)
            self.alike(lease, 3)
            self.assertEqual('TERMINATED', self.site.status_at(start + HOUR + 10, lease))
            self.over(lease)

    def test_spread(self) -> None:
        together = self.create(affinity='True')
        apart = self.create(affinity='False')
        self.site.until(10)
        self.assertEqual([3], list(self.slots(together).values()))
        self.assertEqual([1, 1, 1], list(self.slots(apart).values()))
        self.assertRaises(exceptions.NotEnoughResources, self.create, affinity=False, amount=4)

    def test_deleted_while_it_runs(self) -> None:
        lease = self.create()
        self.site.until(10)
        self.boot(lease, 'one')
        self.leases.delete(CALLER, lease.id, PROJECT)
        self.assertEqual('gone', self.site.status_at(60, lease))
        self.over(lease)

    def test_both_kinds_and_whole_hosts_side_by_side(self) -> None:
        leases = [self.create(), self.create(flavor_id='gold')]
        hosts = self.site.create(0, HOUR, until=10)
        for lease in leases:
            self.alike(lease, 3)
            self.assertEqual(set(), self.site.hosts(lease) & self.site.hosts(hosts))
        self.site.until(HOUR + 10)
        for lease in (*leases, hosts):
            self.assertEqual('TERMINATED', self.site.status(lease))
        self.over(hosts)

    def test_no_more_than_there_is(self) -> None:
        lease = self.create(amount=12, affinity='None')
        refused = ({'amount': 1}, {'amount': 1, 'flavor_id': 'gold'})
        for wanted in refused:
            self.assertRaises(exceptions.NotEnoughResources, self.create, **wanted)
        self.site.until(10)
        self.assertEqual([4, 4, 4], list(self.slots(lease).values()))


class TestChanges(_Test):
    """While the lease waits and while it runs."""

    def test_everything_before_the_start(self) -> None:
        lease = self.create(100)
        # Prepared already, with a flavor that has to become another.
        self.site.until(60)
        self.update(lease, vcpus=2, memory_mb=1024, disk_gb=0, amount=5, affinity='True')
        self.site.until(110)
        flavor = present(self.cloud.compute.find_flavor(lease.reservations[0].id))
        self.assertEqual((2, 1024, 0), (flavor.vcpus, flavor.memory_mb, flavor.disk_gb))
        self.assertEqual([5], list(self.slots(lease).values()))
        self.site.until(HOUR + 10)
        self.over(lease)

    def test_another_flavor_before_the_start(self) -> None:
        lease = self.create(100, flavor_id='gold')
        self.site.until(60)
        self.update(lease, flavor_id=1)
        self.site.until(110)
        flavor = present(self.cloud.compute.find_flavor(lease.reservations[0].id))
        self.assertEqual((1, 512), (flavor.vcpus, flavor.memory_mb))
        self.site.until(HOUR + 10)
        self.over(lease)

    def test_more_and_fewer_while_it_runs(self) -> None:
        for wanted in ({}, {'flavor_id': 'gold'}):
            start = self.site.seconds()
            lease = self.create(start, start + HOUR, **wanted)
            self.site.until(start + 10)
            for amount in (7, 2, 5, 1):
                self.update(lease, amount=amount)
                self.alike(lease, amount)
            self.site.until(start + HOUR + 10)
            self.over(lease)

    def test_the_slots_stay_in_which_servers_are(self) -> None:
        lease = self.create(amount=9)
        self.site.until(10)
        self.boot(lease, 'one')
        for amount in (4, 1):
            self.update(lease, amount=amount)
            self.alike(lease, amount)
        (server,) = self.cloud.servers()
        self.assertEqual({server.host: 1}, self.slots(lease))

    def test_more_servers_than_slots_undo_the_change(self) -> None:
        lease = self.create()
        self.site.until(10)
        before = self.booked(lease)
        for number in range(3):
            self.boot(lease, f's{number}')
        self.update(lease, amount=2)
        self.site.until(600)
        self.alike(lease, 3)
        self.assertEqual(before, self.booked(lease))
        self.assertEqual(3, self.site.now(lease).reservations[0].request['amount'])

    def test_what_cannot_be_changed_while_it_runs(self) -> None:
        lease = self.create()
        flavor = self.create(flavor_id='gold')
        self.site.until(10)
        for key, value in (('vcpus', 1), ('memory_mb', 1), ('disk_gb', 1), ('affinity', 'True')):
            with self.assertRaisesRegex(exceptions.CantUpdateParameter, key):
                self.update(lease, **{key: value})
        with self.assertRaisesRegex(exceptions.CantUpdateParameter, 'flavor_id'):
            self.update(flavor, flavor_id='1')
        self.update(flavor, end=2 * HOUR)
        self.alike(flavor, 3)

    def test_other_hosts_while_it_runs(self) -> None:
        lease = self.create(amount=2, affinity='False')
        self.site.until(10)
        mine = sorted(self.slots(lease))
        wanted = '["{}", "$hypervisor_hostname", "{}"]'
        with self.assertRaises(exceptions.NotEnoughResources):
            self.update(lease, resource_properties=wanted.format('!=', mine[0]))
        self.alike(lease, 2)
        # What is there fulfils this, and so does what comes.
        self.update(lease, resource_properties=wanted.format('>=', 'compute'), amount=3)
        self.alike(lease, 3)

    def test_a_change_that_stumbles(self) -> None:
        for verb in ('placement.set_inventory', 'compute.add_host', 'placement.usages'):
            lease = self.create(self.site.seconds(), self.site.seconds() + HOUR)
            self.site.until(self.site.seconds() + 10)
            self.cloud.fail(verb)
            self.update(lease, amount=9)
            self.site.until(self.site.seconds() + 100)
            self.cloud.fail(verb, when='after')
            self.update(lease, amount=4)
            self.site.until(self.site.seconds() + 100)
            self.alike(lease, 4)
            self.leases.delete(CALLER, lease.id, PROJECT)
            self.site.until(self.site.seconds() + 60)
            self.over(lease)


class TestRepair(_Test):
    """Drift is found, and what is left."""

    def test_what_an_ended_lease_left(self) -> None:
        lease = self.create()
        self.site.until(10)
        state = self.cloud.state()
        self.leases.delete(CALLER, lease.id, PROJECT)
        self.site.until(60)
        self.cloud.restore(state)
        found = [item.what for item in self.site.repair().rehearse()]
        for words in ('flavor', 'aggregate', 'resource class', 'inventory'):
            self.assertTrue(any(words in each for each in found), (words, found))
        list(self.site.repair().run())
        self.assertEqual([], list(self.site.repair().run()))
        self.over(lease)

    def test_a_check_puts_the_flavor_back(self) -> None:
        lease = self.create(end=3 * HOUR)
        self.site.until(10)
        self.cloud.compute.delete_flavor(lease.reservations[0].id)
        self.site.until(1000)
        self.assertEqual('ACTIVE', self.boot(lease, 'one'))
