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

"""How often the claim loop looks."""

from __future__ import annotations

import datetime
import math
import time
from typing import cast

from climate.clock import ManualClock
from climate.manager.claims import ClaimKeeper
from climate.manager.loop import Loop
from climate.manager.worker import Worker
from tests import base

NOW = datetime.datetime(2031, 1, 1, tzinfo=datetime.UTC)
Found = tuple[list[str], datetime.datetime | None]


class Locked:
    """Claims of leases of which some are due and locked by another manager.

    :ivar due: when something is due next
    """

    def __init__(self) -> None:
        self.due: datetime.datetime | None = NOW
        self.free: list[str] = []
        self.looks = 0

    def take_and_look(self, _limit: int) -> Found:
        self.looks += 1
        taken, self.free = self.free, []
        return taken, self.due

    def forget(self, _lease_id: str) -> bool:
        return True


class Idle:
    """Works on nothing."""

    def work(self, _lease_id: str) -> None:
        return


class TestLooks(base.TestCase):
    """What is due and cannot be claimed is looked for more and more seldom."""

    def setUp(self) -> None:
        super().setUp()
        self.clock = ManualClock(NOW)
        self.claims = Locked()
        self.loop = Loop(
            self.clock,
            cast('ClaimKeeper', self.claims),
            cast('Worker', Idle()),
            workers=4,
            max_sleep=5.0,
        )
        self.addCleanup(self.loop.stop, 1)

    def looks_within(self, seconds: float) -> int:
        """Return how often is looked in a time, if looking takes none."""
        looks = 0
        while seconds > 0:
            seconds -= self.loop._look() or 1e-6
            looks += 1
        return looks

    def test_a_lease_that_stays_locked_is_looked_for_a_few_times(self) -> None:
        # 2,433 times, before there were pauses.
        self.assertLessEqual(self.looks_within(3), 12)
        self.assertLessEqual(self.looks_within(60), 61)

    def test_one_that_was_just_missed_is_looked_for_at_once(self) -> None:
        self.assertEqual(0.0, self.loop._look())
        self.assertEqual(0.01, self.loop._look())
        self.assertEqual(0.02, self.loop._look())

    def test_pauses_begin_again_after_something_was_claimed(self) -> None:
        self.looks_within(3)
        self.claims.free = ['a']
        self.assertEqual(0.0, self.loop._look())
        self.assertEqual(0.0, self.loop._look())
        self.assertEqual(0.01, self.loop._look())

    def test_pauses_begin_again_once_nothing_is_due(self) -> None:
        self.looks_within(3)
        self.claims.due = NOW + datetime.timedelta(seconds=2)
        self.assertEqual(2.0, self.loop._look())
        self.claims.due = None
        self.assertEqual(5.0, self.loop._look())
        self.claims.due = NOW
        self.assertEqual(0.0, self.loop._look())

    def test_a_wake_up_is_not_kept_waiting(self) -> None:
        self.looks_within(3)
        self.loop._look_at = math.inf
        self.loop._look_within(1000)
        self.loop.wake()
        self.assertLessEqual(self.loop._look_at, time.monotonic())
