# SPDX-License-Identifier: Apache-2.0

"""Conditions over lists, on each engine."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from climate.db.schema.tables import RESOURCES
from climate.db.statements.lists import Among
from tests import services
from tests.databases import fetch
from tests.functional.db import cases
from tests.functional.db import plans

_WITH_NAMES = (
    sa.select(RESOURCES.c.id)
    .where(Among(RESOURCES.c.name, 'names'), RESOURCES.c.deleted == 0)
    .order_by(RESOURCES.c.id)
)
_WITH_IDS = sa.select(RESOURCES.c.id).where(
    sa.or_(Among(RESOURCES.c.id, 'ids'), RESOURCES.c.name == 'compute-1')
)


@services.on_each_engine(
    cases.StoreCase, 'TestListsOn', engines=(services.SQLITE, services.MARIADB)
)
class Lists:
    """What a list may be."""

    def found(self: Any, query: sa.Select[Any], values: Any) -> list[int]:
        return fetch(self.store, lambda tx: sorted(tx.session.scalars(query, values)))

    def test_texts(self: Any) -> None:
        ids = self.add_hosts(4)
        names = ['compute-2', 'compute-4', "no ' such"]
        for given in (names, tuple(names), set(names), dict.fromkeys(names).keys()):
            self.assertEqual([ids[1], ids[3]], self.found(_WITH_NAMES, {'names': given}))

    def test_numbers(self: Any) -> None:
        ids = self.add_hosts(4)
        self.assertEqual([ids[0], ids[2]], self.found(_WITH_IDS, {'ids': [ids[2]]}))

    def test_none(self: Any) -> None:
        ids = self.add_hosts(2)
        self.assertEqual([], self.found(_WITH_NAMES, {'names': []}))
        self.assertEqual([ids[0]], self.found(_WITH_IDS, {'ids': ()}))


class TestListsOnPostgresql(Lists, cases.StoreCase):
    """PostgreSQL, where the length of a list does not change the statement."""

    kind = services.POSTGRESQL

    def test_one_text(self) -> None:
        self.add_hosts(4)
        with plans.captured(self.store.engine) as statements:
            for count in range(3):
                self.found(_WITH_NAMES, {'names': ['compute-1'] * count})
        self.assertEqual(1, len({each.text for each in statements}))
