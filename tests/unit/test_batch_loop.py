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

"""How often the loop of batches looks, and how much it claims."""

from __future__ import annotations

import datetime
from typing import Any
from typing import cast

from climate.clock import ManualClock
from climate.manager.batch_loop import BatchLoop
from climate.manager.due_queue import Claimed
from climate.manager.due_queue import DueQueue
from climate.manager.pipeline import BegunBatch
from climate.manager.pipeline import Pipeline
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
    """A pipeline in which every lease that begins stays under way."""

    def begin(self, _lease_ids: list[str]) -> BegunBatch:
        return BegunBatch()


class TestBatchLoop(base.TestCase):
    """Without its threads."""

    def setUp(self) -> None:
        super().setUp()
        self.queue = AlwaysDue()
        nothing: Any = None
        self.loop = BatchLoop(
            ManualClock(NOW),
            nothing,
            cast('DueQueue', self.queue),
            cast('Pipeline', Nothing()),
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

    def test_pauses_begin_again_after_something_was_claimed(self) -> None:
        for _ in range(5):
            self.pause()
        self.assertEqual(0.0, self.pause('a'))
        self.assertEqual([0.0, 0.01], [self.pause(), self.pause()])

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
