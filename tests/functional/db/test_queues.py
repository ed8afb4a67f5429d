# SPDX-License-Identifier: Apache-2.0
"""Claims and the outbox: each lease has one worker, each message one sender, in order."""

from __future__ import annotations

import datetime

import sqlalchemy as sa

from climate.allocation.matches import Match
from climate.db.messages.outbox import OutboxRow
from climate.db.schema import tables
from climate.db.transactions.store import Transaction
from climate.domain.leases import AllocationState
from climate.domain.periods import Period
from tests import services
from tests.databases import fetch
from tests.functional.db import cases
from tests.threads import together

UNTIL = cases.at(0) + datetime.timedelta(seconds=10)


class Queues:
    """Two managers on one store."""

    def take(self, owner: str, limit: int = 10) -> list[str]:
        """Claim leases."""
        until = self.clock.now() + datetime.timedelta(seconds=10)
        return self.store.run(lambda tx: tx.claims.take(owner, until, limit))

    def next_due(self) -> datetime.datetime | None:
        """Return when something is due."""
        return fetch(self.store, lambda tx: tx.claims.next_due())

    def test_what_is_due_longest_is_claimed_first_and_once(self) -> None:
        self.assertIsNone(self.next_due())
        second = self.add(cases.lease(-1, 5))
        first = self.add(cases.lease(-2, 5))
        later = self.add(cases.lease(1, 5))
        self.assertEqual(first.next_due, self.next_due())
        self.assertEqual(([first.id], [second.id]), (self.take('me', 1), self.take('you')))
        self.assertEqual([], self.take('you'))
        # Nothing is free, but claims can run out before the next is due.
        self.assertEqual(UNTIL, self.next_due())
        self.assertNotIn(later.id, self.take('me'))

    def test_a_claim_runs_out_is_renewed_and_released(self) -> None:
        lease = self.add(cases.lease(-1, 5))
        self.assertEqual([lease.id], self.take('me'))
        later = cases.NOW + datetime.timedelta(seconds=15)
        self.store.run(lambda tx: tx.claims.renew('you', [lease.id], later))
        self.store.run(lambda tx: tx.claims.release('you', lease.id))
        self.clock.move_to(UNTIL)
        self.assertEqual([], self.take('you'))
        self.store.run(lambda tx: tx.claims.renew('me', [lease.id], later))
        self.clock.advance(1)
        self.assertEqual([], self.take('you'))
        self.clock.move_to(later + datetime.timedelta(seconds=1))
        self.assertEqual([lease.id], self.take('you'))
        self.assertFalse(self.store.run(lambda tx: tx.claims.confirm('me', lease.id)))
        self.assertTrue(self.store.run(lambda tx: tx.claims.confirm('you', lease.id)))
        self.assertIsNone(self.store.run(lambda tx: tx.leases.claimed(lease.id, 'me')))
        self.store.run(lambda tx: tx.claims.release('you', lease.id))
        self.assertEqual([lease.id], self.take('me'))
        found = self.store.run(lambda tx: tx.leases.claimed(lease.id, 'me'))
        self.store.run(lambda tx: tx.leases.update(found, unclaim=True))
        self.assertEqual([lease.id], self.take('you'))

    def test_a_claimed_lease_that_is_postponed_is_not_forgotten(self) -> None:
        lease = self.add(cases.lease(-1, 5))
        self.assertEqual([lease.id], self.take('dead'))
        for seconds in (5, 20):
            due = cases.NOW + datetime.timedelta(seconds=seconds)
            statement = sa.update(tables.LEASES).values(next_due=due)
            self.store.run(lambda tx, statement=statement: tx.session.execute(statement))
            self.assertEqual(due, self.next_due())
        self.clock.move_to(due)
        self.assertEqual([lease.id], self.take('me'))

    def test_two_who_claim_at_once_never_get_the_same(self) -> None:
        leases = {self.add(cases.lease(-1, 5)).id for _ in range(40)}
        found: list[str] = []

        def run(number: int) -> None:
            while ids := self.take(f'manager-{number}', 3):
                found.extend(ids)

        together(run, range(4))
        self.assertEqual(len(found), len(set(found)))
        # Who came while the last were locked found nothing and went home.
        self.assertEqual(leases, {*found, *self.take('late', 40)})

    def put(self, *messages: tuple[str, str]) -> None:
        """Write ``(id, lease id)`` into the outbox."""
        for message_id, lease_id in messages:
            row = OutboxRow(
                id=message_id, subject=lease_id, event_type='t', payload={}, created_at=cases.NOW
            )
            self.store.run(lambda tx, row=row: tx.outbox.insert([row]))

    def fetch(self, owner: str, most: int = 10) -> list[str]:
        """Claim messages."""
        until = self.clock.now() + datetime.timedelta(seconds=10)
        return [row.id for row in self.store.run(lambda tx: tx.outbox.claim(owner, until, most))]

    def test_no_notification_overtakes_in_the_outbox(self) -> None:
        self.put(('a1', 'a'), ('b1', 'b'), ('a2', 'a'))
        self.assertEqual(['a1'], self.fetch('me', 1))
        self.put(('a3', 'a'), ('b2', 'b'))
        # a2 and a3 are free, but the one before them is still on its way.
        self.assertEqual((['b1', 'b2'], []), (self.fetch('you'), self.fetch('she')))
        # What one has already and did not settle comes again.
        self.assertEqual(['b1', 'b2'], self.fetch('you'))
        self.store.run(lambda tx: tx.outbox.delete(['a1']))
        self.assertEqual((['a2'], []), (self.fetch('she', 1), self.fetch('me')))
        self.store.run(lambda tx: tx.outbox.give_back('she'))
        self.assertEqual(['a2', 'a3'], self.fetch('me'))
        self.assertEqual(4, fetch(self.store, lambda tx: tx.outbox.waiting()))

    def test_senders_at_once_keep_the_order_of_each_lease(self) -> None:
        wanted = {lease: [f'{lease}{number}' for number in range(6)] for lease in 'abcd'}
        self.put(*((wanted[lease][number], lease) for number in range(6) for lease in 'abcd'))
        sent: list[str] = []

        def run(owner: str) -> None:
            # Some batches end in the middle of what a lease has.
            while ids := self.fetch(owner, 3):
                for message_id in ids:
                    sent.append(message_id)
                    self.store.run(lambda tx, one=message_id: tx.outbox.delete([one]))

        together(run, ('manager-0', 'manager-1', 'manager-2'))
        # Who came while all heads were taken found nothing and went home.
        run_out = self.fetch('late', 99)
        found = {lease: [one for one in sent + run_out if one[0] == lease] for lease in 'abcd'}
        self.assertEqual(wanted, found)

    def test_what_a_dead_sender_had_is_sent_by_another(self) -> None:
        self.put(('a1', 'a'), ('a2', 'a'))
        self.assertEqual(['a1', 'a2'], self.fetch('me'))
        self.clock.advance(11)
        self.assertEqual(['a1', 'a2'], self.fetch('you'))

    def test_the_life_of_an_allocation(self) -> None:
        hosts = self.add_hosts(3)
        now, later = self.book(hosts[:2], -1, 2), self.book(hosts[:1], 3, 4)
        mine, theirs = now.reservations[0].id, later.reservations[0].id
        self.assertEqual([], fetch(self.store, lambda tx: tx.allocations.holders([theirs])))
        self.store.run(lambda tx: tx.allocations.mark_held([mine]))
        with self.store.reading() as tx:
            self.assertEqual([mine], tx.allocations.holders([theirs]))
            self.assertEqual([], tx.allocations.holders([mine]))
            states = {item.state for item in tx.allocations.live_of([mine])}
            self.assertEqual({AllocationState.HELD}, states)
            calendar = [
                (one.resource_id, one.reservation_id, one.lease_id, one.project_id, one.period)
                for one in tx.allocations.calendar(cases.TYPE)
            ]
        period, next_ = cases.hours(-1, 2), cases.hours(3, 4)
        first, last = ((host, mine, now.id, 'p', period) for host in hosts[:2])
        self.assertEqual([first, (hosts[0], theirs, later.id, 'p', next_), last], calendar)
        with self.store.reading() as tx:
            second = [i.id for i in tx.allocations.live_of([mine]) if i.resource_id == hosts[1]]
        self.store.run(lambda tx: tx.allocations.give_back(dict.fromkeys(second, 1)))
        self.store.run(lambda tx: tx.allocations.release([theirs]))
        with self.store.reading() as tx:
            self.assertEqual([True, False, False], [tx.allocations.in_use(host) for host in hosts])
            free = tx.search.among(
                hosts, Match(resource_type=cases.TYPE), Period(start=cases.NOW, end=cases.at(1))
            )
            self.assertEqual(hosts[1:], [item.resource_id for item in free])

    def test_properties_and_their_names(self) -> None:
        one, two = self.add_hosts(2, capabilities={'rack': 'r1', 'gpu': 'A'})

        def change(tx: Transaction) -> None:
            tx.book([two])
            tx.properties.set_capability(two, 'rack', 'r2')
            tx.properties.set_capability(two, 'gpu', None)

        self.store.run(change)
        with self.store.reading() as tx:
            keys = {key.name: (key.values, key.private) for key in tx.properties.keys(cases.TYPE)}
            hosts = {item.id: item.capabilities for item in tx.resources.of_type(cases.TYPE)}
        self.assertEqual({'rack': (('r1', 'r2'), False), 'gpu': (('A',), False)}, keys)
        self.assertEqual({one: {'rack': 'r1', 'gpu': 'A'}, two: {'rack': 'r2'}}, hosts)
        self.store.run(lambda tx: tx.properties.set_private(cases.TYPE, 'gpu', True))
        with self.store.reading() as tx:
            self.assertEqual({'gpu'}, tx.properties.private_names(cases.TYPE))


@services.on_each_engine(cases.StoreCase, engines=services.DATABASE_SERVERS)
class Servers(Queues):
    """With an engine that locks rows."""

    def test_a_claim_locks_no_lease_in_progress(self) -> None:
        # Several of each kind: of a table with few rows, engines read all.
        mine = [self.add(cases.lease(-2, 5)).id for _ in range(20)]
        self.assertEqual(set(mine), set(self.take('me', 20)))
        free = [self.add(cases.lease(-1, 5)).id for _ in range(20)]

        def claim(tx: Transaction) -> tuple[list[str], list[str]]:
            taken = tx.claims.take('you', UNTIL, 5)
            later = UNTIL + datetime.timedelta(seconds=1)
            return taken, self.store.run(lambda other: other.claims.renew('me', mine, later))

        taken, renewed = self.store.run(claim)
        self.assertEqual((5, set(mine)), (len(taken), set(renewed)))
        self.assertLessEqual(set(taken), set(free))


class TestSqlite(Queues, cases.StoreCase):
    """On SQLite."""
