# SPDX-License-Identifier: Apache-2.0

"""Managers die, leases change and errors occur while leases are processed in batches."""

from __future__ import annotations

import collections
import datetime
import threading
from concurrent import futures
from typing import Any

import fixtures

from climate.cloud.base import Cloud
from climate.db.leases.claims import Claims
from climate.db.transactions.store import Transaction
from climate.domain.leases import Lease
from climate.manager.claims.pipeline import FinishedJob
from climate.plugins.contract import Done
from climate.plugins.contract import Outcome
from climate.plugins.contract import Work
from climate.plugins.host.plugin import PhysicalHost
from climate.plugins.host.pools import HostSettings
from tests import base
from tests import services
from tests.databases import fetch
from tests.functional.db import plans
from tests.functional.manager import harness

STEPS = ('claim', 'begin', 'effect', 'settle')
LEASES = 6
MANY = 50
MOST_FOR_ONE = 5


def work_until(manager: harness.SteppedManager, step: str) -> list[FinishedJob]:
    """Process a batch of all due leases up to and including *step*, and stop.

    :returns: the jobs that were performed and not settled
    """
    ids = manager.claims.take(MANY)
    if step == 'claim' or not ids:
        return []
    begun = manager.pipeline.begin(ids)
    if step == 'begin':
        return []
    performed = [manager.pipeline.perform(job) for job in begun.jobs]
    finished = [each for each in performed if each is not None]
    if step == 'settle' and finished:
        manager.pipeline.settle(finished)
    return finished


class _BatchCase(base.TestCase):
    """A site with leases that are due at the same instants."""

    kind = services.SQLITE

    def site_with(self, hosts: int = 12, **facts: Any) -> harness.Site:
        site = harness.Site(facts.pop('settings', harness.SETTINGS), self.kind, hosts=hosts)
        return self.useFixture(site)

    def leases(
        self, site: harness.Site, start: float, end: float, count: int = LEASES
    ) -> list[Lease]:
        return [site.create(start, end, name=f'lease {number}') for number in range(count)]

    def due(self) -> tuple[harness.Site, list[Lease], harness.SteppedManager]:
        """Return a site, leases that are due, and a manager that has not looked yet."""
        site = self.site_with()
        leases = self.leases(site, 100, 2000)
        site.until(99)
        site.away_until(100)
        return site, leases, site.add_manager()

    def statuses(self, site: harness.Site, leases: list[Lease]) -> dict[str, int]:
        return dict(collections.Counter(site.status(lease) for lease in leases))


@services.on_each_engine(_BatchCase, 'TestDeathsOn')
class Deaths:
    """A manager dies between any two steps of a batch; another one continues."""

    def test_at_every_step_of_every_event(self: Any) -> None:
        for step in STEPS:
            site = self.site_with()
            leases = self.leases(site, 600, 2000)
            site.until(1)
            while (due := self.next_due(site)) is not None:
                site.clock.move_to(due)
                work_until(site.add_manager(), step)
                site.clock.advance(harness.CLAIM_SECONDS + 0.001)
                site.work()
            self.assertEqual({'TERMINATED': LEASES}, self.statuses(site, leases), step)
            self.assertEqual(12, len(site.pooled()))
            for lease in leases:
                notified = dict(collections.Counter(site.bus.received(lease)))
                self.assertEqual(harness.ONCE, notified, step)
            self.assertEqual([], harness.twice(site.bus.taken))
            self.assertEqual(LEASES, site.cloud.calls('compute.create_aggregate'), step)

    def test_while_it_changes_and_deletes(self: Any) -> None:
        for step in STEPS:
            site = self.site_with()
            leases = self.leases(site, 0, 2000)
            site.until(10)
            for lease in leases[:3]:
                site.update(lease, hosts=2)
            for lease in leases[3:]:
                site.delete(lease)
            work_until(site.add_manager(), step)
            site.clock.advance(harness.CLAIM_SECONDS + 0.001)
            site.work()
            self.assertEqual({'ACTIVE': 3, 'gone': 3}, self.statuses(site, leases), step)
            self.assertEqual([2, 2, 2], [len(site.hosts(lease)) for lease in leases[:3]])
            self.assertEqual(3, site.bus.received().count('delete'))

    def test_one_that_is_late_settles_nothing(self: Any) -> None:
        site, leases, slow = self.due()
        finished = work_until(slow, 'effect')
        self.assertEqual(LEASES, len(finished))
        site.clock.advance(harness.CLAIM_SECONDS + 0.001)
        site.work()
        notified = list(site.bus.taken)
        settled = slow.pipeline.settle(finished)
        self.assertEqual(LEASES, len(settled.alone))
        for each in settled.alone:
            slow.worker.settle(each.begun.guard, each.begun.job, each.report)
        slow.send()
        self.assertEqual(notified, site.bus.taken)
        self.assertEqual({'ACTIVE': LEASES}, self.statuses(site, leases))

    def next_due(self: Any, site: harness.Site) -> datetime.datetime | None:
        return fetch(site.store, lambda tx: tx.claims.next_due())


class UnwritableHosts(PhysicalHost):
    """Hosts whose start returns a fact that no database can store, for some leases."""

    def __init__(self, names: set[str]) -> None:
        super().__init__(HostSettings())
        self.names = names

    def start(self, work: Work, cloud: Cloud) -> Outcome:
        outcome = super().start(work, cloud)
        if work.lease.name in self.names:
            fact: Any = object()
            return Done(facts={'poison': fact})
        return outcome


class Neighbours:
    """What happens to one lease does not affect the others of a batch."""

    def test_one_that_cannot_be_written(self: Any) -> None:
        site = self.site_with()
        plugin = UnwritableHosts({'lease 2'})
        site.plugins['physical:host'] = plugin
        leases = self.leases(site, 100, 2000)
        manager = site.add_manager()
        site.away_until(100)
        while manager.look(MANY):
            continue
        self.assertEqual({'ACTIVE': 5, 'STARTING': 1}, self.statuses(site, leases))
        plugin.names.clear()
        site.clock.advance(harness.CLAIM_SECONDS + 1)
        site.work()
        self.assertEqual({'ACTIVE': 6}, self.statuses(site, leases))

    def test_one_that_cannot_be_read(self: Any) -> None:
        site = self.site_with()
        leases = self.leases(site, 100, 2000)
        broken = leases[2].reservations[0].id
        text = "UPDATE reservations SET facts = '{' WHERE id = "
        with site.store.engine.begin() as connection:
            connection.exec_driver_sql(f"{text}'{broken}'")
        manager = site.add_manager()
        site.away_until(100)
        while manager.look(MANY):
            continue
        with site.store.engine.begin() as connection:
            connection.exec_driver_sql(f"{text.replace('{', '{}')}'{broken}'")
        self.assertEqual({'ACTIVE': 5, 'PENDING': 1}, self.statuses(site, leases))
        site.clock.advance(harness.CLAIM_SECONDS + 1)
        site.work()
        self.assertEqual({'ACTIVE': 6}, self.statuses(site, leases))

    def test_one_that_was_claimed_by_another_manager(self: Any) -> None:
        site, leases, manager = self.due()
        ids = manager.claims.take(MANY)
        later = site.clock.now() + datetime.timedelta(seconds=30)
        site.store.run(lambda tx: tx.claims.release(manager.owner, leases[0].id))
        site.store.run(lambda tx: tx.claims.take_one('other', later, leases[0].id))
        manager.work_together(ids)
        self.assertEqual({'ACTIVE': 5, 'PENDING': 1}, self.statuses(site, leases))

    def test_changes_between_begin_and_settle(self: Any) -> None:
        site, leases, manager = self.due()
        finished = work_until(manager, 'effect')
        site.delete(leases[0])
        site.update(leases[1], name='other name')
        settled = manager.pipeline.settle(finished)
        self.assert_has(settled, again=[leases[0].id], alone=[])
        manager.work_together(settled.again)
        self.assertEqual({'ACTIVE': 5, 'gone': 1}, self.statuses(site, leases))
        self.assertEqual('other name', site.now(leases[1]).name)

    def test_statements_do_not_depend_on_the_size_of_a_batch(self: Any) -> None:
        site = self.site_with(hosts=2 * MANY)
        counted = []
        for start, count in ((100, MANY // 2), (200, MANY)):
            leases = self.leases(site, start, 2000, count)
            site.until(start - 1)
            site.away_until(start)
            manager = site.add_manager()
            with plans.captured(site.store.engine) as statements:
                manager.look(count)
            counted.append(len(statements))
            self.assertEqual({'ACTIVE': count}, self.statuses(site, leases))
        self.assertEqual(counted[0], counted[1], [each.text[:60] for each in statements])
        self.assertLessEqual(counted[1], MOST_FOR_ONE * MANY)


class TestNeighboursOnSqlite(Neighbours, _BatchCase):
    """SQLite."""


@services.on_each_engine(_BatchCase, 'TestNeighboursOn', engines=services.DATABASE_SERVERS)
class _Locks(Neighbours):
    """Also what needs locks of rows, which SQLite does not have."""

    def test_one_that_a_user_is_changing(self) -> None:
        site, leases, manager = self.due()
        ids = manager.claims.take(MANY)
        locked, finish = threading.Event(), threading.Event()

        def change(tx: Transaction) -> None:
            tx.leases.get(leases[0].id, lock=True)
            locked.set()
            finish.wait(60)

        thread = threading.Thread(target=site.store.run, args=(change,))
        thread.start()
        try:
            self.assertTrue(locked.wait(60))
            begun = manager.pipeline.begin(ids)
        finally:
            finish.set()
            thread.join(60)
        self.assertEqual(([leases[0].id], LEASES - 1), (begun.alone, len(begun.jobs)))
        manager.worker.work(leases[0].id)
        self.assertEqual('ACTIVE', site.status(leases[0]))

    def test_one_whose_host_stays_locked(self) -> None:
        # Waits for a second, as a batch does.
        site, leases, manager = self.due()
        ids = manager.claims.take(MANY)
        locked, finish = threading.Event(), threading.Event()

        def lock(tx: Transaction) -> None:
            tx.allocations.lock_resources([leases[0].reservations[0].id])
            locked.set()
            finish.wait(60)

        with futures.ThreadPoolExecutor() as pool:
            pool.submit(site.store.run, lock)
            try:
                self.assertTrue(locked.wait(60))
                begun = pool.submit(manager.pipeline.begin, ids).result(30)
                others = [lease_id for lease_id in begun.alone if lease_id != leases[0].id]
                for lease_id in others:
                    manager.worker.work(lease_id)
                self.assertEqual({'ACTIVE': 5, 'PENDING': 1}, self.statuses(site, leases))
            finally:
                finish.set()
        manager.worker.work(leases[0].id)
        self.assertEqual('ACTIVE', site.status(leases[0]))

    def test_claims_that_are_being_renewed(self) -> None:
        _, _, manager = self.due()
        ids = manager.claims.take(MANY)
        locked, finish = threading.Event(), threading.Event()
        renew = Claims.renew

        def renew_slowly(*arguments: Any) -> list[str]:
            renewed = renew(*arguments)
            locked.set()
            finish.wait(60)
            return renewed

        self.useFixture(fixtures.MonkeyPatch('climate.db.leases.claims.Claims.renew', renew_slowly))
        with futures.ThreadPoolExecutor() as pool:
            renewal = pool.submit(manager.claims.renew)
            try:
                self.assertTrue(locked.wait(60))
                begun = pool.submit(manager.pipeline.begin, ids)
                futures.wait([begun], timeout=0.2)
            finally:
                finish.set()
            renewal.result(60)
            self.assertEqual(([], LEASES), (begun.result(60).alone, len(begun.result().jobs)))
