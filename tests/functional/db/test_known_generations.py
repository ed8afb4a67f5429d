# SPDX-License-Identifier: Apache-2.0
"""The lock of one resource whose generation was read a moment ago."""

from __future__ import annotations

import threading

from climate.db.transactions.store import Transaction
from tests import services
from tests.databases import fetch
from tests.functional.db import cases
from tests.functional.db import plans


@services.on_each_engine(cases.StoreCase)
class KnownGenerations:
    """On one engine."""

    def generation(self, resource_id: int) -> int:
        return fetch(self.store, lambda tx: tx.resources.generations([resource_id])[resource_id])

    def lock(self, tx: Transaction, resource_id: int, known: int) -> int:
        """Lock a resource; return the generation that it turned out to have."""
        return tx.book([resource_id], known={resource_id: known}).generations[resource_id]

    def test_one_statement_if_it_is_still_the_same(self) -> None:
        (host,) = self.add_hosts(1)
        known = self.generation(host)
        with plans.captured(self.store.engine) as statements:
            self.assertEqual(known, self.store.run(lambda tx: self.lock(tx, host, known)))
        self.assertEqual(1, len(statements), statements)
        self.assertEqual(known + 1, self.generation(host))

    def test_a_change_since_is_noticed(self) -> None:
        (host,) = self.add_hosts(1)
        known = self.generation(host)
        self.store.run(lambda tx: tx.book([host]) and None)
        self.assertEqual(known + 1, self.store.run(lambda tx: self.lock(tx, host, known)))
        self.assertEqual(known + 2, self.generation(host))

    def test_a_race(self) -> None:
        """The second waits for the first, and learns what it has changed."""
        (host,) = self.add_hosts(1)
        known = self.generation(host)
        has_it, goes_on = threading.Event(), threading.Event()
        found: dict[str, int] = {}

        def first(tx: Transaction) -> None:
            found['first'] = self.lock(tx, host, known)
            has_it.set()
            goes_on.wait(60)

        def second(tx: Transaction) -> None:
            found['second'] = self.lock(tx, host, known)

        works = [threading.Thread(target=self.store.run, args=(work,)) for work in (first, second)]
        works[0].start()
        self.assertTrue(has_it.wait(60))
        works[1].start()
        works[1].join(0.2)
        self.assertNotIn('second', found)
        goes_on.set()
        for work in works:
            work.join(60)
        self.assertEqual({'first': known, 'second': known + 1}, found)
        self.assertEqual(known + 2, self.generation(host))
