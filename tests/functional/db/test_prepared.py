# SPDX-License-Identifier: Apache-2.0

"""PostgreSQL keeps the plans of the statements that book, and of no others."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import sqlalchemy as sa

from climate import exceptions
from climate.allocation.matches import Match
from climate.clock import ManualClock
from climate.db.engine import prepared
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.domain.periods import Period
from tests import services
from tests.databases import fetch
from tests.functional.db import cases


class TestPsycopg(cases.StoreCase):
    """By the driver that can prepare statements."""

    kind = services.POSTGRESQL

    def kept(self, store: Store) -> list[str]:
        """Return the statements that a connection keeps after it has booked and searched."""
        (host,) = self.add_hosts(1)
        period = Period(start=cases.NOW, end=cases.NOW + cases.HOUR)
        match = Match(resource_type=cases.TYPE)
        for _ in range(7):
            store.run(lambda tx: tx.book([host], known={host: 0}) and None)
            with store.reading() as tx:
                tx.search.among([host], match, period)
                tx.search.named(['compute-1'], match, period)
        with store.reading() as tx:
            return list(tx.session.scalars(sa.text('SELECT statement FROM pg_prepared_statements')))

    def test_those_that_book_are_kept(self) -> None:
        kept = self.kept(self.store)
        starts = sorted(text.split()[:2] for text in kept)
        self.assertEqual([['SELECT', 'resources.id,'], ['UPDATE', 'resources']], starts, kept)

    def test_none_for_a_pooler_that_cannot(self) -> None:
        conf = cases.configuration(self.url)
        conf.set_override('prepared_statements', False, group='database')
        self.assertEqual([], self.kept(self.closing(Store(conf, ManualClock(cases.NOW)))))

    def test_a_column_of_another_type_fails_once(self) -> None:
        other = self.closing(cases.connect(self.url))

        def define(text: str) -> None:
            with other.engine.begin() as connection:
                connection.execute(sa.text(text))

        define('CREATE TABLE kept (name text)')
        self.addCleanup(define, 'DROP TABLE kept')
        query = prepared.prepared(sa.text('SELECT name FROM kept'))

        def look() -> None:
            with self.store.reading() as tx:
                tx.session.execute(query)

        look()
        define('ALTER TABLE kept ALTER COLUMN name TYPE varchar(9)')
        self.assertRaises(exceptions.DatabaseUnavailable, look)
        look()


class TestBookingAfterReading(cases.StoreCase):
    """A booking is a transaction, however a block that reads on its connection has ended."""

    kind = services.POSTGRESQL

    def setUp(self) -> None:
        super().setUp()
        (self.host,) = self.add_hosts(1)
        self.before = self.generations()

    def generations(self) -> dict[int, int]:
        return fetch(self.store, lambda tx: dict(tx.resources.generations([self.host])))

    def read(self, work: Callable[[Transaction], None], error: type[BaseException]) -> None:
        def reading() -> None:
            with self.store.reading() as tx:
                work(tx)

        self.assertRaises(error, reading)

    def check(self) -> None:
        """Check that a transaction that fails has written nothing."""

        def fail(tx: Transaction) -> None:
            tx.resources.touch(self.host)
            raise ZeroDivisionError

        self.assertRaises(ZeroDivisionError, self.store.run, fail)
        self.assertEqual(self.before, self.generations())

    def test_an_error_of_the_reader(self) -> None:
        def work(tx: Transaction) -> None:
            tx.session.execute(sa.text('SELECT 1'))
            raise KeyboardInterrupt

        self.read(work, KeyboardInterrupt)
        self.check()

    def test_a_transaction_of_its_own_that_it_leaves_open(self) -> None:
        def work(tx: Transaction) -> None:
            tx.session.execute(sa.text('BEGIN'))
            raise ZeroDivisionError

        self.read(work, ZeroDivisionError)
        self.check()

    def test_an_end_of_the_session(self) -> None:
        def work(tx: Transaction) -> None:
            tx.session.execute(sa.text('SELECT pg_terminate_backend(pg_backend_pid())'))

        self.read(work, exceptions.DatabaseUnavailable)
        self.check()

    def test_an_interruption_between_two_steps(self) -> None:
        with self.store.engine.connect() as session:
            unfinished = prepared.kept(session)
            unfinished.__enter__()
        self.check()
        with contextlib.suppress(Exception):
            unfinished.__exit__(None, None, None)
