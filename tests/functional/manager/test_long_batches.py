# SPDX-License-Identifier: Apache-2.0

"""Batches whose transactions take as long as the claims on their leases, as under load."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import fixtures
import sqlalchemy as sa

from climate.db.schema.tables import LEASES
from tests import base
from tests import services
from tests.functional.manager import harness

COUNT = 3
ALMOST = harness.CLAIM_SECONDS / 2


@services.on_each_engine(base.TestCase, 'TestLongBatchesOn')
class _LongBatches:
    """A manager and its batch, whose steps take time."""

    def setUp(self: Any) -> None:
        super().setUp()
        self.site = self.useFixture(harness.Site(harness.SETTINGS, self.kind, hosts=2 * COUNT))
        self.leases = [self.site.create(100, 2000) for _ in range(COUNT)]
        self.site.until(99)
        self.site.away_until(100)
        self.manager = self.site.add_manager()

    def within_begin(self: Any, happens: Callable[[], Any]) -> Any:
        """Let something happen once within the transaction in which leases begin."""
        starter = self.manager.worker.starter
        begin = starter.begin

        def begin_late(*arguments: Any, **named: Any) -> Any:
            self.useFixture(fixtures.MockPatchObject(starter, 'begin', begin))
            happens()
            return begin(*arguments, **named)

        return fixtures.MockPatchObject(starter, 'begin', begin_late)

    def ends(self: Any) -> set[datetime.datetime]:
        """Return when the claims end, in SQL."""
        with self.site.store.reading() as tx:
            return set(tx.session.scalars(sa.select(LEASES.c.claim_until)))

    def test_claims_last_from_the_end_of_a_long_begin(self: Any) -> None:
        clock = self.site.clock
        ids = self.manager.claims.take(COUNT)
        with self.within_begin(lambda: clock.advance(harness.CLAIM_SECONDS + 1)):
            begun = self.manager.pipeline.begin(ids)
        lasts = datetime.timedelta(seconds=harness.CLAIM_SECONDS)
        self.assertEqual({clock.now() + lasts}, self.ends())
        self.assertEqual([], self.site.add_manager().claims.take(COUNT))
        finished = [self.manager.pipeline.perform(job) for job in begun.jobs]
        settled = self.manager.pipeline.settle(finished)
        self.assertEqual((COUNT, []), (len(settled.over), settled.alone))
        self.assertEqual({'ACTIVE'}, {self.site.status(lease) for lease in self.leases})

    def test_a_claim_that_a_check_found_expired_stays_lost(self: Any) -> None:
        ids = self.manager.claims.take(COUNT)

        def expire() -> None:
            self.site.clock.advance(harness.CLAIM_SECONDS + 1)
            self.assertFalse(self.manager.claims.guard(ids[0]).is_valid())

        with self.within_begin(expire):
            begun = self.manager.pipeline.begin(ids)
        lost = [job.lease_id for job in begun.jobs if self.manager.pipeline.perform(job) is None]
        self.assertEqual(ids[:1], lost)

    def test_no_renewal_loses_a_claim_that_a_batch_has_locked(self: Any) -> None:
        ids = self.manager.claims.take(COUNT)

        def expire() -> None:
            self.site.clock.advance(harness.CLAIM_SECONDS + 1)
            self.manager.claims.renew()

        with self.within_begin(expire):
            begun = self.manager.pipeline.begin(ids)
        self.assertNotIn(None, [self.manager.pipeline.perform(job) for job in begun.jobs])

    def settled_in(self: Any, seconds: float) -> Any:
        """Let a transaction that settles last some seconds, once it has locked leases."""
        settle = self.manager.worker.settle_locked

        def settle_late(*arguments: Any, **named: Any) -> bool:
            # Once for all leases.
            self.useFixture(fixtures.MockPatchObject(self.manager.worker, 'settle_locked', settle))
            self.site.clock.advance(seconds)
            return bool(settle(*arguments, **named))

        return fixtures.MockPatchObject(self.manager.worker, 'settle_locked', settle_late)

    def performed(self: Any) -> list[Any]:
        begun = self.manager.pipeline.begin(self.manager.claims.take(COUNT))
        return [self.manager.pipeline.perform(job) for job in begun.jobs]

    def test_claims_outlast_a_long_settlement(self: Any) -> None:
        finished = self.performed()
        with self.settled_in(harness.CLAIM_SECONDS + 1):
            settled = self.manager.pipeline.settle(finished)
        self.assertEqual((COUNT, []), (len(settled.over), settled.alone))
        self.assertEqual({'ACTIVE'}, {self.site.status(lease) for lease in self.leases})

    def test_claims_are_renewed_before_they_are_settled(self: Any) -> None:
        finished = self.performed()
        self.site.clock.advance(ALMOST)
        with self.manager.claims.writing([each.lease_id for each in finished]):
            self.assertEqual([0.0] * COUNT, [each.begun.guard.age() for each in finished])

    def test_a_claim_that_has_expired_before_settles_nothing(self: Any) -> None:
        finished = self.performed()
        self.site.clock.advance(harness.CLAIM_SECONDS + 1)
        settled = self.manager.pipeline.settle(finished)
        self.assertEqual(([], COUNT), (settled.over, len(settled.alone)))
