# SPDX-License-Identifier: Apache-2.0

"""Inserts that are sent together are those that are sent one after the other."""

from __future__ import annotations

import contextlib
import datetime
import uuid
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from oslo_db import exception as db_exception

from climate import exceptions
from climate.db.schema.tables import ALLOCATIONS
from climate.db.schema.tables import EVENTS
from climate.db.schema.tables import LEASES
from climate.db.schema.tables import OUTBOX
from climate.db.schema.tables import RESERVATIONS
from climate.db.statements import bulk
from climate.db.statements import inserts
from climate.db.transactions.store import Transaction
from tests import services
from tests.functional.db import cases
from tests.functional.db import plans

_TABLES = (LEASES, RESERVATIONS, EVENTS, OUTBOX, ALLOCATIONS)
# Own to each row, or to each try.
_IDS = {'id', 'lease_id', 'reservation_id', 'seq'}
# What a text of SQL, of JSON or of a driver could mistake for its own.
_NAME = 'ö % %s %(x)s :rows "quoted" \'single\' \\ \\u0000 { } 日本 🙂'


class Inserts:
    """On one engine."""

    def setUp(self) -> None:
        super().setUp()
        self.hosts = self.add_hosts(10)

    def rows(self, hosts: int, events: int) -> Mapping[sa.Table, list[dict[str, Any]]]:
        """Return the rows of a lease of whole hosts."""
        lease, reservation = str(uuid.uuid4()), str(uuid.uuid4())
        start = cases.NOW + datetime.timedelta(hours=1, microseconds=1)
        end = start + cases.HOUR
        return {
            LEASES: [
                {
                    'id': lease,
                    'name': _NAME,
                    'user_id': 'alice',
                    'project_id': 'blue',
                    'start_date': start,
                    'end_date': end,
                    'status': 'PENDING',
                    'degraded': True,
                    'before_end_date': None,
                    'options': {'name': _NAME},
                    'created_at': cases.NOW,
                }
            ],
            RESERVATIONS: [
                {
                    'id': reservation,
                    'lease_id': lease,
                    'position': 0,
                    'resource_type': cases.TYPE,
                    'status': 'pending',
                    'request': {'name': _NAME, 'numbers': [1, 2.5, None]},
                    'facts': {},
                    'missing_resources': False,
                    'resources_changed': True,
                    'created_at': cases.NOW,
                }
            ],
            EVENTS: [
                {
                    'id': str(uuid.uuid4()),
                    'lease_id': lease,
                    'kind': 'start_lease',
                    'time': start + number * cases.HOUR,
                    'due': start,
                    'state': 'UNDONE',
                    'attempts': number,
                    'error': None if number % 2 else _NAME,
                    'payload': {},
                    'created_at': cases.NOW,
                }
                for number in range(events)
            ],
            OUTBOX: [
                {
                    'id': str(uuid.uuid4()),
                    'lease_id': lease,
                    'event_type': 'lease.create',
                    'priority': 'INFO',
                    'payload': {'name': _NAME},
                    'created_at': cases.NOW,
                }
            ],
            ALLOCATIONS: [
                {
                    'reservation_id': reservation,
                    'resource_id': host,
                    'resource_class': None,
                    'amount': 1,
                    'start_date': start + 2 * place * cases.HOUR,
                    'end_date': end + 2 * place * cases.HOUR,
                    'state': 'promised',
                }
                for place, host in enumerate(self.hosts[:hosts])
            ],
        }

    def write(self, tx: Transaction, rows: Mapping[sa.Table, list[dict[str, Any]]]) -> None:
        tx.book(sorted(item['resource_id'] for item in rows[ALLOCATIONS]))
        for table, its in rows.items():
            if its:
                inserts.insert(tx.session, sa.insert(table), its)

    def stored(self) -> dict[str, list[dict[str, Any]]]:
        """Return all rows, without what is own to each, and remove them."""
        with self.store.engine.begin() as connection:
            found = {
                table.name: [
                    {key: value for key, value in row._mapping.items() if key not in _IDS}
                    for row in connection.execute(
                        sa.select(table).order_by(*table.primary_key.columns)
                        if table is ALLOCATIONS
                        else sa.select(table).order_by(*(table.c[name] for name in _ORDER[table]))
                    )
                ]
                for table in _TABLES
            }
            for table in reversed(_TABLES):
                connection.execute(sa.delete(table))
        return found

    def test_the_same_rows(self) -> None:
        for hosts, events in ((1, 1), (1, 7), (3, 2), (10, 9), (0, 0)):
            alone, with_others = self.rows(hosts, events), self.rows(hosts, events)
            self.store.run(lambda tx, rows=alone: self.write(tx, rows))
            expected = self.stored()
            self.assertEqual([1, 1, events, 1, hosts], [len(rows) for rows in expected.values()])

            def write(tx: Transaction, rows: Any = with_others) -> None:
                with inserts.together(tx.session):
                    self.write(tx, rows)

            self.store.run(write)
            self.assertEqual(expected, self.stored())

    def test_in_so_many_statements(self) -> None:
        rows = self.rows(2, 3)

        def write(tx: Transaction) -> None:
            with inserts.together(tx.session):
                self.write(tx, rows)

        with plans.captured(self.store.engine) as statements:
            self.store.run(write)
        written = [each for each in statements if 'INSERT INTO' in str(each)]
        self.assertEqual(self.statements, len(written), written)

    def test_nothing_is_left_over_from_a_block_that_fails(self) -> None:
        rows = self.rows(1, 1)

        def fail(tx: Transaction) -> None:
            with contextlib.suppress(ZeroDivisionError), inserts.together(tx.session):
                inserts.insert(tx.session, sa.insert(LEASES), rows[LEASES])
                raise ZeroDivisionError
            tx.undo()

        self.store.run(fail)
        self.store.run(lambda tx: self.write(tx, rows))
        self.assertEqual(1, len(self.stored()['leases']))

    def test_what_is_there_already_is_a_duplicate(self) -> None:
        rows = self.rows(1, 1)
        self.store.run(lambda tx: self.write(tx, rows))

        def again() -> None:
            with self.store.engine.begin() as connection, inserts.together(connection):
                for table in (LEASES, RESERVATIONS):
                    inserts.insert(connection, sa.insert(table), rows[table])

        self.assertRaises(db_exception.DBDuplicateEntry, again)

    def test_an_instant_without_a_zone_is_refused(self) -> None:
        naive = [{**row, 'due': row['due'].replace(tzinfo=None)} for row in self.rows(1, 1)[EVENTS]]
        with self.assertRaises(ValueError):
            self.store.run(lambda tx: bulk.insert(tx.session, EVENTS, naive))


_ORDER = {
    LEASES: ['start_date'],
    RESERVATIONS: ['position'],
    EVENTS: ['time'],
    OUTBOX: ['created_at'],
}


class TestSqlite(Inserts, cases.StoreCase):
    """On SQLite."""

    statements = 5


class TestMariadb(Inserts, cases.StoreCase):
    """On MariaDB."""

    kind = services.MARIADB
    statements = 5


class _EndsOfSessions:
    """The session ends before what is waiting is sent."""

    def test_the_end_is_what_is_reported(self) -> None:
        rows = self.rows(1, 1)

        def end(tx: Transaction) -> None:
            with inserts.together(tx.session):
                inserts.insert(tx.session, sa.insert(LEASES), rows[LEASES])
                tx.session.execute(sa.text('SELECT pg_terminate_backend(pg_backend_pid())'))

        self.assertRaises(exceptions.DatabaseUnavailable, self.store.run, end)


class TestPostgresql(_EndsOfSessions, Inserts, cases.StoreCase):
    """On PostgreSQL, in one statement."""

    kind = services.POSTGRESQL
    statements = 1


class TestPsycopg2(_EndsOfSessions, Inserts, cases.StoreCase):
    """On PostgreSQL, by the driver of before."""

    kind = services.PSYCOPG2
    statements = 1
