# SPDX-License-Identifier: Apache-2.0

"""Periods as texts, which the database writes."""

from __future__ import annotations

import datetime
from typing import Any

import sqlalchemy as sa

from climate.allocation.steps import microseconds
from climate.db.schema.tables import MAINTENANCES
from climate.db.timelines import packed
from climate.db.timelines.reader import TimelineReader
from climate.db.timelines.timelines import Timelines
from tests import services
from tests.functional.db import cases
from tests.functional.db.histories import PAUSE
from tests.functional.db.plain_blocks import plain

# A fraction that is rounded up where milliseconds are, and a text that is longer than a limit.
INSTANTS = (
    datetime.datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=datetime.UTC),
    datetime.datetime(2030, 2, 28, 23, 59, 59, 999_999, tzinfo=datetime.UTC),
    datetime.datetime(2032, 2, 29, 12, 0, 0, 400_600, tzinfo=datetime.UTC),
    datetime.datetime(2539, 12, 31, 23, 59, 59, 999_999, tzinfo=datetime.UTC),
)


@services.on_each_engine(cases.StoreCase)
class PackedCase:
    """Hosts with bookings."""

    def setUp(self) -> None:
        super().setUp()
        self.hosts = self.add_hosts(3)

    def loaded(self) -> list[Any]:
        """Return what timelines load, as plain values."""
        with self.store.reading() as tx:
            reader = TimelineReader(tx.session, tx.now)
            return [plain(block, 0) for block in Timelines(PAUSE).current(reader, cases.TYPE)]

    def test_each_microsecond_is_kept(self) -> None:
        facts: Any = {'resource_id': self.hosts[0], 'reason': '', 'user_id': 'u'}
        starts = [found - datetime.timedelta(microseconds=1) for found in INSTANTS]
        with self.store.engine.begin() as connection:
            connection.execute(
                sa.insert(MAINTENANCES),
                [
                    {**facts, 'id': f'm{number}', 'start_date': start, 'end_date': end}
                    for number, (start, end) in enumerate(zip(starts, INSTANTS, strict=True))
                ],
            )
            of = MAINTENANCES.c
            one = sa.literal_column('1', sa.Integer)
            row = connection.execute(
                sa.select(
                    of.resource_id, sa.func.count(), packed.periods(one, of.start_date, of.end_date)
                ).group_by(of.resource_id)
            ).one()
        found = packed.bookings([tuple(row)])
        self.assertEqual([self.hosts[0]] * len(INSTANTS), found.resource_ids.tolist())
        self.assertEqual(list(map(microseconds, INSTANTS)), sorted(found.ends.tolist()))
        self.assertEqual(list(map(microseconds, starts)), sorted(found.starts.tolist()))
        self.assertEqual([1] * len(INSTANTS), found.amounts.tolist())

    def test_a_text_that_is_cut_off_is_read_again(self) -> None:
        self.book(self.hosts, 1, 2)
        for hour in range(3, 30, 2):
            self.book([self.hosts[1]], hour, hour + 1)
        expected = self.loaded()
        if self.store.engine.dialect.name not in ('mysql', 'mariadb'):
            self.skipTest('only MariaDB cuts texts off')

        def cut(dbapi: Any, *_: Any) -> None:
            with dbapi.cursor() as cursor:
                cursor.execute('SET SESSION group_concat_max_len = 100')

        sa.event.listen(self.store.engine, 'checkout', cut)
        self.addCleanup(sa.event.remove, self.store.engine, 'checkout', cut)
        self.assertEqual(expected, self.loaded())
