# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""How connections of the pool are set up, and when they are checked."""

from __future__ import annotations

import datetime
from typing import Any

import sqlalchemy as sa

from climate import exceptions
from tests import services
from tests.functional.db import cases
from tests.functional.messaging.proxy import Proxy


class _Compiles:
    """PostgreSQL compiles no plan of ours."""

    def test_jit_is_off(self) -> None:
        for _ in range(2):
            # The second time on the same connection, in another transaction.
            with self.store.reading() as tx:
                self.assertEqual('off', tx.session.scalar(sa.text('SHOW jit')))


class TestPsycopg(_Compiles, cases.StoreCase):
    """By the driver."""

    kind = services.POSTGRESQL


class TestPsycopg2(_Compiles, cases.StoreCase):
    """By the driver of before."""

    kind = services.PSYCOPG2


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

    def test_one_transaction_finds_out_that_the_server_was_away(self) -> None:
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


class TestPingsMariadb(_Pings, cases.StoreCase):
    """On MariaDB."""

    kind = services.MARIADB


class TestPingsPostgresql(_Pings, cases.StoreCase):
    """On PostgreSQL."""

    kind = services.POSTGRESQL
