# SPDX-License-Identifier: Apache-2.0

"""Reservations in use of hosts that fail: moved if they may be, and mended again."""

from __future__ import annotations

from climate.domain.events import EventKind
from climate.domain.health import HealActive
from climate.domain.leases import Lease
from climate.upkeep.rehoming import Rehoming
from tests import services
from tests.functional.manager import healing


class TestActive(healing.HealingCase):
    """Reservations that are in use."""

    def active(self, hosts: int = 1) -> Lease:
        lease = self.office.create(0, 36000, hosts=hosts)
        self.assertEqual('ACTIVE', self.office.settled(lease))
        return lease

    def test_moves_if_nothing_runs_there(self) -> None:
        lease = self.active(2)
        had = self.names(lease)
        self.fail(had[0])
        self.assertEqual(1, self.heal())
        has = self.names(lease)
        self.assertNotIn(had[0], has)
        self.assertEqual(set(has), self.office.hosts(lease))
        self.assertEqual(['freepool'], self.office.places()[had[0]])
        self.assertEqual((False, False, True), self.flags(lease))
        self.assertEqual((['rehomed'], 'ACTIVE'), (self.told(lease), self.office.status(lease)))

    def test_a_change_by_its_owner_means_that_it_was_seen(self) -> None:
        lease = self.active()
        self.fail(*self.names(lease))
        self.heal()
        self.assertEqual((False, False, True), self.flags(lease))
        self.office.update(lease, end=7200)
        self.office.work()
        self.assertEqual((False, False, False), self.flags(lease))

    def test_stays_if_something_runs_there(self) -> None:
        lease = self.active()
        self.office.boot(lease)
        had = self.names(lease)
        self.fail(*had)
        self.assertEqual(1, self.heal())
        self.assertEqual(had, self.names(lease))
        self.assertEqual((True, True, False), self.flags(lease))
        found = self.office.bus.last('lease.degraded')['reason']
        self.assertEqual(f'{had[0]} has failed; something is running on it', found)
        # A check that finds all as it should be does not hide that.
        self.office.until(1000)
        self.assertEqual((True, True, False), self.flags(lease))
        for server in self.office.cloud.servers():
            self.office.cloud.compute.delete_server(server.id)
        self.assertEqual(1, self.heal())
        self.assertEqual((False, False, True), self.flags(lease))
        self.assertNotEqual(had, self.names(lease))

    def test_what_is_started_at_the_last_moment_keeps_it_there(self) -> None:
        lease = self.active()
        had = self.names(lease)
        self.fail(*had)
        office = self.office
        Rehoming(office.store, office.plugins, office.settings).round(office.cloud)
        self.assertEqual('UPDATING', office.status(lease))
        office.boot(lease)
        self.assertEqual(('ACTIVE', had), (office.settled(lease), self.names(lease)))
        self.assertEqual(set(had), office.hosts(lease))
        self.assertIn('servers run on', office.bus.last('lease.event.error')['reason'])
        for server in office.cloud.servers():
            office.cloud.compute.delete_server(server.id)
        self.heal()
        # It is not tried every minute.
        self.assertEqual((True, True, False), self.flags(lease))
        office.until(4000)
        self.heal()
        self.assertEqual((False, False, True), self.flags(lease))

    def test_never(self) -> None:
        self.open(heal_active=HealActive.NEVER)
        lease = self.active()
        had = self.names(lease)
        self.fail(*had)
        self.heal()
        self.assertEqual((had, (True, True, False)), (self.names(lease), self.flags(lease)))
        self.mend(*had)
        self.heal()
        self.assertEqual((False, False, False), self.flags(lease))

    def test_always(self) -> None:
        self.open(heal_active=HealActive.ALWAYS)
        lease = self.active()
        self.office.boot(lease)
        had = self.names(lease)
        self.fail(*had)
        self.heal()
        self.office.until(10)
        self.assertNotEqual(had, self.names(lease))
        self.assertEqual([], list(self.office.cloud.servers()))
        self.assertEqual((False, False, True), self.flags(lease))
        self.assertEqual(set(self.names(lease)), self.office.hosts(lease))

    def test_a_failed_check_stays_degraded(self) -> None:
        lease = self.active(4)
        self.fail('compute-2')
        self.heal()
        self.office.cloud.fail('compute.find_aggregate', None)
        self.office.until(2000)
        self.office.cloud.heal()
        self.mend('compute-2')
        self.heal()
        self.assertIsNotNone(self.office.event(lease, EventKind.CHECK).error)
        self.assertEqual((True, False, False), self.flags(lease))
        self.office.until(4000)
        self.assertEqual((False, False, False), self.flags(lease))

    def test_it_ends_as_ever(self) -> None:
        lease = self.active(2)
        self.fail(self.names(lease)[0])
        self.heal()
        self.office.delete(lease)
        self.assertEqual(('gone', 4), (self.office.settled(lease), len(self.office.pooled())))


class TestActiveMariadb(TestActive):
    """The same on MariaDB."""

    kind = services.MARIADB
