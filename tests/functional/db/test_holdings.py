# SPDX-License-Identifier: Apache-2.0
"""What reservations hold."""

from __future__ import annotations

import sqlalchemy as sa

from climate.db.schema.tables import ALLOCATIONS
from tests import services
from tests.functional.db import cases


@services.on_each_engine(cases.StoreCase)
class Holdings:
    """On every engine."""

    def test_the_first_resources_and_how_many_there_are(self) -> None:
        ids = self.add_hosts(12)
        many = self.book(ids, 1, 2).reservations[0].id
        few = self.book(ids[:2], 3, 4).reservations[0].id
        none = self.book(ids[:1], 5, 6).reservations[0].id
        with self.store.engine.begin() as connection:
            mine = ALLOCATIONS.c.reservation_id == none
            connection.execute(sa.update(ALLOCATIONS).where(mine).values(state='released'))
        with self.store.reading() as tx:
            all_of = tx.holdings.of([many, few, none])
            found = tx.holdings.first([many, few, none], 3)
            self.assertEqual({}, tx.holdings.first([], 3))
        self.assertEqual({many, few}, set(found))
        # Not compute-10 after compute-1.
        names = [one.name for one in found[many].resources]
        self.assertEqual(['compute-1', 'compute-2', 'compute-3'], names)
        self.assertEqual((all_of[many].resources[:3], 12), found[many])
        self.assertEqual(all_of[few], found[few])
