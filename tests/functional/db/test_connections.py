# SPDX-License-Identifier: Apache-2.0

"""How connections of the pool are set up, and when they are checked."""

from __future__ import annotations

import datetime
from typing import Any

import fixtures
import sqlalchemy as sa
from pymysql.connections import Connection

from climate import exceptions
from tests import services
from tests.databases import fetch
from tests.functional.db import cases
from tests.functional.messaging.proxy import Proxy


@services.on_each_engine(
    cases.StoreCase, 'TestJitOn', engines=(services.POSTGRESQL, services.PSYCOPG2)
)
class _Compiles:
    """PostgreSQL compiles no plan of ours."""

    def test_jit_is_off(self) -> None:
        for _ in range(2):
            # The second time on the same connection, in another transaction.
            with self.store.reading() as tx:
                self.assertEqual('off', tx.session.scalar(sa.text('SHOW jit')))


@services.on_each_engine(cases.StoreCase, 'TestPings', engines=services.DATABASE_SERVERS)
class _Pings:
    """A connection that has just served is used without a question."""

    def setUp(self) -> None:
        super().setUp()
        server = sa.make_url(self.url)
        port = server.port or (3306 if self.kind == services.MARIADB else 5432)
        self.door = self.useFixture(Proxy(server.host or '127.0.0.1', port))
        self.door.open()
        through = server.set(host='127.0.0.1', port=self.door.port)
        self.through = cases.connect(through.render_as_string(hide_password=False), self.clock)
        self.addCleanup(self.through.close)
        self.through.ping()
        self.pings = 0
        dialect = self.through.engine.dialect
        ping = dialect.do_ping

        def counted(connection: Any) -> Any:
            self.pings += 1
            return ping(connection)

        dialect.do_ping = counted

    def idle(self, seconds: float) -> None:
        self.clock.move_to(self.clock.now() + datetime.timedelta(seconds=seconds))

    def test_only_an_idle_connection_is_pinged(self) -> None:
        for _ in range(5):
            self.through.ping()
            self.idle(0.9)
        self.assertEqual(0, self.pings)
        self.idle(0.1)
        self.through.ping()
        self.assertEqual(1, self.pings)

    def test_a_broken_idle_connection_is_replaced(self) -> None:
        self.door.shut()
        self.door.open()
        self.idle(1)
        self.through.ping()
        self.assertEqual(1, self.pings)

    def test_one_transaction_finds_out_that_the_server_was_down(self) -> None:
        with self.through.reading() as first:
            first.session.execute(sa.text('SELECT 1'))
            # Two connections.
            self.through.ping()
        self.door.shut()
        self.door.open()
        self.assertRaises(exceptions.DatabaseUnavailable, self.through.ping)
        for _ in range(2):
            self.through.ping()
        self.assertEqual(0, self.pings)


class _RollsBack:
    """What a transaction leaves is rolled back, once."""

    def setUp(self) -> None:
        super().setUp()
        self.sent: list[str] = []
        (self.host,) = self.add_hosts(1)
        for method in ('commit', 'rollback'):
            self.note(method)
        self.sent.clear()

    def note(self, method: str) -> None:
        """Note what the driver sends."""
        send = getattr(Connection, method)

        def noted(connection: Any) -> Any:
            self.sent.append(method)
            return send(connection)

        self.useFixture(fixtures.MonkeyPatch(f'pymysql.connections.Connection.{method}', noted))

    def raised(self) -> int:
        """Return how often the generation of the host was raised."""
        return fetch(self.store, lambda tx: tx.resources.generations([self.host])[self.host])

    def test_after_a_commit_nothing_is_rolled_back(self) -> None:
        self.store.run(lambda tx: tx.resources.touch(self.host))
        self.assertEqual(['commit'], self.sent)

    def test_a_transaction_that_reads(self) -> None:
        self.raised()
        self.assertEqual(['rollback'], self.sent)

    def test_a_transaction_that_fails(self) -> None:
        before = self.raised()

        def fail(tx: Any) -> None:
            tx.resources.touch(self.host)
            raise RuntimeError('it does not commit')

        self.sent.clear()
        self.assertRaises(RuntimeError, self.store.run, fail)
        self.assertEqual(['rollback'], self.sent)
        self.assertEqual(before, self.raised())

    def test_a_transaction_that_goes_on_after_a_rollback(self) -> None:
        before = self.raised()

        def again(tx: Any) -> None:
            tx.resources.touch(self.host)
            tx.undo()
            tx.resources.touch(self.host)

        self.sent.clear()
        self.store.run(again, undone=True)
        self.assertEqual(['rollback', 'rollback'], self.sent)
        self.assertEqual(before, self.raised())

    def test_a_transaction_that_begins_with_an_error(self) -> None:
        """It may hold locks already, although nothing was written."""
        again = sa.text('INSERT INTO resources (id) VALUES (:id)')
        with self.store.engine.connect() as session:
            self.assertRaises(sa.exc.DBAPIError, session.execute, again, {'id': self.host})
        self.assertEqual(['rollback'], self.sent)


class TestRollsBackMariadb(_RollsBack, cases.StoreCase):
    """On MariaDB."""

    kind = services.MARIADB
