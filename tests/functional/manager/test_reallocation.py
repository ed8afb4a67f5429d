# SPDX-License-Identifier: Apache-2.0

"""Somebody asks for another host in place of one."""

from __future__ import annotations

from typing import Any

from climate import exceptions
from climate.domain.leases import Lease
from climate.domain.requests import Reallocation
from tests.functional.manager import harness
from tests.functional.manager import healing


class TestReallocation(healing.HealingCase):
    """Owners and operators who do not like a host."""

    def swap(self, lease: Lease, **facts: Any) -> Lease:
        wanted = Reallocation(
            **{'reservation_id': lease.reservations[0].id, 'reason': 'it is noisy', **facts}
        )
        return self.site.leases.reallocate(lease.id, harness.PROJECT, wanted)

    def test_before_the_start_it_is_done_at_once(self) -> None:
        lease = self.site.create(3600, 7200, hosts=3)
        had = self.names(lease)
        self.assertEqual('PENDING', self.swap(lease, resource_name=had[1]).status)
        self.assertEqual(1, len({*had} - {*self.names(lease)}))
        self.assertNotIn(had[1], self.names(lease))
        self.site.work()
        self.assertEqual('it is noisy', self.site.bus.last('lease.rehomed')['reason'])
        self.assertEqual((False, False, False), self.flags(lease))

    def test_it_mends_what_was_missing(self) -> None:
        lease = self.site.create(3600, 7200, hosts=3)
        other = self.site.create(3600, 7200)
        had = self.names(lease)
        self.fail(had[0])
        self.heal()
        self.assertEqual((True, True, False), self.flags(lease))
        self.site.delete(other)
        self.swap(lease, resource_name=had[0])
        self.assertEqual((False, False, False), self.flags(lease))

    def active(self) -> Lease:
        lease = self.site.create(0, 36000)
        self.site.work()
        return lease

    def test_in_use_it_is_done_by_a_manager(self) -> None:
        lease = self.active()
        (had,) = self.site.allocations(lease)
        self.assertEqual('UPDATING', self.swap(lease, resource_id=had.resource_id).status)
        self.assertEqual('ACTIVE', self.site.settled(lease))
        self.assertNotEqual([had.resource_name], self.names(lease))
        self.assertEqual(set(self.names(lease)), self.site.hosts(lease))
        self.assertEqual((False, False, True), self.flags(lease))

    def test_what_runs_there_keeps_it_there(self) -> None:
        lease = self.active()
        self.site.boot(lease)
        had = self.names(lease)
        self.swap(lease, resource_name=had[0])
        self.site.work()
        self.assertEqual((had, 'ACTIVE'), (self.names(lease), self.site.status(lease)))
        self.assertIn('servers run on', self.site.bus.last('lease.event.error')['reason'])
        self.assertEqual((False, False, False), self.flags(lease))
        self.swap(lease, resource_name=had[0], forced=True)
        self.site.until(10)
        self.assertEqual([], list(self.site.cloud.servers()))
        self.assertNotEqual(had, self.names(lease))

    def test_refusals(self) -> None:
        lease = self.site.create(3600, 7200, hosts=4)
        had = self.names(lease)
        self.assertRaises(exceptions.NotEnoughResources, self.swap, lease, resource_name=had[0])
        self.assertRaises(exceptions.NotFound, self.swap, lease, resource_name='compute-9')
        self.assertRaises(exceptions.NotFound, self.swap, lease, resource_id=99)
        with self.assertRaises(exceptions.InvalidInput):
            self.swap(lease, reservation_id='x', resource_name=had[0])
        self.assertEqual(had, self.names(lease))
        done = self.site.create(0, 60, until=100)
        self.assertRaises(exceptions.InvalidState, self.swap, done, resource_name=had[0])
