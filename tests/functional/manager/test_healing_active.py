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
        lease = self.site.create(0, 36000, hosts=hosts)
        self.assertEqual('ACTIVE', self.site.settled(lease))
        return lease

    def test_moves_if_nothing_runs_there(self) -> None:
        lease = self.active(2)
        had = self.names(lease)
        self.fail(had[0])
        self.assertEqual(1, self.heal())
        has = self.names(lease)
        self.assertNotIn(had[0], has)
        self.assertEqual(set(has), self.site.hosts(lease))
        self.assertEqual(['freepool'], self.site.places()[had[0]])
        self.assertEqual((False, False, True), self.flags(lease))
        self.assertEqual((['rehomed'], 'ACTIVE'), (self.notified(lease), self.site.status(lease)))

    def test_a_change_by_its_owner_means_that_it_was_seen(self) -> None:
        lease = self.active()
        self.fail(*self.names(lease))
        self.heal()
        self.assertEqual((False, False, True), self.flags(lease))
        self.site.update(lease, end=7200)
        self.site.work()
        self.assertEqual((False, False, False), self.flags(lease))

    def test_stays_if_something_runs_there(self) -> None:
        lease = self.active()
        self.site.boot(lease)
        had = self.names(lease)
        self.fail(*had)
        self.assertEqual(1, self.heal())
        self.assertEqual(had, self.names(lease))
        self.assertEqual((True, True, False), self.flags(lease))
        found = self.site.bus.last('lease.degraded')['reason']
        self.assertEqual(f'{had[0]} has failed; something is running on it', found)
        # A check that finds all as it should be does not hide that.
        self.site.until(1000)
        self.assertEqual((True, True, False), self.flags(lease))
        for server in self.site.cloud.servers():
            self.site.cloud.compute.delete_server(server.id)
        self.assertEqual(1, self.heal())
        self.assertEqual((False, False, True), self.flags(lease))
        self.assertNotEqual(had, self.names(lease))

    def test_what_is_started_at_the_last_moment_keeps_it_there(self) -> None:
        lease = self.active()
        had = self.names(lease)
        self.fail(*had)
        site = self.site
        Rehoming(site.store, site.plugins, site.settings).round(site.cloud)
        self.assertEqual('UPDATING', site.status(lease))
        site.boot(lease)
        self.assertEqual(('ACTIVE', had), (site.settled(lease), self.names(lease)))
        self.assertEqual(set(had), site.hosts(lease))
        self.assertIn('servers run on', site.bus.last('lease.event.error')['reason'])
        for server in site.cloud.servers():
            site.cloud.compute.delete_server(server.id)
        self.heal()
        # It is not tried every minute.
        self.assertEqual((True, True, False), self.flags(lease))
        site.until(4000)
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
        self.site.boot(lease)
        had = self.names(lease)
        self.fail(*had)
        self.heal()
        self.site.until(10)
        self.assertNotEqual(had, self.names(lease))
        self.assertEqual([], list(self.site.cloud.servers()))
        self.assertEqual((False, False, True), self.flags(lease))
        self.assertEqual(set(self.names(lease)), self.site.hosts(lease))

    def test_a_failed_check_stays_degraded(self) -> None:
        lease = self.active(4)
        self.fail('compute-2')
        self.heal()
        self.site.cloud.fail('compute.find_aggregate', None)
        self.site.until(2000)
        self.site.cloud.heal()
        self.mend('compute-2')
        self.heal()
        self.assertIsNotNone(self.site.event(lease, EventKind.CHECK).error)
        self.assertEqual((True, False, False), self.flags(lease))
        self.site.until(4000)
        self.assertEqual((False, False, False), self.flags(lease))

    def test_it_ends_as_ever(self) -> None:
        lease = self.active(2)
        self.fail(self.names(lease)[0])
        self.heal()
        self.site.delete(lease)
        self.assertEqual(('gone', 4), (self.site.settled(lease), len(self.site.pooled())))


class TestActiveMariadb(TestActive):
    """The same on MariaDB."""

    kind = services.MARIADB
