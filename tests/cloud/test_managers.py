# SPDX-License-Identifier: Apache-2.0
"""Several leases at one instant, a manager that is killed, and callers who race."""

from __future__ import annotations

import collections
import threading
from concurrent import futures
from typing import Any

import sqlalchemy as sa

from tests.cloud.base import CloudTest
from tests.cloud.base import reservation
from tests.cloud.base import smoke
from tests.cloud.people import now
from tests.cloud.people import Person
from tests.cloud.people import time
from tests.cloud.waiting import until
from tools.cloud import processes
from tools.cloud import services

RACERS = 8
# How long what is late on a busy machine may take, in seconds.
PATIENCE = 60.0


class StartsTest(CloudTest):
    """Two managers, and three leases that start at one instant."""

    hosts = 3

    def book_three(self) -> list[dict[str, Any]]:
        first = self.book(self.alice, 8)
        same = {'start_date': first['start_date']}
        return [first, self.book(self.bob, 0, **same), self.book(self.alice, 0, **same)]

    def check_all_active(self, leases: list[dict[str, Any]], seconds: float) -> None:
        """Each has one host of its own, and was notified once."""
        for lease in leases:
            self.await_status(self.admin, lease, 'ACTIVE', seconds)
        members = [self.members(reservation(lease)) for lease in leases]
        self.assertEqual(sorted([host] for host in self.lent), sorted(members))
        self.assertEqual([], self.members(self.cloud.freepool))
        for lease in leases:
            self.bus.wait_for(lease['id'], 'lease.event.start_lease', 15)
            notified = collections.Counter(self.bus.types(lease['id']))
            self.assertEqual(1, notified['lease.event.start_lease'])


class TogetherTest(StartsTest):
    """Nothing is wrong."""

    site = 1  # which has three hosts

    def test_three_starts_at_one_instant(self) -> None:
        leases = self.book_three()
        self.check_all_active(leases, self.left(leases[0], 'start_date'))


class ClaimsTest(StartsTest):
    """What managers have in hand while Nova hangs, which it does for everybody."""

    alone = True

    def setUp(self) -> None:
        super().setUp()
        self.engine = sa.create_engine(self.cloud.database_url, poolclass=sa.NullPool)

    def prepared(self, leases: list[dict[str, Any]]) -> bool:
        """Return whether every lease has its aggregate, and no manager has any in hand."""
        return not self.claims() and all(self.aggregate(reservation(each)) for each in leases)

    def claims(self) -> collections.Counter[int]:
        """Return how many leases each manager has in hand, by its process id."""
        with self.engine.connect() as connection:
            rows = connection.execute(
                sa.text('SELECT claim_owner FROM leases WHERE claim_until > UTC_TIMESTAMP()')
            )
            return collections.Counter(int(owner.split(':')[1]) for (owner,) in rows)

    def busiest(self) -> str | None:
        """Return the manager that has most leases in hand, once all three are in hand."""
        pids = self.claims()
        if pids.total() < len(self.lent):
            return None
        pid = pids.most_common(1)[0][0]
        for name in services.managers():
            found = processes.find(self.cloud, name)
            if found is not None and found.pid == pid:
                return name
        raise AssertionError(f'{pid} is no manager')


class KilledTest(ClaimsTest):
    """A manager dies in the middle of starting leases."""

    @smoke
    def test_a_manager_is_killed_while_leases_start(self) -> None:
        leases = self.book_three()
        until(lambda: self.prepared(leases), PATIENCE, 'the leases are prepared')
        # What is begun hangs in its first request to Nova.
        self.house.freeze('nova-api')
        victim = until(self.busiest, PATIENCE, 'a manager has begun to start leases')
        self.assertGreater(now(), time(leases[0]['start_date']))
        self.house.stop(victim, kill=True)
        self.house.thaw('nova-api')
        # The claims of the dead run out after ten seconds.
        self.check_all_active(leases, PATIENCE)


class HungTest(ClaimsTest):
    """A manager hangs in the middle of a start for longer than its claim, and comes back."""

    hosts = 1

    def test_what_hung_harms_neither_its_lease_nor_the_next(self) -> None:
        first = self.book(self.alice, 8)
        until(lambda: self.prepared([first]), PATIENCE, 'the lease is prepared')
        victim = self.hang()
        first = self.await_status(self.alice, first, 'ACTIVE', PATIENCE)
        self.await_terminated(self.alice, self.end_now(self.alice, first))
        second = self.await_active(self.bob, self.book(self.bob, 2))
        server = self.boot(self.bob, second)
        self.assertEqual('ACTIVE', self.bob.settled(server))

        lost = self.lost_claims(victim)
        self.house.thaw(victim)
        until(lambda: self.lost_claims(victim) > lost, PATIENCE, f'{victim} finds its claim lost')
        self.assertEqual(1, self.alone_at_work(victim)['payload']['seconds_to_start'] // 3000)
        self.check_second(second, server)
        self.check_first(first)
        self.bob.delete_lease(second['id'])
        self.await_gone(self.bob, second)
        self.assert_free(self.lent, second)

    def hang(self) -> str:
        """Stop a manager in the middle of its first request to Nova; return its name."""
        self.house.freeze('nova-api')
        victim = until(self.busiest, PATIENCE, 'a manager has begun to start the lease')
        self.house.freeze(victim)
        self.house.thaw('nova-api')
        return victim

    def lost_claims(self, manager: str) -> int:
        """Return how often a manager has said that a claim was lost."""
        log = self.cloud.logs / f'{manager}.log'
        return log.read_text(encoding='utf-8', errors='replace').count('another manager continues')

    def alone_at_work(self, manager: str) -> dict[str, Any]:
        """Return what the one manager does while all others hang: it announces a lease."""
        others = set(services.managers(self.cloud)) - {manager}
        for name in others:
            self.house.freeze(name)
        later = self.book(self.alice, 3605, notify=[3600])
        notified = self.bus.wait_for(later['id'], 'lease.event.before_start_lease', PATIENCE)
        for name in others:
            self.house.thaw(name)
        return notified

    def check_second(self, lease: dict[str, Any], server: str) -> None:
        """The next tenant has what was leased, and works on it."""
        self.assertEqual('ACTIVE', self.bob.lease(lease['id'])['status'])
        self.assertEqual(list(self.lent), self.members(reservation(lease)))
        self.assertEqual('ACTIVE', self.bob.status(server))
        self.assertEqual(self.lent[0], self.host_of(server))

    def check_first(self, lease: dict[str, Any]) -> None:
        """The lease is over, once, and nothing of it came back."""
        self.assertEqual('TERMINATED', self.alice.lease(lease['id'])['status'])
        self.assertIsNone(self.aggregate(reservation(lease)))
        notified = collections.Counter(self.bus.types(lease['id']))
        for event in ('start_lease', 'end_lease'):
            self.assertEqual(1, notified[f'lease.event.{event}'], event)


class RaceTest(CloudTest):
    """Many ask for the one host and the same time, at once, of several API processes."""

    def test_exactly_one_gets_it(self) -> None:
        body = self.lease_body(3600)
        people = [self.alice, self.person('alice'), self.bob, self.person('bob')]
        for each in people:
            each.leases()  # logged in beforehand, so that all are equally fast
        together = threading.Barrier(RACERS)

        def ask(person: Person) -> Any:
            together.wait(30)
            return person.call('POST', '/leases', body)

        with futures.ThreadPoolExecutor(RACERS) as pool:
            answers = list(pool.map(ask, people * (RACERS // len(people))))

        codes = collections.Counter(answer.status_code for answer in answers)
        self.assertEqual({201: 1, 409: RACERS - 1}, codes)
        booked = [each for each in self.admin.leases() if each['name'] == body['name']]
        self.assertEqual(1, len(booked))
        allocations = self.admin.call('GET', '/os-hosts/allocations').json()['allocations']
        self.assertEqual([1], [len(each['reservations']) for each in allocations])
