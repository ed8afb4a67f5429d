# SPDX-License-Identifier: Apache-2.0

"""Claims of a manager that finds more due than it can claim."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import fixtures

from climate.db.leases.due import DueLeases
from climate.manager.claims.due_queue import DueQueue
from tests import base
from tests import drafts
from tests import services
from tests.functional.manager import harness


@services.on_each_engine(base.TestCase, 'TestQueueOn')
class Queue:
    """Leases of three projects are due at about the same time."""

    def setUp(self) -> None:
        super().setUp()
        self.site = self.useFixture(harness.Site(database=self.kind, hosts=0))
        for project, count, start in (('large', 40, 100), ('medium', 6, 101), ('small', 2, 102)):
            for _ in range(count):
                self.book(project, start)
        self.site.away_until(110)

    def book(self, project: str, start: float) -> None:
        caller = dataclasses.replace(harness.CALLER, project_id=project)
        draft = drafts.lease(
            harness.at(start),
            harness.at(9000),
            asked_at=min(harness.at(start), self.site.clock.now()),
        )
        self.site.leases.create(caller, draft)

    def queue(self, seed: int = 0) -> DueQueue:
        manager = self.site.add_manager()
        return DueQueue(self.site.store, self.site.clock, manager.claims, random.Random(seed))

    def projects(self, ids: list[str]) -> list[str]:
        with self.site.store.reading() as tx:
            return [str(tx.leases.project_of(lease_id)) for lease_id in ids]

    def test_projects_take_turns_in_a_backlog(self) -> None:
        queue = self.queue()
        first = queue.claim(4)
        self.assertEqual((['large'] * 4, True), (self.projects(first.ids), first.more))
        found = self.projects(queue.claim(6).ids)
        self.assertEqual(['large', 'medium', 'small', 'large', 'medium', 'small'], found)
        self.assertEqual(['large', 'medium', 'large', 'medium'], self.projects(queue.claim(4).ids))

    def test_everything_is_claimed_once(self) -> None:
        queue, ids = self.queue(), []
        while True:
            claimed = queue.claim(10)
            ids += claimed.ids
            if not claimed.more:
                break
        self.assertEqual((48, 48), (len(ids), len(set(ids))))
        # The first claim expires next.
        self.assertEqual(
            harness.at(110 + harness.CLAIM_SECONDS), claimed.due, 'when the first claim expires'
        )

    def test_two_managers_share_a_backlog(self) -> None:
        one, other, ids = self.queue(1), self.queue(2), []
        for queue in (one, other) * 20:
            ids += queue.claim(5).ids
        self.assertEqual((48, 48), (len(ids), len(set(ids))))

    def test_two_managers_rarely_want_the_same(self) -> None:
        for _ in range(100):
            self.book('large', 103)
        one, other = self.queue(1), self.queue(2)
        looks = []
        fair = DueLeases.fair

        def counted(*arguments: Any) -> list[str]:
            looks.append(1)
            return fair(*arguments)

        with fixtures.MonkeyPatch('climate.db.leases.due.DueLeases.fair', counted):
            sizes = [len(queue.claim(5).ids) for queue in (one, other) * 40]
        self.assertEqual(148, sum(sizes))
        self.assertLess(len(looks), 12)

    def test_it_looks_again_after_it_has_claimed_what_it_still_works_on(self) -> None:
        queue, site = self.queue(), self.site
        (lease_id,) = queue.claim(1).ids
        # As after the transaction that settles the lease, just before the claim is forgotten.
        with site.store.engine.begin() as connection:
            connection.exec_driver_sql(
                'UPDATE leases SET claim_owner = NULL, claim_until = NULL,'
                f" next_due = created_at WHERE id = '{lease_id}'"
            )
        again = DueQueue(site.store, site.clock, queue._claims).claim(1)
        self.assertEqual(([], False), (again.ids, again.more))
        assert again.due is not None
        self.assertLessEqual(again.due, site.clock.now())

    def test_what_becomes_due_meanwhile_gets_its_turn(self) -> None:
        queue = self.queue()
        queue.claim(4)
        queue.claim(4)
        self.book('new', 110)
        self.site.clock.advance(0.3)
        self.assertIn('new', self.projects(queue.claim(4).ids))

    def test_after_a_look_that_took_long_it_looks_later(self) -> None:
        queue, site = self.queue(), self.site
        queue.claim(4)
        fair = DueLeases.fair

        def fair_slowly(*arguments: Any) -> list[str]:
            site.clock.advance(0.04)
            return fair(*arguments)

        with fixtures.MonkeyPatch('climate.db.leases.due.DueLeases.fair', fair_slowly):
            queue.claim(4)
        self.book('new', 110)
        site.clock.advance(0.7)
        self.assertNotIn('new', self.projects(queue.claim(4).ids))
        site.clock.advance(0.2)
        self.assertIn('new', self.projects(queue.claim(4).ids))
