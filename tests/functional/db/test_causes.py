# SPDX-License-Identifier: Apache-2.0

"""Why a database fails, on real servers: what the service says, and whether it recovers."""

from __future__ import annotations

import datetime
from typing import Any

import sqlalchemy as sa

from climate import exceptions
from climate.db.engine import error_log
from climate.db.transactions.store import Transaction
from climate.exceptions.outages import Cause
from tests import services
from tests.databases import fetch
from tests.functional.db import cases

_PASSWORD = 'hunter2'
_READ_ONLY = sa.text('SHOW transaction_read_only')


class _Causes:
    """Causes that any server has."""

    def failing(self, **parts: Any) -> exceptions.DatabaseUnavailable:
        """Return why a URL with other *parts* does not work."""
        url = sa.make_url(self.url).set(**parts)
        store = self.closing(cases.connect(url.render_as_string(hide_password=False), self.clock))
        with error_log.printed():
            return self.assertRaises(exceptions.DatabaseUnavailable, store.ping)

    def test_another_user(self) -> None:
        found = self.failing(username='climate_nobody', password=_PASSWORD)
        self.assertIs(Cause.REFUSED, found.cause)
        self.assertIn('climate_nobody', found.explanation)
        self.assertNotIn(_PASSWORD, found.explanation)
        self.assertNotIn('climate_nobody', found.message)

    def test_no_such_database(self) -> None:
        found = self.failing(database='climate_none')
        self.assertIs(Cause.REFUSED, found.cause)
        self.assertIn('climate_none', found.explanation)

    def test_an_unknown_host(self) -> None:
        found = self.failing(host='nohost.invalid')
        self.assertIn(found.cause, {Cause.REFUSED, Cause.GONE})
        self.assertIn('nohost.invalid', found.explanation)

    def test_a_parameter_of_the_url_that_the_driver_does_not_know(self) -> None:
        found = self.failing(query={'sslmodee': 'x'})
        self.assertIs(Cause.REFUSED, found.cause)
        self.assert_contains(found.explanation, '[database] connection', 'sslmodee')

    def test_another_port(self) -> None:
        found = self.failing(port=1)
        self.assertIs(Cause.GONE, found.cause)
        self.assertIn('refused', found.explanation)

    def test_old_tables(self) -> None:
        with error_log.printed():
            for name in ('no_table', 'leases'):
                query = sa.text(f'SELECT no_column FROM {name}')
                found = self.assertRaises(
                    exceptions.DatabaseUnavailable,
                    self.store.run,
                    lambda tx, query=query: tx.session.execute(query),
                )
                self.assertIs(Cause.OUTDATED, found.cause)
                self.assertIn('climate-manage db sync', found.explanation)


class TestOnMariadb(_Causes, cases.StoreCase):
    """MariaDB."""

    kind = services.MARIADB

    def test_a_wrong_command_in_the_url(self) -> None:
        found = self.failing(query={'init_command': 'SE T'})
        self.assertIs(Cause.REFUSED, found.cause)
        self.assertIn('1064', found.explanation)


class TestOnPostgresql(_Causes, cases.StoreCase):
    """PostgreSQL."""

    kind = services.POSTGRESQL

    def setUp(self) -> None:
        super().setUp()
        # Other tests of this process use the database.
        self.addCleanup(self.database, 'RESET default_transaction_read_only')

    def database(self, setting: str) -> None:
        """Change a setting of new connections."""
        name = sa.make_url(self.url).database
        with services._server(services.POSTGRESQL).connect() as connection:
            connection.execute(sa.text(f'ALTER DATABASE {name} {setting}'))

    def test_a_read_only_server_is_left(self) -> None:
        self.store.ping()
        self.database('SET default_transaction_read_only = on')
        self.store.engine.dispose()
        with error_log.printed():
            for refused in (lambda: self.store.run(_write), self.store.ping):
                found = self.assertRaises(exceptions.DatabaseUnavailable, refused)
                self.assertIs(Cause.READ_ONLY, found.cause)
                self.assertIn('25006', found.explanation)
        with self.store.reading() as one, self.store.reading() as two:
            # Both will not write, even when new connections do.
            for tx in (one, two):
                self.assertEqual('on', tx.session.scalar(_READ_ONLY))
        self.database('RESET default_transaction_read_only')
        for _ in range(2):
            self.store.run(_write)
        self.store.ping()

    def test_a_reader_leaves_it_when_it_was_idle(self) -> None:
        self.database('SET default_transaction_read_only = on')
        self.store.engine.dispose()
        self.assertEqual('on', self.read_only())
        self.database('RESET default_transaction_read_only')
        self.assertEqual('on', self.read_only())
        self.clock.move_to(self.clock.now() + datetime.timedelta(seconds=1))
        self.assertEqual('off', self.read_only())

    def read_only(self) -> str:
        return fetch(self.store, lambda tx: str(tx.session.scalar(_READ_ONLY)))


class TestOnPsycopg2(TestOnPostgresql):
    """PostgreSQL, by the driver of before."""

    kind = services.PSYCOPG2


def _write(tx: Transaction) -> None:
    tx.session.execute(sa.text('UPDATE resources SET generation = generation'))
