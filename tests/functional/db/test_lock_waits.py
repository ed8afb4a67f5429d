# SPDX-License-Identifier: Apache-2.0

"""How long transactions wait for locks; each server needs a second for it."""

from __future__ import annotations

import datetime

import sqlalchemy as sa
from oslo_db import exception as oslo_exception

from climate import exceptions
from climate.db.batches import brief_locks
from climate.db.engine import error_log
from climate.db.engine import lock_waits
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.exceptions.outages import Cause
from tests import services
from tests.databases import fetch
from tests.functional.db import cases

_LOCK = sa.text('UPDATE projects SET id = id')


class _Waits:
    """A session of the service has limits of its own."""

    limit: sa.TextClause

    def shown(self, tx: Transaction) -> str:
        return str(tx.session.scalar(self.limit))

    def spend(self, seconds: float) -> None:
        self.clock.move_to(self.clock.now() + datetime.timedelta(seconds=seconds))

    def impatient(self) -> Store:
        """Return a store whose requests wait a second."""
        conf = cases.configuration(self.url)
        conf.set_override('lock_timeout', 1, group='database')
        return self.closing(Store(conf, self.clock))

    def test_each_session_has_the_limit(self) -> None:
        for _ in range(2):
            self.assertEqual(self.whole, self.store.run(self.shown))
            self.assertEqual(self.whole, fetch(self.store, self.shown))

    def test_a_lock_that_is_not_released_is_waited_for_once(self) -> None:
        self.store.run(lambda tx: tx.projects.add('p'))
        attempts = 0

        def work(tx: Transaction) -> None:
            nonlocal attempts
            attempts += 1
            tx.session.execute(_LOCK)

        with self.store.engine.begin() as holder, error_log.printed():
            holder.execute(_LOCK)
            found = self.assertRaises(exceptions.DatabaseUnavailable, self.impatient().run, work)
        self.assertIs(Cause.LOCKED, found.cause)
        self.assertEqual((503, 1), (found.code, found.facts['retry_after']))
        self.assertEqual(1, attempts)

    def test_a_request_has_one_limit(self) -> None:
        limits = []

        def work(tx: Transaction) -> None:
            limits.append(self.shown(tx))
            self.spend(3.5)
            # The same transaction has less left.
            limits.append(self.shown(tx))

        with lock_waits.one_request():
            for _ in range(4):
                self.store.run(work)
        self.assertEqual(self.left(10, 6.5, 6.5, 3, 3, 1, 1, 1), limits)
        self.assertEqual(self.whole, self.store.run(self.shown))

    def test_another_session_of_the_thread_keeps_its_limit(self) -> None:
        def work(_tx: Transaction) -> str:
            self.spend(5)
            return fetch(self.store, self.shown)

        self.assertEqual(self.whole, self.store.run(work))

    def left(self, *seconds: float) -> list[str]:
        """Return what the server shows of limits."""
        raise NotImplementedError

    def test_a_deadlock_is_not_repeated_after_the_limit(self) -> None:
        attempts = 0

        def work(_tx: Transaction) -> None:
            nonlocal attempts
            attempts += 1
            self.spend(4)
            raise oslo_exception.DBDeadlock

        with error_log.printed():
            self.assertRaises(exceptions.DatabaseUnavailable, self.store.run, work)
        self.assertEqual(3, attempts)


class TestOnMariadb(_Waits, cases.StoreCase):
    """MariaDB, in whole seconds."""

    kind = services.MARIADB
    limit = sa.text('SELECT @@innodb_lock_wait_timeout')
    whole = '10'

    def left(self, *seconds: float) -> list[str]:
        return [str(-int(-each // 1)) for each in seconds]

    def test_locks_of_tables(self) -> None:
        with self.store.reading() as tx:
            self.assertEqual(10, tx.session.scalar(sa.text('SELECT @@lock_wait_timeout')))


class _Brief:
    """A batch keeps its own limit, which is shorter."""

    def test_a_batch(self) -> None:
        def work(tx: Transaction) -> list[str]:
            brief_locks.limit_waits(tx.session)
            self.spend(3)
            return [self.shown(tx), self.shown(tx)]

        self.assertEqual(['1s', '1s'], self.store.run(work))
        self.assertEqual(self.whole, self.store.run(self.shown))


class TestOnPostgresql(_Brief, _Waits, cases.StoreCase):
    """PostgreSQL."""

    kind = services.POSTGRESQL
    limit = sa.text('SHOW lock_timeout')
    whole = '10s'

    def left(self, *seconds: float) -> list[str]:
        return [
            f'{int(each)}s' if each == int(each) else f'{each * 1000:.0f}ms' for each in seconds
        ]


class TestOnPsycopg2(TestOnPostgresql):
    """PostgreSQL, by the driver of before."""

    kind = services.PSYCOPG2
