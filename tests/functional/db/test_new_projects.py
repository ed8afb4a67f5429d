# SPDX-License-Identifier: Apache-2.0

"""The first transactions of a project, all at once."""

from __future__ import annotations

import threading
from concurrent import futures
from typing import Any

import sqlalchemy as sa
from oslo_db import exception as oslo_exception

from climate.db.schema.tables import PROJECTS
from tests import services
from tests.functional.db import cases

COUNT = 4
_LIMIT = 60.0


@services.on_each_engine(cases.StoreCase, engines=services.DATABASE_SERVERS)
class _NewProjects:
    """Transactions that all see that there is no row before the first one adds it.

    MariaDB locks the gap where a row is missing.
    """

    together = True

    def setUp(self) -> None:
        super().setUp()
        self.failures: list[BaseException] = []
        self.meeting = threading.Barrier(COUNT if self.together else 1)
        self.met = threading.local()
        sa.event.listen(self.store.engine, 'after_cursor_execute', self._meet)
        sa.event.listen(self.store.engine, 'handle_error', self._note)

    def _meet(self, _connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        if statement.startswith('UPDATE projects') and not hasattr(self.met, 'once'):
            self.met.once = True
            self.meeting.wait(_LIMIT)

    def _note(self, context: Any) -> None:
        self.failures.append(context.chained_exception or context.original_exception)

    def race(self, *, undone: bool) -> None:
        """Run the first transactions of a project."""

        def one() -> None:
            self.store.run(lambda tx: tx.projects.lock('new'), undone=undone)

        with futures.ThreadPoolExecutor(COUNT) as pool:
            for future in [pool.submit(one) for _ in range(COUNT)]:
                future.result(_LIMIT)
        others = [
            error
            for error in self.failures
            if not isinstance(error, oslo_exception.DBDuplicateEntry)
        ]
        self.assertEqual([], others)

    def generation(self) -> int:
        with self.store.reading() as tx:
            query = sa.select(PROJECTS.c.generation).where(PROJECTS.c.id == 'new')
            return int(tx.session.scalar(query))

    def test_rehearsals(self) -> None:
        """They are rolled back, but the row stays for the next ones."""
        self.race(undone=True)
        self.assertEqual(1, self.generation())

    def test_bookings(self) -> None:
        self.race(undone=False)
        self.assertEqual(1 + COUNT, self.generation())


class TestSqlite(_NewProjects, cases.StoreCase):
    """On SQLite, where one transaction writes at a time."""

    together = False
