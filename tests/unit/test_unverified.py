# SPDX-License-Identifier: Apache-2.0

"""No booking avoids its verification."""

from __future__ import annotations

from tests import unverified
from tests.unit import test_architecture


class TestBookings(test_architecture.ArchitectureTestCase):
    """Allocations that are written past the verification are found."""

    def test_none(self) -> None:
        self.assert_kept(unverified.unverified_bookings)

    def test_writes(self) -> None:
        table = '_table = tables.ALLOCATIONS\n'
        pair = "events, _table = _tables['events'], _tables['allocations']\n"
        self.assert_refused(
            unverified.unverified_bookings,
            'climate/db/leases/events.py',
            table + 'session.execute(sa.insert(_table), values)',
            table + 'def f():\n    session.execute(sa.update(_table).values(amount=2))',
            table + 'session.execute(_table.insert())',
            pair + 'session.execute(sa.delete(_table))',
            "sa.insert(_tables['allocations'])",
            "_tables['allocations'].update()",
            'session.execute(sa.insert(ALLOCATIONS))',
            'from climate.db.schema.tables import ALLOCATIONS as rows\nrows.insert()',
            "sa.text('INSERT INTO allocations (id) VALUES (1)')",
            "sa.text('UPDATE allocations SET amount = 2')",
            'BookingWriter(session, now, pending, ids)',
            'writer.PendingBookings()',
        )
        self.assert_refused(
            unverified.unverified_bookings,
            'climate/db/resources/allocations.py',
            table + 'def grow():\n    session.execute(sa.update(_table).values(amount=2))',
        )

    def test_reads_and_the_books(self) -> None:
        table = '_table = tables.ALLOCATIONS\n'
        self.assert_allowed(
            unverified.unverified_bookings,
            'climate/db/leases/events.py',
            table + 'session.execute(sa.select(_table))',
            "_table = _tables['events']\nsession.execute(sa.insert(_table))",
            'tx.book(ids).insert(new)',
        )
        self.assert_allowed(
            unverified.unverified_bookings,
            'climate/db/booking/writer.py',
            table + 'session.execute(sa.insert(_table))',
        )
        self.assert_allowed(
            unverified.unverified_bookings,
            'climate/db/resources/allocations.py',
            table + 'def release():\n    session.execute(sa.delete(_table))',
        )
