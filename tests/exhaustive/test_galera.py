# SPDX-License-Identifier: Apache-2.0
"""Two writers on two nodes of a Galera cluster.

A lock is known to its own node only. What both nodes have written is compared
when it is committed, and the later one is undone: so what excludes another
writer has to write the row that it locks.
"""

from __future__ import annotations

import collections
import datetime
import random
import threading
from collections.abc import Callable
from concurrent import futures
from typing import Any

from climate import exceptions
from climate.booking.leases import Leases
from climate.clock import SystemClock
from climate.db.messages.outbox import OutboxRow
from climate.db.migrations import migration
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.domain.leases import Allocation
from climate.domain.requests import Caller
from climate.domain.requests import LeaseDraft
from climate.domain.resources import Inventory
from climate.leases.settings import LeasingSettings
from tests import base
from tests import galera
from tests.functional.db import cases
from tests.functional.manager import slots

ROUNDS = 20
WRITERS = 4
UNITS = 10
_SECONDS = 60

_LIVE = (
    'SELECT resource_id, resource_class, amount, start_date, end_date FROM allocations'
    ' WHERE live = 1'
)


class TestTwoNodes(base.TestCase):
    """One cluster for all: it takes some seconds to start."""

    def setUp(self) -> None:
        super().setUp()
        cluster = self.useFixture(galera.Cluster())
        self.clock = SystemClock()
        self.stores = [cases.connect(url, self.clock) for url in cluster.urls]
        for store in self.stores:
            self.addCleanup(store.close)
        migration.sync(self.stores[0].engine)

    def test_writers_on_both_nodes(self) -> None:
        # A cluster takes longer to start than all of this.
        self._bookings()
        self._handover()
        self._claims()
        self._outbox()

    def both(self, work: Callable[[int, Store], Any]) -> list[Any]:
        """Do something at both nodes at once."""
        with futures.ThreadPoolExecutor(2) as pool:
            found = [pool.submit(work, *each) for each in enumerate(self.stores)]
            return [each.result(_SECONDS) for each in found]

    def settle(self) -> None:
        """Wait until each node has what the other one has committed."""
        for store in self.stores:
            with store.engine.connect() as connection:
                connection.exec_driver_sql('SET SESSION wsrep_sync_wait = 1')
                connection.exec_driver_sql('SELECT 1 FROM leases LIMIT 1').all()

    # -- bookings

    def _bookings(self) -> None:
        outcomes: collections.Counter[str] = collections.Counter()
        for number in range(ROUNDS):
            host = cases.host(number, inventories=(Inventory(resource_class='VCPU', total=UNITS),))
            self.stores[0].run(lambda tx, host=host: tx.resources.insert(host))
            self.settle()
            barrier = threading.Barrier(WRITERS)
            start = self.clock.now() + datetime.timedelta(days=number + 1)
            with futures.ThreadPoolExecutor(WRITERS) as pool:
                found = [
                    pool.submit(self._book, self.stores[place % 2], barrier, start, number, place)
                    for place in range(WRITERS)
                ]
                outcomes.update(each.result(_SECONDS) for each in found)
            self.settle()
            self._add_up()
            self.assertTrue(self._take_away())
        # Some were accepted and some were not, or nothing was shown.
        self.assertGreater(outcomes['booked'], ROUNDS // 2)
        self.assertGreater(outcomes['NotEnoughResources'], ROUNDS // 2)
        self.assertEqual(
            set(),
            set(outcomes)
            - {'booked', 'NotEnoughResources', 'BookedMeanwhile', 'DatabaseUnavailable'},
        )

    def _book(
        self, store: Store, barrier: threading.Barrier, start: Any, number: int, place: int
    ) -> str:
        rng = random.Random(number * WRITERS + place)
        plugin = slots.Slots()
        settings = LeasingSettings()
        leases = Leases(
            store, {plugin.resource_type: plugin}, self.clock, settings, lambda: None, rng
        )
        # A whole host in one round of four, parts in the others.
        demands = [{'VCPU': rng.randint(3, 6)} for _ in range(rng.choice((1, 1, 2, 3)))]
        if (number + place) % 4 == 0:
            demands = [{}]
        bodies = tuple(
            {
                'resource_type': slots.RESOURCE_TYPE,
                'min': 1,
                'max': 1,
                'demand': demand,
                'spread': 'any',
                'contrary': False,
            }
            for demand in demands
        )
        draft = LeaseDraft(
            name='b', start=start, end=start + datetime.timedelta(hours=1), reservations=bodies
        )
        barrier.wait(_SECONDS)
        try:
            leases.create(Caller(user_id='u', project_id='p'), draft)
        except exceptions.ClimateError as error:
            return type(error).__name__
        return 'booked'

    def _add_up(self) -> None:
        for store in self.stores:
            with store.engine.connect() as connection:
                rows = connection.exec_driver_sql(_LIVE).all()
            for row in rows:
                there = [
                    other
                    for other in rows
                    if other.resource_id == row.resource_id
                    and other.start_date <= row.start_date < other.end_date
                ]
                parts = [other.amount for other in there if other.resource_class is not None]
                wholes = len(there) - len(parts)
                self.assertTrue(wholes == 0 or len(there) == 1, there)
                self.assertLessEqual(sum(parts), UNITS)

    def _take_away(self) -> list[int]:
        """Take all hosts out, so that the next round has one of its own."""

        def work(tx: Transaction) -> list[int]:
            ids = list(tx.resources.names_of_type(cases.TYPE))
            for one in ids:
                tx.resources.set_reservable(one, False)
            return ids

        return self.stores[0].run(work)

    # -- the rest

    def _handover(self) -> None:
        """Only one of two leases takes a resource in hand."""
        for number in range(ROUNDS, 2 * ROUNDS):
            host = self.stores[0].run(lambda tx, n=number: tx.resources.insert(cases.host(n)))
            leases = [cases.lease(1, 2), cases.lease(2, 3)]
            for lease in leases:
                self._write(lease, host)
            self.settle()
            barrier = threading.Barrier(2)
            held = self.both(
                lambda place, store, leases=leases, barrier=barrier: self._mark_held(
                    store, leases[place].reservations[0].id, barrier
                )
            )
            self.assertEqual([False, True], sorted(held))

    def _write(self, lease: Any, host: int) -> None:
        def work(tx: Transaction) -> None:
            tx.leases.insert(lease)
            tx.reservations.insert(lease.reservations)
            tx.book([host]).insert(
                [
                    Allocation(
                        reservation_id=lease.reservations[0].id,
                        resource_id=host,
                        period=lease.period,
                    )
                ]
            )

        self.stores[0].run(work)

    def _mark_held(self, store: Store, mine: str, barrier: threading.Barrier) -> bool:
        first = True

        def work(tx: Transaction) -> bool:
            nonlocal first
            tx.allocations.lock_resources([mine])
            if first:
                first = False
                barrier.wait(_SECONDS)
            if tx.allocations.holders([mine]):
                return False
            tx.allocations.mark_held([mine])
            return True

        return store.run(work)

    def _claims(self) -> None:
        """A lease is claimed by one manager."""
        until = self.clock.now() + datetime.timedelta(hours=1)
        for _ in range(ROUNDS):
            lease = cases.lease(1, 2, next_due=self.clock.now())
            self.stores[0].run(lambda tx, lease=lease: tx.leases.insert(lease))
            self.settle()
            barrier = threading.Barrier(2)
            taken = self.both(
                lambda place, store, barrier=barrier: self._first_together(
                    store, barrier, lambda tx: tx.claims.take(f'manager-{place}', until, 8)
                )
            )
            self.assertEqual([[], [lease.id]], sorted(taken))

    def _outbox(self) -> None:
        """A notification is sent by one manager."""
        until = self.clock.now() + datetime.timedelta(hours=1)
        for number in range(ROUNDS):
            with self.stores[0].engine.begin() as connection:
                # What is there already would come along.
                connection.exec_driver_sql('DELETE FROM outbox')
            row = OutboxRow(
                id=f'{number}',
                subject=f'{number}',
                event_type='t',
                payload={},
                created_at=self.clock.now(),
            )
            self.stores[0].run(lambda tx, row=row: tx.outbox.insert([row]))
            self.settle()
            barrier = threading.Barrier(2)
            taken = self.both(
                lambda place, store, barrier=barrier: self._first_together(
                    store, barrier, lambda tx: tx.outbox.claim(f'manager-{place}', until, 8)
                )
            )
            self.assertEqual([0, 1], sorted(len(each) for each in taken))

    def _first_together(
        self, store: Store, barrier: threading.Barrier, work: Callable[[Transaction], Any]
    ) -> Any:
        """Do *work* in a transaction; the first time commit only when the other can as well."""
        first = True

        def together(tx: Transaction) -> Any:
            nonlocal first
            found = work(tx)
            if first:
                first = False
                barrier.wait(_SECONDS)
            return found

        return store.run(together)
