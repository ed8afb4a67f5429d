# SPDX-License-Identifier: Apache-2.0

"""What a process books is added to its timelines, and only if nothing else can have changed.

It takes about five seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from climate.db.booking.writer import BookingWriter
from climate.db.timelines.timelines import Blocks
from climate.db.timelines.timelines import Timelines
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.domain.leases import Allocation
from tests import services
from tests.databases import fetch
from tests.functional.db import cases
from tests.functional.db import plans
from tests.functional.db.histories import INVENTORIES
from tests.functional.db.histories import PAUSE
from tests.functional.db.plain_blocks import plain

PART = {'VCPU': 2, 'MEMORY_MB': 4}


@services.on_each_engine(cases.StoreCase)
class BookingsCase:
    """A store with hosts in its timelines."""

    def setUp(self) -> None:
        super().setUp()
        self.timelines = Timelines(PAUSE)
        self.store.timelines = self.timelines
        self.hosts = self.add_hosts(3, inventories=INVENTORIES)
        self.blocks(self.timelines)

    def blocks(self, timelines: Timelines) -> list[dict[str, Any]]:
        """Return all hosts as a new transaction sees them."""
        with self.store.reading() as tx:
            tx.timelines = timelines
            return [plain(block, 0) for block in tx.timeline(cases.TYPE, tx.now)]

    def book(
        self,
        store: Store | None = None,
        *,
        hours: tuple[int, int] = (1, 2),
        searches: bool = True,
        between: Callable[[], object] = lambda: None,
        also: Callable[[Transaction, BookingWriter], object] = lambda _tx, _writer: None,
    ) -> list[str]:
        """Book the first host as a whole, and a part of the second; return the reservation.

        :param searches: whether the transaction reads the timeline
        :param between: called between the search and the lock
        :param also: what the transaction does besides
        """
        lease = cases.lease()
        reservation_id, period = lease.reservations[0].id, cases.hours(*hours)

        def write(tx: Transaction) -> None:
            if searches:
                tx.timeline(cases.TYPE, tx.now)
            between()
            writer = tx.book(self.hosts[:2], pause=PAUSE)
            tx.leases.insert(lease)
            tx.reservations.insert(lease.reservations)
            whole = Allocation(
                reservation_id=reservation_id, resource_id=self.hosts[0], period=period
            )
            parts = [
                cases.allocation(reservation_id, self.hosts[1], period, name, amount=amount)
                for name, amount in PART.items()
            ]
            writer.insert([whole, *parts])
            also(tx, writer)

        (store or self.store).run(write)
        return [reservation_id]

    def describe(self, tx: Transaction) -> None:
        """Change a property of the second host."""
        tx.properties.set_capability(self.hosts[1], 'zone', 'z')
        tx.resources.touch(self.hosts[1])

    def current(self) -> int:
        """Check that the timeline is right; return how many statements that took."""
        with plans.captured(self.store.engine) as statements:
            found = self.blocks(self.timelines)
        self.assertEqual(self.blocks(Timelines(PAUSE)), found)
        return len(statements)

    def test_it_is_not_read_again(self) -> None:
        self.book()
        self.assertEqual(1, self.current())
        self.book(hours=(4, 5))
        self.assertEqual(1, self.current())
        self.assertEqual(2, self.timelines.counts.found['won'])

    def test_beyond_the_horizon(self) -> None:
        self.store.timelines = self.timelines = Timelines(PAUSE, horizon=cases.HOUR)
        self.blocks(self.timelines)
        self.book(hours=(30, 31))
        # The ids of the resources may belong to two blocks.
        kept = self.timelines._kept[cases.TYPE].values()
        self.assertTrue(any(each.omits for each in kept))
        self.assertTrue(all(each.block.occupied.is_zero for each in kept))
        far = fetch(self.store, lambda tx: tx.timeline(cases.TYPE, cases.at(31)))
        self.assertFalse(all(each.occupied.is_zero for each in far))

    def test_a_transaction_that_fails(self) -> None:
        def fail(_tx: Transaction, _writer: BookingWriter) -> None:
            raise RuntimeError('it does not commit')

        self.assertRaises(RuntimeError, self.book, also=fail)
        self.assertEqual(1, self.current())

    def test_more_is_changed(self) -> None:
        """By the same transaction: all of it is read again."""
        reservation = self.book()
        with self.store.reading() as tx:
            old = [item.id for item in tx.allocations.live_of(reservation)]
        also: list[Callable[[Transaction, BookingWriter], object]] = [
            lambda tx, _: self.describe(tx),
            lambda tx, _: tx.resources.touch(self.hosts[0]),
            lambda _, writer: writer.move([old[0]], start=None, end=cases.at(2.5)),
            lambda _, writer: writer.remove(old[:1]),
            lambda tx, _: tx.allocations.release(reservation),
        ]
        for number, each in enumerate(also):
            self.current()
            self.book(hours=(10 + number * 2, 11 + number * 2), also=each)
            self.assertGreater(self.current(), 1)

    def test_another_process_books_before_the_lock(self) -> None:
        if self.kind == services.SQLITE:
            self.skipTest('SQLite has one writer at a time')
        other = cases.connect(self.url, self.clock)
        self.addCleanup(other.close)
        booked: list[str] = []

        def book_once() -> None:
            # The transaction around it may be repeated.
            if not booked:
                booked.extend(self.book(other, hours=(5, 6)))

        self.book(between=book_once)
        self.assertGreater(self.current(), 1)

    def test_another_thread_reads_it_first(self) -> None:
        """Right after the commit: it must not be there twice."""
        add = self.timelines.add

        def late(news: Any, before: Blocks) -> None:
            self.blocks(self.timelines)
            add(news, before)

        self.timelines.add = late
        self.book()
        self.assertEqual(1, self.current())

    def test_while_another_thread_reads(self) -> None:
        lock = self.timelines._locks[cases.TYPE]
        self.book(also=lambda _tx, _writer: lock.acquire())
        lock.release()
        self.assertGreater(self.current(), 1)

    def test_without_a_search(self) -> None:
        """Costs nothing more; the next search reads what was booked."""
        self.book(searches=False)
        self.assertGreater(self.current(), 1)
