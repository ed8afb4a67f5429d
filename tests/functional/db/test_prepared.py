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

"""PostgreSQL keeps the plans of the statements that book, and of no others."""

from __future__ import annotations

import sqlalchemy as sa

from climate.clock import ManualClock
from climate.db.search import Match
from climate.db.store import Store
from climate.domain.periods import Period
from tests import services
from tests.functional.db import cases


class TestPsycopg(cases.StoreCase):
    """By the driver that can prepare statements."""

    kind = services.POSTGRESQL

    def kept(self, store: Store) -> list[str]:
        """Return the statements that a connection keeps after it has booked and searched."""
        (host,) = self.add_hosts(1)
        period = Period(start=cases.NOW, end=cases.NOW + cases.HOUR)
        match = Match(resource_type=cases.TYPE)
        for _ in range(7):
            store.run(lambda tx: tx.book([host], known={host: 0}) and None)
            with store.reading() as tx:
                tx.search.among([host], match, period)
                tx.search.free(match, period, limit=5)
        with store.reading() as tx:
            query = sa.text('SELECT statement FROM pg_prepared_statements')
            return list(tx.session.scalars(query))

    def test_those_that_book_are_kept(self) -> None:
        kept = self.kept(self.store)
        starts = sorted(text.split()[:2] for text in kept)
        self.assertEqual([['SELECT', 'resources.id,'], ['UPDATE', 'resources']], starts, kept)

    def test_none_for_a_pooler_that_cannot(self) -> None:
        conf = cases.configuration(self.url)
        conf.set_override('prepared_statements', False, group='database')
        store = Store(conf, ManualClock(cases.NOW))
        self.addCleanup(store.close)
        self.assertEqual([], self.kept(store))
