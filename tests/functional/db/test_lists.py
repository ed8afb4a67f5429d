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

"""Conditions over lists, on each engine."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from climate.db.lists import Among
from climate.db.tables import RESOURCES
from tests import services
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


class Lists:
    """What a list may be."""

    def found(self: Any, query: sa.Select[Any], values: Any) -> list[int]:
        with self.store.reading() as tx:
            return sorted(tx.session.scalars(query, values))

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


class TestListsOnSqlite(Lists, cases.StoreCase):
    """SQLite."""


class TestListsOnMariadb(Lists, cases.StoreCase):
    """MariaDB."""

    kind = services.MARIADB


class TestListsOnPostgresql(Lists, cases.StoreCase):
    """PostgreSQL, where the length of a list does not change the statement."""

    kind = services.POSTGRESQL

    def test_one_text(self) -> None:
        self.add_hosts(4)
        with plans.captured(self.store.engine) as statements:
            for count in range(3):
                self.found(_WITH_NAMES, {'names': ['compute-1'] * count})
        self.assertEqual(1, len({each.text for each in statements}))
