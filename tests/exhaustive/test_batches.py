# SPDX-License-Identifier: Apache-2.0

"""Leases that managers process in batches, on all engines and with users who interfere."""

from __future__ import annotations

import collections
import contextlib
import datetime
import random

from climate import exceptions
from climate.clock import SystemClock
from climate.domain.leases import Lease
from climate.domain.requests import LeaseChange
from climate.manager.service import ManagerOptions
from tests import base
from tests import services
from tests.functional.manager import harness
from tests.functional.manager import test_batches
from tests.functional.manager import test_service
from tests.functional.processes import until
from tests.threads import together

LEASES = 24
USERS = 3


@services.on_each_engine(base.TestCase, 'TestOn', engines=services.DATABASE_SERVERS)
class _OtherStories(test_batches.OtherStories):
    """On servers."""


@services.on_each_engine(test_service.ManagerCase, 'TestUsersOn')
class _Users:
    """Two managers and some users work on the same leases; deadlocks are repeated."""

    def act(self, leases: list[Lease], seed: int) -> None:
        """Rename and prolong leases at random, and finally delete them."""
        rng = random.Random(seed)
        for number in range(4 * len(leases)):
            lease = rng.choice(leases)
            change = LeaseChange(name=f'name {number}', grain=datetime.timedelta(0))
            if rng.random() < 0.5:
                end = lease.period.end + datetime.timedelta(seconds=number)
                change = LeaseChange(end=end, grain=datetime.timedelta(0))
            with contextlib.suppress(exceptions.Conflict, exceptions.InvalidState):
                self.site.leases.update(harness.CALLER, lease.id, harness.PROJECT, change)
        for lease in leases:
            self.site.delete(lease)

    def test_users_interfere(self) -> None:
        self.site = self.useFixture(
            harness.Site(self.site.settings, self.kind, hosts=LEASES, clock=SystemClock())
        )
        leases = [self.create(1) for _ in range(LEASES)]
        for _ in range(2):
            self.start(ManagerOptions(workers=16, max_sleep=0.1, claim_seconds=30.0))
        together(lambda number: self.act(leases[number::USERS], number), range(USERS))
        for lease in leases:
            until('it is gone', lambda lease=lease: self.site.status(lease) == 'gone', 60)
        until('all notifications are sent', lambda: not self.site.waiting())
        for lease in leases:
            notified = collections.Counter(self.site.bus.received(lease))
            self.assertEqual((1, 1), (notified['create'], notified['delete']), notified)
            self.assertLessEqual(notified['start_lease'], 1)
            self.assertEqual([], self.site.allocations(lease))
        self.assertEqual(LEASES, len(self.site.pooled()))
        self.assertEqual([], harness.twice(self.site.bus.taken))
