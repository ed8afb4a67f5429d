# SPDX-License-Identifier: Apache-2.0

"""Managers that die, that work side by side, and that cannot send."""

from __future__ import annotations

import collections
import datetime
import threading

from climate.db.transactions.store import Transaction
from climate.domain.events import EventKind
from climate.manager.running.begin import EventStarter
from climate.manager.senders.outbox import OutboxSender
from climate.messaging.publisher import BrokerUnavailable
from tests import base
from tests import services
from tests.databases import fetch
from tests.functional.manager import harness
from tests.functional.manager.harness import Site
from tests.functional.manager.harness import SiteCase
from tests.threads import together

ALL = {'compute-1', 'compute-2', 'compute-3', 'compute-4'}
STEPS = ('claim', 'begin', 'effect', 'settle')


@services.on_each_engine(
    base.TestCase, 'TestDeathOn', engines=(services.SQLITE, services.POSTGRESQL)
)
class Death:
    """A manager dies between any two steps; another one goes on."""

    def test_at_every_step_of_every_event(self) -> None:
        for step in STEPS:
            site = self.useFixture(Site(database=self.kind))
            lease = site.create(600, 2000, hosts=2, until=1)
            while (due := self.next_due(site)) is not None:
                site.clock.move_to(due)
                site.add_manager().die_after(step)
                self.another_takes_over(site, step)
            self.assertEqual('TERMINATED', site.status(lease), step)
            self.assertEqual(ALL, site.pooled())
            self.assertEqual(harness.ONCE, dict(collections.Counter(site.bus.received())), step)

    def another_takes_over(self, site: Site, step: str) -> None:
        """The claim of the dead one runs out, and no sooner."""
        if step != 'settle':
            self.assertEqual([], site.manager.look())
        site.clock.advance(harness.CLAIM_SECONDS + 0.001)
        site.work()
        due = self.next_due(site)
        self.assertTrue(due is None or due > site.clock.now())

    def next_due(self, site: Site) -> datetime.datetime | None:
        return fetch(site.store, lambda tx: tx.claims.next_due())

    def test_while_it_deletes_or_changes(self) -> None:
        for step in STEPS:
            site = self.useFixture(Site(database=self.kind))
            lease = site.create(0, 2000, until=10)
            site.update(lease, hosts=3)
            site.add_manager().die_after(step)
            self.another_takes_over(site, step)
            self.assertEqual(('ACTIVE', 3), (site.status(lease), len(site.hosts(lease))))
            site.delete(lease)
            site.add_manager().die_after(step)
            self.another_takes_over(site, step)
            self.assertEqual(('gone', ALL), (site.status(lease), site.pooled()))
            self.assertEqual(1, site.bus.received().count('delete'))

    def test_deleted_between_two_steps(self) -> None:
        for step in STEPS:
            site = self.useFixture(Site(database=self.kind))
            lease = site.create(600, 2000, until=599)
            site.away_until(600)
            site.add_manager().die_after(step)
            site.delete(lease)
            site.clock.advance(harness.CLAIM_SECONDS + 0.001)
            site.work()
            self.assertEqual(('gone', ALL), (site.status(lease), site.pooled()), step)


@services.on_each_engine(base.TestCase, 'TestHandoverOn')
class _Handover:
    """Two leases that want one host in the same instant."""

    def test_a_start_that_is_late_and_the_next_one(self) -> None:
        site = self.useFixture(Site(database=self.kind))
        first, second = site.create(0, 1000, hosts=4), site.create(1000, 2000, hosts=4)
        site.away_until(999.9)
        slow, quick = site.add_manager(), site.add_manager()
        self.assertEqual([first.id], slow.claims.take(1))
        self.assertEqual([second.id], quick.claims.take(1))
        begun, commit = threading.Event(), threading.Event()

        def begin(tx: Transaction) -> None:
            beginner = EventStarter(site.plugins, site.settings, slow.owner)
            self.assertIsNotNone(beginner.begin(tx, first.id))
            begun.set()
            commit.wait(20)

        threads = [
            threading.Thread(target=site.store.run, args=(begin,)),
            threading.Thread(target=quick.worker.work, args=(second.id,)),
        ]
        threads[0].start()
        self.assertTrue(begun.wait(20))
        site.away_until(1000)
        threads[1].start()
        # It must not look before it is sure who has the hosts.
        threads[1].join(0.3)
        self.assertTrue(threads[1].is_alive())
        commit.set()
        for thread in threads:
            thread.join(20)
        self.assertEqual(('STARTING', 'PENDING'), (site.status(first), site.status(second)))
        self.assertIn('waiting', site.event(second, EventKind.START).error or '')
        site.clock.advance(harness.CLAIM_SECONDS + 1)
        site.until(1100)
        self.assertEqual(('TERMINATED', 'ACTIVE'), (site.status(first), site.status(second)))


class TestClaims(SiteCase):
    """Who works on what."""

    def test_a_manager_that_was_overtaken_writes_nothing(self) -> None:
        lease = self.site.create(100, 2000, until=99)
        self.site.away_until(100)
        slow, quick = self.site.add_manager(), self.site.add_manager()
        self.assertEqual([lease.id], slow.claims.take(1))
        self.site.clock.advance(harness.CLAIM_SECONDS + 1)
        self.assertEqual([lease.id], quick.claims.take(1))
        slow.worker.work(lease.id)
        self.assertEqual('PENDING', self.site.status(lease))
        quick.worker.work(lease.id)
        self.assertEqual('ACTIVE', self.site.status(lease))

    def test_its_own_claim_that_ran_out_is_not_worked_on_twice(self) -> None:
        lease = self.site.create(0, 2000)
        claims = self.site.manager.claims
        self.assertEqual([lease.id], claims.take(1))
        self.site.clock.advance(harness.CLAIM_SECONDS + 1)
        self.assertEqual(([], {lease.id}), (claims.take(1), claims.claimed()))
        # The one that is at it does it again, under the new claim.
        self.assertFalse(claims.forget(lease.id))
        self.site.manager.worker.work(lease.id)
        self.assertEqual('ACTIVE', self.site.status(lease))
        self.assertTrue(claims.forget(lease.id))
        self.assertEqual(set(), claims.claimed())

    def test_those_due_longest_come_first_and_no_more_than_wanted(self) -> None:
        leases = [self.site.create(start, 9000, name=str(start)) for start in (130, 110, 120)]
        self.site.away_until(80)
        self.assertEqual([leases[1].id, leases[2].id], self.site.add_manager().claims.take(2))
        self.assertEqual([leases[0].id], self.site.add_manager().claims.take(2))
        self.assertEqual([], self.site.add_manager().claims.take(2))

    def test_leases_handed_over_in_a_ring_come_to_rest(self) -> None:
        leases = [self.site.create(start, start + 100, hosts=4) for start in range(0, 500, 100)]
        self.site.away_until(450)
        self.site.until(600)
        self.assertEqual(['TERMINATED'] * 5, [self.site.status(lease) for lease in leases])
        self.assertEqual(ALL, self.site.pooled())
        self.assertEqual(1, self.site.bus.received().count('start_lease'))


@services.on_each_engine(base.TestCase, 'TestOutboxOn')
class _Outbox:
    """Notifications on their way."""

    def test_a_broker_that_refuses_some(self) -> None:
        site = self.useFixture(Site(database=self.kind))
        leases = [site.create(600, 3600, name=str(number)) for number in range(3)]
        refused = leases[1].id
        site.bus.refuses = lambda message: message.payload['lease_id'] == refused
        for _ in range(3):
            self.assertRaises(BrokerUnavailable, site.manager.send)
        self.assertEqual((['create'], 2), (site.bus.received(), site.waiting()))
        # Leases live on meanwhile.
        while site.manager.look():
            continue
        site.away_until(700)
        while site.manager.look():
            continue
        self.assertEqual('ACTIVE', site.status(leases[2]))
        site.bus.refuses = lambda _: False
        site.add_manager().send()
        self.assertEqual(0, site.waiting())
        for lease in leases:
            self.assertEqual(
                ['create', 'before_start_lease', 'before_start_lease', 'start_lease'],
                site.bus.received(lease),
            )
        self.assertEqual([], harness.twice(site.bus.taken))

    def test_a_sender_that_died_is_replaced(self) -> None:
        site = self.useFixture(Site(database=self.kind))
        lease = site.create(600, 3600)
        self.assertEqual(1, fetch(site.store, lambda tx: tx.outbox.waiting()))
        until = harness.at(30)
        site.store.run(lambda tx: tx.outbox.claim('dead', until, 100))
        site.update(lease, name='other')
        site.manager.send()
        # What came after must not overtake what the dead one holds.
        self.assertEqual([], site.bus.received())
        site.clock.advance(30.001)
        site.manager.send()
        self.assertEqual(['create', 'update'], site.bus.received())

    def test_what_a_sender_could_not_settle_it_sends_again_at_once(self) -> None:
        site = self.useFixture(Site(database=self.kind))
        site.create(600, 3600)
        until = harness.at(30)
        site.store.run(lambda tx: tx.outbox.claim(site.manager.owner, until, 100))
        site.add_manager().send()
        self.assertEqual([], site.bus.received())
        site.manager.send()
        self.assertEqual(['create'], site.bus.received())

    def test_two_senders_at_once(self) -> None:
        site = self.useFixture(Site(database=self.kind))
        leases = [site.create(600, 3600, hosts=0, name='0') for _ in range(10)]
        for number in range(1, 5):
            for lease in leases:
                site.update(lease, name=str(number))
        self.send_side_by_side(site, 2)
        self.assertEqual(([], 50), (harness.twice(site.bus.taken), len(site.bus.taken)))
        for lease in leases:
            taken = [item for item in site.bus.taken if item.payload['lease_id'] == lease.id]
            self.assertEqual(['0', '1', '2', '3', '4'], [item.payload['name'] for item in taken])

    def send_side_by_side(self, site: Site, senders: int) -> None:
        def send(sender: OutboxSender) -> None:
            for _ in range(500):
                if not sender.send_once() and not site.waiting():
                    return

        together(send, [site.add_manager(batch=2).sender for _ in range(senders)])
        self.assertEqual(0, site.waiting())


class TestNothingIsLost(base.TestCase):
    """Each notification has an id of its own, that stays."""

    def test_sent_again_it_has_the_same_id(self) -> None:
        site = self.useFixture(Site())
        site.create(600, 3600)
        until = harness.at(1)
        first = site.store.run(lambda tx: tx.outbox.claim('dead', until, 100))
        site.clock.advance(2)
        site.manager.send()
        self.assertEqual([first[0].id], [item.id for item in site.bus.taken])

    def test_events_of_a_lease_deleted_early_are_not_reported(self) -> None:
        site = self.useFixture(Site())
        site.delete(site.create(600, 3600))
        site.until(4000)
        self.assertEqual(['create', 'delete'], site.bus.received())
        self.assertNotIn(EventKind.START, site.bus.received())
