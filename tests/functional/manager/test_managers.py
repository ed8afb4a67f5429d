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
from tests.functional.manager.harness import Office
from tests.functional.manager.harness import OfficeCase
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
            office = self.useFixture(Office(database=self.kind))
            lease = office.create(600, 2000, hosts=2, until=1)
            while (due := self.next_due(office)) is not None:
                office.clock.move_to(due)
                office.hire().die_after(step)
                self.another_takes_over(office, step)
            self.assertEqual('TERMINATED', office.status(lease), step)
            self.assertEqual(ALL, office.pooled())
            self.assertEqual(harness.ONCE, dict(collections.Counter(office.bus.received())), step)

    def another_takes_over(self, office: Office, step: str) -> None:
        """The claim of the dead one runs out, and no sooner."""
        if step != 'settle':
            self.assertEqual([], office.manager.look())
        office.clock.advance(harness.CLAIM_SECONDS + 0.001)
        office.work()
        due = self.next_due(office)
        self.assertTrue(due is None or due > office.clock.now())

    def next_due(self, office: Office) -> datetime.datetime | None:
        return fetch(office.store, lambda tx: tx.claims.next_due())

    def test_while_it_deletes_or_changes(self) -> None:
        for step in STEPS:
            office = self.useFixture(Office(database=self.kind))
            lease = office.create(0, 2000, until=10)
            office.update(lease, hosts=3)
            office.hire().die_after(step)
            self.another_takes_over(office, step)
            self.assertEqual(('ACTIVE', 3), (office.status(lease), len(office.hosts(lease))))
            office.delete(lease)
            office.hire().die_after(step)
            self.another_takes_over(office, step)
            self.assertEqual(('gone', ALL), (office.status(lease), office.pooled()))
            self.assertEqual(1, office.bus.received().count('delete'))

    def test_deleted_between_two_steps(self) -> None:
        for step in STEPS:
            office = self.useFixture(Office(database=self.kind))
            lease = office.create(600, 2000, until=599)
            office.away_until(600)
            office.hire().die_after(step)
            office.delete(lease)
            office.clock.advance(harness.CLAIM_SECONDS + 0.001)
            office.work()
            self.assertEqual(('gone', ALL), (office.status(lease), office.pooled()), step)


@services.on_each_engine(base.TestCase, 'TestHandoverOn')
class _Handover:
    """Two leases that want one host in the same instant."""

    def test_a_start_that_is_late_and_the_next_one(self) -> None:
        office = self.useFixture(Office(database=self.kind))
        first, second = office.create(0, 1000, hosts=4), office.create(1000, 2000, hosts=4)
        office.away_until(999.9)
        slow, quick = office.hire(), office.hire()
        self.assertEqual([first.id], slow.claims.take(1))
        self.assertEqual([second.id], quick.claims.take(1))
        begun, commit = threading.Event(), threading.Event()

        def begin(tx: Transaction) -> None:
            beginner = EventStarter(office.plugins, office.settings, slow.owner)
            self.assertIsNotNone(beginner.begin(tx, first.id))
            begun.set()
            commit.wait(20)

        threads = [
            threading.Thread(target=office.store.run, args=(begin,)),
            threading.Thread(target=quick.worker.work, args=(second.id,)),
        ]
        threads[0].start()
        self.assertTrue(begun.wait(20))
        office.away_until(1000)
        threads[1].start()
        # It must not look before it is sure who has the hosts.
        threads[1].join(0.3)
        self.assertTrue(threads[1].is_alive())
        commit.set()
        for thread in threads:
            thread.join(20)
        self.assertEqual(('STARTING', 'PENDING'), (office.status(first), office.status(second)))
        self.assertIn('waiting', office.event(second, EventKind.START).error or '')
        office.clock.advance(harness.CLAIM_SECONDS + 1)
        office.until(1100)
        self.assertEqual(('TERMINATED', 'ACTIVE'), (office.status(first), office.status(second)))


class TestClaims(OfficeCase):
    """Who works on what."""

    def test_a_manager_that_was_overtaken_writes_nothing(self) -> None:
        lease = self.office.create(100, 2000, until=99)
        self.office.away_until(100)
        slow, quick = self.office.hire(), self.office.hire()
        self.assertEqual([lease.id], slow.claims.take(1))
        self.office.clock.advance(harness.CLAIM_SECONDS + 1)
        self.assertEqual([lease.id], quick.claims.take(1))
        slow.worker.work(lease.id)
        self.assertEqual('PENDING', self.office.status(lease))
        quick.worker.work(lease.id)
        self.assertEqual('ACTIVE', self.office.status(lease))

    def test_its_own_claim_that_ran_out_is_not_worked_on_twice(self) -> None:
        lease = self.office.create(0, 2000)
        claims = self.office.manager.claims
        self.assertEqual([lease.id], claims.take(1))
        self.office.clock.advance(harness.CLAIM_SECONDS + 1)
        self.assertEqual(([], {lease.id}), (claims.take(1), claims.claimed()))
        # The one that is at it does it again, under the new claim.
        self.assertFalse(claims.forget(lease.id))
        self.office.manager.worker.work(lease.id)
        self.assertEqual('ACTIVE', self.office.status(lease))
        self.assertTrue(claims.forget(lease.id))
        self.assertEqual(set(), claims.claimed())

    def test_those_due_longest_come_first_and_no_more_than_wanted(self) -> None:
        leases = [self.office.create(start, 9000, name=str(start)) for start in (130, 110, 120)]
        self.office.away_until(80)
        self.assertEqual([leases[1].id, leases[2].id], self.office.hire().claims.take(2))
        self.assertEqual([leases[0].id], self.office.hire().claims.take(2))
        self.assertEqual([], self.office.hire().claims.take(2))

    def test_leases_handed_over_in_a_ring_come_to_rest(self) -> None:
        leases = [self.office.create(start, start + 100, hosts=4) for start in range(0, 500, 100)]
        self.office.away_until(450)
        self.office.until(600)
        self.assertEqual(['TERMINATED'] * 5, [self.office.status(lease) for lease in leases])
        self.assertEqual(ALL, self.office.pooled())
        self.assertEqual(1, self.office.bus.received().count('start_lease'))


@services.on_each_engine(base.TestCase, 'TestOutboxOn')
class _Outbox:
    """Notifications on their way."""

    def test_a_broker_that_refuses_some(self) -> None:
        office = self.useFixture(Office(database=self.kind))
        leases = [office.create(600, 3600, name=str(number)) for number in range(3)]
        refused = leases[1].id
        office.bus.refuses = lambda message: message.payload['lease_id'] == refused
        for _ in range(3):
            self.assertRaises(BrokerUnavailable, office.manager.send)
        self.assertEqual((['create'], 2), (office.bus.received(), office.waiting()))
        # Leases live on meanwhile.
        while office.manager.look():
            continue
        office.away_until(700)
        while office.manager.look():
            continue
        self.assertEqual('ACTIVE', office.status(leases[2]))
        office.bus.refuses = lambda _: False
        office.hire().send()
        self.assertEqual(0, office.waiting())
        for lease in leases:
            self.assertEqual(
                ['create', 'before_start_lease', 'before_start_lease', 'start_lease'],
                office.bus.received(lease),
            )
        self.assertEqual([], harness.twice(office.bus.taken))

    def test_a_sender_that_died_is_replaced(self) -> None:
        office = self.useFixture(Office(database=self.kind))
        lease = office.create(600, 3600)
        self.assertEqual(1, fetch(office.store, lambda tx: tx.outbox.waiting()))
        until = harness.at(30)
        office.store.run(lambda tx: tx.outbox.claim('dead', until, 100))
        office.update(lease, name='other')
        office.manager.send()
        # What came after must not overtake what the dead one holds.
        self.assertEqual([], office.bus.received())
        office.clock.advance(30.001)
        office.manager.send()
        self.assertEqual(['create', 'update'], office.bus.received())

    def test_what_a_sender_could_not_settle_it_sends_again_at_once(self) -> None:
        office = self.useFixture(Office(database=self.kind))
        office.create(600, 3600)
        until = harness.at(30)
        office.store.run(lambda tx: tx.outbox.claim(office.manager.owner, until, 100))
        office.hire().send()
        self.assertEqual([], office.bus.received())
        office.manager.send()
        self.assertEqual(['create'], office.bus.received())

    def test_two_senders_at_once(self) -> None:
        office = self.useFixture(Office(database=self.kind))
        leases = [office.create(600, 3600, hosts=0, name='0') for _ in range(10)]
        for number in range(1, 5):
            for lease in leases:
                office.update(lease, name=str(number))
        self.send_side_by_side(office, 2)
        self.assertEqual(([], 50), (harness.twice(office.bus.taken), len(office.bus.taken)))
        for lease in leases:
            taken = [item for item in office.bus.taken if item.payload['lease_id'] == lease.id]
            self.assertEqual(['0', '1', '2', '3', '4'], [item.payload['name'] for item in taken])

    def send_side_by_side(self, office: Office, senders: int) -> None:
        def send(sender: OutboxSender) -> None:
            for _ in range(500):
                if not sender.send_once() and not office.waiting():
                    return

        together(send, [office.hire(batch=2).sender for _ in range(senders)])
        self.assertEqual(0, office.waiting())


class TestNothingIsLost(base.TestCase):
    """Each notification has an id of its own, that stays."""

    def test_sent_again_it_has_the_same_id(self) -> None:
        office = self.useFixture(Office())
        office.create(600, 3600)
        until = harness.at(1)
        first = office.store.run(lambda tx: tx.outbox.claim('dead', until, 100))
        office.clock.advance(2)
        office.manager.send()
        self.assertEqual([first[0].id], [item.id for item in office.bus.taken])

    def test_events_of_a_lease_deleted_early_are_not_told(self) -> None:
        office = self.useFixture(Office())
        office.delete(office.create(600, 3600))
        office.until(4000)
        self.assertEqual(['create', 'delete'], office.bus.received())
        self.assertNotIn(EventKind.START, office.bus.received())
