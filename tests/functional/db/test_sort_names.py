# SPDX-License-Identifier: Apache-2.0

"""The keys by which resources are in natural order of their names."""

from __future__ import annotations

import dataclasses

from climate.db.transactions.store import Transaction
from climate.domain.calendar import CalendarPageQuery
from climate.domain.natural_order import sort_key
from tests import services
from tests.functional.db import cases
from tests.functional.db import plans


@services.on_each_engine(cases.StoreCase, 'TestOn')
class SortNames:
    """On one engine."""

    def query(self, limit: int, marker: int | None = None) -> CalendarPageQuery:
        what = {'resource_type': 'physical:host', 'period': cases.hours(0, 1)}
        who = {'project_id': 'p', 'all_projects': True, 'sees_private': True}
        return CalendarPageQuery(**what, **who, limit=limit, marker=marker)

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
