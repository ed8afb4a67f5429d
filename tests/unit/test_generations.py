# SPDX-License-Identifier: Apache-2.0

"""Transactions that do not announce what they change are found."""

from __future__ import annotations

import types

import sqlalchemy as sa

from tests import base
from tests import generations

RAISE = 'UPDATE resources SET generation=(resources.generation + ?) WHERE resources.id IN (?)'
CHANGES = (
    'INSERT INTO allocations (amount) VALUES (?)',
    'WITH leases_0 AS (INSERT INTO leases (id) VALUES (?)) INSERT INTO allocations (id) VALUES (?)',
    'UPDATE allocations SET state=?, end_date=? WHERE allocations.id = ?',
    'UPDATE allocations SET amount=? WHERE allocations.state = ?',
    'DELETE FROM allocations WHERE allocations.id = ?',
    'UPDATE inventories SET total=%(total)s WHERE inventories.id = %(id_1)s',
    'DELETE FROM maintenances WHERE maintenances.id = %s',
    'insert into properties (name) values (?)',
    'UPDATE resources SET disabled=?, updated_at=? WHERE resources.id = ?',
)
OTHERS = (
    'SELECT generation FROM resources',
    'INSERT INTO resources (name, generation) VALUES (?, ?)',
    'UPDATE allocations SET state=? WHERE allocations.state = ?',
    'UPDATE resources SET updated_at=? WHERE resources.disabled = ?',
    'DELETE FROM resources WHERE resources.id IN (?)',
    'UPDATE leases SET name=?',
    'INSERT INTO property_keys (name) VALUES (?)',
)


class ComplaintsTest(base.TestCase):
    def test_changes(self) -> None:
        for text in CHANGES:
            self.assertEqual([text], generations.complaints([text]))
            self.assertEqual([], generations.complaints([text, RAISE]), text)
            self.assertEqual([], generations.complaints([RAISE, text]), text)

    def test_a_new_resource(self) -> None:
        parts = ['INSERT INTO inventories (total) VALUES (?)', 'insert into properties VALUES (?)']
        self.assertEqual(parts, generations.complaints(parts))
        self.assertEqual([], generations.complaints([OTHERS[1], *parts]))

    def test_others(self) -> None:
        self.assertEqual([], generations.complaints(list(OTHERS)))


class WatchTest(base.TestCase):
    """Statements of this module do not count: it is a test."""

    def test_a_statement_of_a_test(self) -> None:
        with sa.create_engine('sqlite://').begin() as connection:
            generations._note(connection, types.SimpleNamespace(rowcount=1), CHANGES[0])
            self.assertNotIn('unannounced_writes', connection.info)

    def test_a_commit_and_a_rollback(self) -> None:
        with sa.create_engine('sqlite://').connect() as connection:
            for end in (generations._forget, generations._check):
                connection.info['unannounced_writes'] = [CHANGES[0]]
                end(connection)
        self.assertEqual([CHANGES[0]], generations.taken())
        self.assertEqual([], generations.taken())
