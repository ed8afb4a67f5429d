# SPDX-License-Identifier: Apache-2.0

"""Databases that come with empty tables, on each engine; all of it takes two seconds."""

from __future__ import annotations

import sqlalchemy as sa

from climate.db.schema import tables
from tests import base
from tests import databases
from tests import services


@services.on_each_engine(base.TestCase, 'TestTabledOn')
class _Tabled:
    """What one test leaves, the next one does not find."""

    def engine(self, database: databases.TabledDatabase) -> sa.Engine:
        """Return an engine whose connections stay open until the end of the test."""
        made = sa.create_engine(database.url)
        self.addCleanup(made.dispose)
        return made

    def register(self, database: databases.TabledDatabase) -> int:
        """Write a host; return its id."""
        columns = tables.RESOURCES.c
        values = {columns.resource_type.name: 'physical:host', columns.name.name: 'compute-1'}
        with self.engine(database).begin() as connection:
            connection.execute(sa.insert(tables.RESOURCES).values(values))
            return int(connection.execute(sa.select(columns.id)).scalar_one())

    def test_each_has_its_own(self) -> None:
        kind = self.kind
        with databases.TabledDatabase(kind) as one, databases.TabledDatabase(kind) as two:
            self.assertNotEqual(one.url, two.url)
            self.assertEqual([1, 1], [self.register(each) for each in (one, two)])
            # Its row stays locked, as by a process that is killed.
            hanging = self.engine(two).connect()
            hanging.execute(sa.update(tables.RESOURCES).values(name='compute-2'))
        with databases.TabledDatabase(kind) as one, databases.TabledDatabase(kind) as two:
            self.assertEqual([1, 1], [self.register(each) for each in (one, two)])

    def test_other_tables(self) -> None:
        kind = self.kind
        with databases.TabledDatabase(kind) as one, self.engine(one).begin() as connection:
            connection.exec_driver_sql('ALTER TABLE leases RENAME TO hidden')
        with databases.TabledDatabase(kind) as one:
            self.assertTrue(sa.inspect(self.engine(one)).has_table('leases'))
