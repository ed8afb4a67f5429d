# SPDX-License-Identifier: Apache-2.0

"""Reservations of hosts that are out: moved, or their owners notified; and repaired."""

from __future__ import annotations

from climate.upkeep.rehoming import Rehoming
from tests import services
from tests.functional.manager import healing


@services.on_each_engine(prefix='TestPending', engines=services.DATABASE_SERVERS)
class TestPending(healing.HealingCase):
    """Reservations that have not begun."""

    def test_gets_another_host(self) -> None:
        lease = self.site.create(3600, 7200, hosts=2)
        had = self.names(lease)
        self.fail(had[0])
        self.assertEqual(1, self.heal())
        has = self.names(lease)
        self.assertNotIn(had[0], has)
        self.assertIn(had[1], has)
        self.assertEqual((False, False, False), self.flags(lease))
        payload = self.site.bus.last('lease.rehomed')
        (new,) = set(has) - set(had)
        found = tuple(payload[key] for key in ('reservation_id', 'from', 'to', 'reason'))
        self.assertEqual((lease.reservations[0].id, [had[0]], [new], f'{had[0]} has failed'), found)
        self.assertEqual(0, self.heal())
        self.site.until(3600)
        self.assertEqual(set(has), self.site.hosts(lease))

    def test_no_lease_gets_the_failed_host(self) -> None:
        self.fail('compute-1')
        lease = self.site.create(3600, 7200, hosts=3)
        self.assertEqual(['compute-2', 'compute-3', 'compute-4'], self.names(lease))

    def test_its_owner_is_notified_if_there_is_none_and_it_is_tried_again(self) -> None:
        lease = self.site.create(3600, 7200, hosts=3)
        other = self.site.create(3000, 5000)
        had = self.names(lease)
        self.fail(had[0])
        self.assertEqual(1, self.heal())
        self.assertEqual((True, True, False), self.flags(lease))
        self.assertEqual((False, False, False), self.flags(other))
        self.assertEqual(had, self.names(lease))
        found = self.site.bus.last('lease.degraded')['reason']
        self.assertEqual(f'{had[0]} has failed; no replacement is available', found)
        self.assertEqual(0, self.heal())
        self.site.delete(other)
        self.assertEqual(1, self.heal())
        self.assertEqual((False, False, False), self.flags(lease))
        self.assertEqual(['degraded', 'rehomed'], self.notified(lease))

    def test_a_host_that_recovers_is_enough(self) -> None:
        lease = self.site.create(3600, 7200, hosts=4)
        self.fail('compute-2')
        self.heal()
        self.assertEqual((True, True, False), self.flags(lease))
        self.mend('compute-2')
        self.assertEqual(1, self.heal())
        self.assertEqual((False, False, False), self.flags(lease))
        self.assertEqual(['degraded'], self.notified(lease))

    def test_several_fail_and_some_can_be_replaced(self) -> None:
        lease = self.site.create(3600, 7200, hosts=3)
        had = self.names(lease)
        self.fail(had[0], had[1])
        self.heal()
        has = self.names(lease)
        self.assertEqual(1, len({had[0], had[1]} & set(has)))
        self.assertEqual((True, True, False), self.flags(lease))
        self.assertEqual(['rehomed', 'degraded'], self.notified(lease))

    def test_what_is_far_off_waits(self) -> None:
        lease = self.site.create(90000, 93600)
        self.fail(*self.names(lease))
        self.assertEqual(0, self.heal())
        self.site.away_until(90000 - 7000)
        self.assertEqual(1, self.heal())
        self.assertEqual(['rehomed'], self.notified(lease))

    def test_only_what_works_takes_its_place(self) -> None:
        lease = self.site.create(3600, 7200)
        (had,) = self.names(lease)
        (last, *others) = {f'compute-{number}' for number in range(1, 5)} - {had}
        self.fail(had, *others)
        self.heal()
        self.assertEqual([last], self.names(lease))

    def test_two_managers_do_it_once(self) -> None:
        lease = self.site.create(3600, 7200)
        self.fail(*self.names(lease))
        rounds = [
            Rehoming(self.site.store, self.site.plugins, self.site.settings) for _ in range(2)
        ]
        ids = [lease.id]
        done = [one.heal(ids[0], self.site.cloud) for one in rounds]
        self.site.work()
        self.assertEqual([True, False], done)
        self.assertEqual(['rehomed'], self.notified(lease))
