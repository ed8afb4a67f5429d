# SPDX-License-Identifier: Apache-2.0

"""How often the claim loop looks, and how much it claims."""

from __future__ import annotations

import datetime
import math
import time
import types
from typing import Any
from typing import cast

import fixtures

from climate.clock import ManualClock
from climate.manager.claims.due_queue import Claimed
from climate.manager.claims.due_queue import DueQueue
from climate.manager.claims.loop import ClaimLoop
from climate.manager.claims.pipeline import BegunBatch
from climate.manager.claims.pipeline import BegunJob
from climate.manager.claims.pipeline import Pipeline
from tests import base

NOW = datetime.datetime(2031, 1, 1, tzinfo=datetime.UTC)
WORKERS = 4


class AlwaysDue:
    """A queue in which as many leases are due as can be claimed.

    :ivar limits: how many leases each claim asked for
    """

    def __init__(self) -> None:
        self.limits: list[int] = []

    def claim(self, limit: int) -> Claimed:
        self.limits.append(limit)
        return Claimed(ids=['lease'] * limit, more=True)


class Nothing:
    """A pipeline in which every lease that begins stays under way.

    :ivar jobs: how many jobs begin
    """

    jobs = 0

    def begin(self, _lease_ids: list[str]) -> BegunBatch:
        nothing: Any = None
        return BegunBatch(jobs=[BegunJob(guard=nothing, job=nothing)] * self.jobs)

    def perform(self, _begun: BegunJob) -> None:
        raise SystemExit


class FewThreads:
    """A pool that cannot start threads, and queues what it gets."""

    def __init__(self) -> None:
        self.queued: list[Any] = []

    def submit(self, work: Any, *arguments: Any) -> None:
        self.queued.append((work, arguments))
        raise RuntimeError("can't start new thread")

    def shutdown(self, **_how: bool) -> None:
        self.queued.clear()


class TestClaimLoop(base.TestCase):
    """Without its threads."""

    def setUp(self) -> None:
        super().setUp()
        self.queue = AlwaysDue()
        self.pipeline = Nothing()
        nothing: Any = None
        self.loop = ClaimLoop(
            ManualClock(NOW),
            nothing,
            cast('DueQueue', self.queue),
            cast('Pipeline', self.pipeline),
            nothing,
            workers=WORKERS,
            max_sleep=5.0,
        )
        self.addCleanup(self.loop.stop, 1)

    def pause(self, *ids: str, due: float | None = 0.0, more: bool = False) -> float:
        """Return the pause after a claim, with the next lease due in so many seconds."""
        at = None if due is None else NOW + datetime.timedelta(seconds=due)
        return self.loop._until_next(Claimed(ids=list(ids), more=more, due=at))

    def test_a_lease_that_stays_locked_is_looked_for_less_and_less(self) -> None:
        pauses = [self.pause() for _ in range(12)]
        self.assertEqual([0.0, 0.01, 0.02, 0.04], pauses[:4])
        self.assertEqual(1.0, pauses[-1])
        # Without pauses, it would look thousands of times in these seconds.
        self.assertLess(3.0, sum(pauses))

    def test_pauses_begin_again_after_something_was_claimed(self) -> None:
        for _ in range(5):
            self.pause()
        self.assertEqual(0.0, self.pause('a'))
        self.assertEqual([0.0, 0.01], [self.pause(), self.pause()])

    def test_pauses_begin_again_once_nothing_is_due(self) -> None:
        for due in (2.0, None):
            for _ in range(5):
                self.pause()
            self.pause(due=due)
            self.assertEqual([0.0, 0.01], [self.pause(), self.pause()])

    def test_a_wake_up_is_not_kept_waiting(self) -> None:
        self.loop._look_at = math.inf
        self.loop._look_within(1000)
        self.loop.wake()
        self.assertLessEqual(self.loop._look_at, time.monotonic())

    def test_it_sleeps_until_the_next_one_is_due(self) -> None:
        self.assertEqual(2.0, self.pause(due=2.0))
        self.assertEqual(5.0, self.pause(due=7.0))
        self.assertEqual(5.0, self.pause(due=None))
        self.assertEqual(0.0, self.pause('a', due=None, more=True))

    def test_it_claims_no_more_than_workers_are_free(self) -> None:
        self.loop._look()
        self.assertEqual([WORKERS], self.queue.limits)
        self.loop._look()
        self.assertEqual([WORKERS], self.queue.limits)
        self.loop._set_free(1)
        self.loop._look()
        self.assertEqual([WORKERS, 1], self.queue.limits)

    def test_no_job_is_lost_if_no_thread_can_be_started(self) -> None:
        self.pipeline.jobs = WORKERS
        pool: Any = FewThreads()
        self.useFixture(fixtures.MonkeyPatch('climate.manager.claims.loop.LOG.disabled', True))
        self.loop._pool = pool
        self.loop._look()
        self.assertEqual(WORKERS, len(pool.queued))

    def test_a_worker_is_free_after_an_effect_that_ends_its_thread(self) -> None:
        released: list[str] = []
        self.useFixture(fixtures.MockPatchObject(self.loop, '_release', released.extend))
        self.loop._busy = 1
        begun: Any = types.SimpleNamespace(lease_id='lease')
        self.assertRaises(SystemExit, self.loop._perform, begun)
        self.assertEqual((0, ['lease']), (self.loop._busy, released))

    def test_it_claims_nothing_while_too_much_is_unsettled(self) -> None:
        finished: Any = object()
        for _ in range(2 * WORKERS):
            self.loop._busy += 1
            self.loop._set_free(1, finished)
        self.loop._look()
        self.assertEqual([], self.queue.limits)
        self.loop._finished.clear()
        self.loop._look()
        self.assertEqual([WORKERS], self.queue.limits)

    def test_a_backlog_waits_for_the_batch_that_is_being_settled(self) -> None:
        self.loop._look()
        self.loop._busy, self.loop._settling = 0, 2 * WORKERS - 1
        self.assertEqual(math.inf, self.loop._pause())
        self.loop._settling = 0
        self.loop._set_free(0)
        self.assertLess(self.loop._pause(), math.inf)

    def test_a_backlog_waits_once_for_more_workers(self) -> None:
        self.loop._look()
        self.loop._busy, self.loop._look_at = WORKERS - 1, 0.0
        self.assertEqual([0.005, 0.0], [max(self.loop._pause(), 0.0) for _ in range(2)])

    def test_a_lease_waits_for_no_workers_without_a_backlog(self) -> None:
        self.loop._busy, self.loop._settling = 0, 2 * WORKERS - 1
        self.loop._look_at = 0.0
        self.assertLessEqual(self.loop._pause(), 0.0)
