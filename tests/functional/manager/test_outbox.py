# SPDX-License-Identifier: Apache-2.0

"""Notifications that cannot be sent although the bus is there."""

from __future__ import annotations

import logging
from collections.abc import Callable
from collections.abc import Sequence

import fixtures

from climate.db.messages.outbox import OutboxRow
from climate.domain.leases import Lease
from climate.manager.senders.outbox import OutboxSender
from climate.messaging.publisher import BrokerUnavailable
from climate.messaging.publisher import OutboxMessage
from tests import base
from tests import services
from tests.databases import fetch
from tests.functional.manager import harness
from tests.functional.manager.harness import Site

ATTEMPTS = 4


class Picky:
    """A bus that chokes on some messages.

    :ivar tried: the name of the lease of each that was tried, in this order
    """

    def __init__(self, bus: harness.Bus, chokes: Callable[[OutboxMessage], bool]) -> None:
        self.chokes = chokes
        self.tried: list[str] = []
        self._bus = bus

    def publish(self, messages: Sequence[OutboxMessage]) -> None:
        for message in messages:
            self.tried.append(message.payload['name'])
            if self.chokes(message):
                raise TypeError('cannot be serialized')
            self._bus.publish([message])


@services.on_each_engine(base.TestCase, 'TestPoisonedOn', engines=services.DATABASE_SERVERS)
class _Poisoned:
    """Five leases, one of which has a notification that the bus chokes on."""

    kind = services.SQLITE

    def setUp(self) -> None:
        super().setUp()
        self.site = self.useFixture(Site(database=self.kind, hosts=0))
        self.log = self.useFixture(fixtures.FakeLogger(level=logging.WARNING))
        self.leases = [self.book(str(number)) for number in range(5)]
        self.assertEqual([], self.failing())
        self.bus = Picky(self.site.bus, lambda message: message.payload['name'] == '2')

    def book(self, name: str) -> Lease:
        return self.site.create(600, 3600, hosts=0, name=name)

    def sender(self, batch: int = 100) -> OutboxSender:
        facts = {'batch': batch, 'attempts': ATTEMPTS, 'max_sleep': 1.0, 'claim_seconds': 10.0}
        return OutboxSender(self.site.store, self.site.clock, self.bus, 'me', **facts)

    def failing(self) -> list[OutboxRow]:
        return fetch(self.site.store, lambda tx: tx.outbox.failing())

    def names(self) -> list[str]:
        return [message.payload['name'] for message in self.site.bus.taken]

    def send_all(self, sender: OutboxSender, seconds: int = 10) -> None:
        """Send for so long, looking each second."""
        for _ in range(seconds):
            while sender.send_once():
                continue
            self.site.clock.advance(1)

    def test_those_of_its_lease_wait_until_it_is_set_aside(self) -> None:
        sender = self.sender()
        sender.send_once()
        self.site.update(self.leases[2], name='two')
        self.site.update(self.leases[3], name='three')
        self.assertEqual(1, sender.send_once())
        self.assertEqual('three', self.names()[-1])
        self.send_all(sender)
        self.assertEqual(['0', '1', '3', '4', 'three', 'two'], self.names())
        self.assertEqual(ATTEMPTS, self.bus.tried.count('2'))
        (row,) = self.failing()
        self.assertEqual(ATTEMPTS, row.attempts)
        self.assertIsNotNone(row.set_aside_at)
        self.assertEqual(0, self.site.waiting())
        self.assertEqual(1, self.log.output.count('is set aside'))
        self.assertIn(row.id, self.log.output)

    def test_no_more_is_read_than_is_sent_at_one_go(self) -> None:
        """However many wait of the leases whose turn it is."""
        for number in range(20):
            self.site.update(self.leases[0], name=f'a{number}')
        until = harness.at(30)
        rows = self.site.store.run(lambda tx: tx.outbox.claim('me', until, 3))
        self.assertEqual(['0', '1', '2'], [row.payload['name'] for row in rows])
        self.site.store.run(lambda tx: tx.outbox.delete([row.id for row in rows]))
        self.bus.chokes = lambda _: False
        sender = self.sender(batch=4)
        self.assertEqual([4] * 5 + [2, 0], [sender.send_once() for _ in range(7)])
        found = [name for name in self.names() if name.startswith('a')]
        self.assertEqual([f'a{number}' for number in range(20)], found)


class TestPoisonedOnSqlite(_Poisoned, base.TestCase):
    """SQLite, and what is the same on all."""

    def test_the_others_are_sent_once_and_at_once(self) -> None:
        sender = self.sender()
        self.assertEqual(5, sender.send_once())
        self.assertEqual(['0', '1', '3', '4'], self.names())
        self.assertEqual(0, sender.send_once())
        self.assertEqual(['0', '1', '2', '3', '4'], self.bus.tried)
        (row,) = self.failing()
        self.assertEqual((1, None), (row.attempts, row.set_aside_at))
        self.assertEqual('TypeError: cannot be serialized', row.error)

    def test_what_comes_later_goes_on_without_it(self) -> None:
        sender = self.sender()
        self.send_all(sender)
        self.site.update(self.leases[2], name='two')
        self.assertEqual(1, sender.send_once())
        self.assertEqual('two', self.names()[-1])

    def test_it_is_sent_again_on_request(self) -> None:
        sender = self.sender()
        self.send_all(sender)
        (row,) = self.failing()
        run = self.site.store.run
        self.assertEqual(0, run(lambda tx: tx.outbox.retry(['other'])))
        self.assertEqual(1, run(lambda tx: tx.outbox.retry([row.id])))
        self.assertEqual([], self.failing())
        self.bus.chokes = lambda _: False
        self.assertEqual(1, sender.send_once())
        self.assertEqual(row.id, self.site.bus.taken[-1].id)
        self.assertEqual(0, run(lambda tx: tx.outbox.retry(None)))

    def test_only_what_is_set_aside_can_be_dropped(self) -> None:
        sender = self.sender()
        sender.send_once()
        (row,) = self.failing()
        run = self.site.store.run
        self.assertEqual(0, run(lambda tx: tx.outbox.drop([row.id])))
        self.send_all(sender)
        self.assertEqual(1, run(lambda tx: tx.outbox.drop(None)))
        self.assertEqual([], self.failing())

    def test_an_unavailable_bus_counts_as_no_attempt(self) -> None:
        self.bus.chokes = lambda _: False
        self.site.bus.refuses = lambda _: True
        for _ in range(ATTEMPTS + 1):
            self.assertRaises(BrokerUnavailable, self.sender().send_once)
        self.assertEqual([], self.failing())
        self.site.bus.refuses = lambda _: False
        self.assertEqual(5, self.sender().send_once())

    def test_failures_before_an_outage_of_the_bus_are_kept(self) -> None:
        self.site.bus.refuses = lambda message: message.payload['name'] == '4'
        self.assertRaises(BrokerUnavailable, self.sender().send_once)
        self.assertEqual(['0', '1', '3'], self.names())
        self.assertEqual(1, len(self.failing()))
        self.site.bus.refuses = lambda _: False
        self.assertEqual(1, self.sender().send_once())
        self.assertEqual(['0', '1', '3', '4'], self.names())
