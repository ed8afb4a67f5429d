# SPDX-License-Identifier: Apache-2.0
"""What the store does when a transaction fails: try again, or say that the database is away."""

from __future__ import annotations

import socket
import threading

import sqlalchemy as sa

from climate import exceptions
from climate.db.transactions.store import Transaction
from tests import base
from tests import services
from tests.functional.db import cases
from tests.threads import together


@services.on_each_engine(
    cases.StoreCase,
    'TestDeadlocks',
    engines=(services.MARIADB, services.POSTGRESQL, services.PSYCOPG2),
)
class _Deadlocks:
    """Two threads that lock two rows, each in the other's order."""

    def test_who_loses_a_deadlock_tries_again(self) -> None:
        hosts = self.add_hosts(2)
        met = threading.Barrier(2)

        def attempts(order: list[int]) -> int:
            first, second = order
            tries = 0

            def work(tx: Transaction) -> None:
                nonlocal tries
                tries += 1
                tx.resources.touch(first)
                if tries == 1:
                    # Both have one row now, and want that of the other.
                    met.wait(60)
                tx.resources.touch(second)

            self.store.run(work)
            return tries

        # One goes through, the other is the victim once.
        self.assertEqual([1, 2], sorted(together(attempts, (hosts, hosts[::-1]))))
        with self.store.reading() as tx:
            self.assertEqual(dict.fromkeys(hosts, 2), tx.resources.generations(hosts))


class TestWriters(cases.StoreCase):
    """SQLite has one writer at a time; the others wait for their turn."""

    def test_writers_wait_for_each_other(self) -> None:
        (host,) = self.add_hosts(1)

        def write(times: int) -> None:
            for _ in range(times):
                self.store.run(lambda tx: tx.resources.touch(host))

        together(write, [20] * 8)
        with self.store.reading() as tx:
            self.assertEqual({host: 160}, tx.resources.generations([host]))

    def test_connections_are_kept(self) -> None:
        made: list[object] = []
        sa.event.listen(self.store.engine, 'connect', lambda connection, _: made.append(connection))
        self.store.close()
        for _ in range(5):
            self.store.ping()
        self.assertEqual(1, len(made))


class TestInPlaceOfOsloDb(cases.StoreCase):
    """The store replaces a pool and a listener of oslo.db; a release that moves them fails here."""

    def begun(self) -> list[str]:
        """Return the list to which each ``BEGIN`` is added from now on."""
        found: list[str] = []

        def note(statement: str) -> None:
            if statement.startswith('BEGIN'):
                found.append(statement.strip())

        sa.event.listen(
            self.store.engine, 'connect', lambda connection, _: connection.set_trace_callback(note)
        )
        self.store.close()
        return found

    def test_each_transaction_begins_once(self) -> None:
        self.store.run(lambda tx: tx.projects.add('demo'))
        found = self.begun()
        for _ in range(2):
            self.store.ping()
            self.store.run(lambda tx: tx.projects.lock('demo'))
        self.assertEqual(['BEGIN', 'BEGIN IMMEDIATE'] * 2, found)

    def test_one_that_failed_leaves_no_mark_of_it(self) -> None:
        def fail(tx: Transaction) -> None:
            raise LookupError

        found = self.begun()
        self.assertRaises(LookupError, self.store.run, fail)
        self.store.ping()
        self.assertEqual(['BEGIN IMMEDIATE', 'BEGIN'], found)

    def test_no_statement_looks_for_its_listeners(self) -> None:
        self.store.ping()
        self.assertNotIn('_has_events', vars(self.store.engine))

    def test_a_listener_that_is_added_is_called(self) -> None:
        found: list[str] = []
        sa.event.listen(
            self.store.engine, 'before_cursor_execute', lambda *facts: found.append(facts[2])
        )
        self.store.ping()
        self.assertEqual(1, len(found))

    def test_what_oslo_db_does_with_a_new_connection_is_still_done(self) -> None:
        with self.store.reading() as tx:
            self.assertEqual(1, tx.session.scalar(sa.text('PRAGMA foreign_keys')))
            self.assertEqual('wal', tx.session.scalar(sa.text('PRAGMA journal_mode')))
            self.assertIn('pid', tx.session.info)


class TestAway(base.TestCase):
    """A server that does not answer is distinguished from every other failure."""

    def port(self) -> int:
        """Return a port where nobody listens."""
        with socket.socket() as listener:
            listener.bind(('127.0.0.1', 0))
            return int(listener.getsockname()[1])

    def test_a_closed_port_means_that_it_is_unavailable(self) -> None:
        for driver in ('mysql+pymysql', 'postgresql+psycopg', 'postgresql+psycopg2'):
            store = cases.connect(f'{driver}://nobody@127.0.0.1:{self.port()}/climate')
            self.addCleanup(store.close)
            error = self.assertRaises(exceptions.DatabaseUnavailable, store.ping)
            self.assertEqual(503, error.code)
            with self.assertRaises(exceptions.DatabaseUnavailable):
                store.run(lambda tx: tx.claims.next_due())
