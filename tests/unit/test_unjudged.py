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

"""No booking avoids its judgement."""

from __future__ import annotations

from tests import unjudged
from tests.unit import test_architecture


class TestBookings(test_architecture.ArchitectureTestCase):
    """Allocations that are written past the judgement are found."""

    def test_none(self) -> None:
        self.assert_kept(unjudged.unjudged_bookings)

    def test_writes(self) -> None:
        table = '_table = tables.ALLOCATIONS\n'
        pair = "events, _table = _tables['events'], _tables['allocations']\n"
        self.assert_refused(
            unjudged.unjudged_bookings,
            'climate/db/events.py',
            table + 'session.execute(sa.insert(_table), values)',
            table + 'def f():\n    session.execute(sa.update(_table).values(amount=2))',
            table + 'session.execute(_table.insert())',
            pair + 'session.execute(sa.delete(_table))',
            "sa.insert(_tables['allocations'])",
            "_tables['allocations'].update()",
            'session.execute(sa.insert(ALLOCATIONS))',
            'from climate.db.tables import ALLOCATIONS as rows\nrows.insert()',
            "sa.text('INSERT INTO allocations (id) VALUES (1)')",
            "sa.text('UPDATE allocations SET amount = 2')",
            'Books(session, now, docket, ids)',
            'books.Docket()',
        )
        self.assert_refused(
            unjudged.unjudged_bookings,
            'climate/db/allocations.py',
            table + 'def grow():\n    session.execute(sa.update(_table).values(amount=2))',
        )

    def test_reads_and_the_books(self) -> None:
        table = '_table = tables.ALLOCATIONS\n'
        self.assert_allowed(
            unjudged.unjudged_bookings,
            'climate/db/events.py',
            table + 'session.execute(sa.select(_table))',
            "_table = _tables['events']\nsession.execute(sa.insert(_table))",
            'tx.book(ids).insert(new)',
        )
        self.assert_allowed(
            unjudged.unjudged_bookings,
            'climate/db/books.py',
            table + 'session.execute(sa.insert(_table))',
        )
        self.assert_allowed(
            unjudged.unjudged_bookings,
            'climate/db/allocations.py',
            table + 'def release():\n    session.execute(sa.delete(_table))',
        )
