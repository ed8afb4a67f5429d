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

"""The keys by which resources are in natural order of their names."""

from __future__ import annotations

import dataclasses

import sqlalchemy as sa

from climate.db import sort_names
from climate.db.store import Transaction
from climate.db.tables import RESOURCES
from climate.domain.calendar import CalendarPageQuery
from climate.domain.natural_order import sort_key
from tests import services
from tests.functional.db import cases
from tests.functional.db import plans


class SortNames:
    """On one engine."""

    def query(self, limit: int, marker: int | None = None) -> CalendarPageQuery:
        return CalendarPageQuery(
            resource_type='physical:host',
            period=cases.hours(0, 1),
            project_id='p',
            all_projects=True,
            sees_private=True,
            limit=limit,
            marker=marker,
        )

    def names(self, query: CalendarPageQuery) -> list[str]:
        with self.store.reading() as tx:
            return [one.name for one in tx.calendar_pages.resources(query)]

    def test_pages_have_each_resource_once_and_in_order(self) -> None:
        self.add_hosts(25)
        whole = self.names(self.query(100))
        self.assertEqual(sorted(whole, key=sort_key), whole)
        self.assertNotEqual(sorted(whole), whole)
        found: list[str] = []
        marker = None
        while True:
            with self.store.reading() as tx:
                page = tx.calendar_pages.resources(self.query(4, marker))
            found += [one.name for one in page[:4]]
            if len(page) <= 4:
                break
            marker = page[3].id
        self.assertEqual(whole, found)

    def test_those_of_the_previous_release_get_theirs(self) -> None:
        for number in (10, 2, 1):
            host = cases.host(number)
            self.store.run(lambda tx, host=host: tx.resources.insert(host))
        expected = self.names(self.query(100))
        with self.store.engine.begin() as connection:
            raised = RESOURCES.c.generation + 1
            connection.execute(sa.update(RESOURCES).values(sort_name='', generation=raised))
        self.assertNotEqual(expected, self.names(self.query(100)))
        for _ in range(2):
            # It can be repeated.
            with self.store.engine.begin() as connection:
                sort_names.fill(connection)
        self.assertEqual(expected, self.names(self.query(100)))

    def test_a_new_name_has_its_place(self) -> None:
        first, *_ = self.add_hosts(3)

        def rename(tx: Transaction) -> None:
            old = tx.resources.get('physical:host', first)
            tx.resources.rename(first, dataclasses.replace(old, name='z'))

        self.store.run(rename)
        self.assertEqual('z', self.names(self.query(100))[-1])

    def test_a_page_costs_one_statement_and_its_marker_another(self) -> None:
        first, *_ = self.add_hosts(3)
        with plans.captured(self.store.engine) as statements:
            self.names(self.query(2, first))
        self.assertEqual(2, len(statements), statements)


class TestOnSQLite(SortNames, cases.StoreCase):
    """On SQLite."""


class TestOnMariaDB(SortNames, cases.StoreCase):
    """On MariaDB."""

    kind = services.MARIADB


class TestOnPostgreSQL(SortNames, cases.StoreCase):
    """On PostgreSQL."""

    kind = services.POSTGRESQL
