# SPDX-License-Identifier: Apache-2.0

"""Planners that die at any statement, and others that go on."""

from __future__ import annotations

import contextlib
import itertools
from typing import Any

import sqlalchemy as sa

from climate.testing.deployment import at
from climate.upkeep.planning import Planner
from tests import base
from tests.functional import race_case
from tests.functional.manager.harness import Site

# Each scenario is in a day of its own.
_DAY = 86400


class Gone(Exception):
    """The process is gone."""


class TestKilledPlanners(base.TestCase):
    """A deployment with three hosts."""

    def setUp(self) -> None:
        super().setUp()
        self.site = self.useFixture(Site())
        self.left, self.dead = 0, False
        for name in ('before_cursor_execute', 'commit'):
            sa.event.listen(self.site.store.engine, name, self.count)

    def count(self, *_: Any) -> None:
        """Let the process die at the last of some statements: no other comes through."""
        self.left -= 1
        self.dead = self.dead or self.left == 0
        if self.dead:
            raise Gone('the process is gone')

    def test_another_goes_on(self) -> None:
        for number in itertools.count(1):
            if not self.dies_at(number):
                break
        self.assertGreater(number, 30)

    def dies_at(self, number: int) -> bool:
        """Let a planner die at a statement, and check what another makes of it.

        :returns: whether it had so many statements
        """
        site, day = self.site, number * _DAY
        fixed = site.create(day, day + 7200, hosts=3)
        window = {'hosts': 3, 'earliest': at(day)}
        moves = site.create(day, day + 1200, **window)
        site.clock.advance(0.001)
        latest = at(day + 7200)
        waits = site.create(day, day + 1200, **window, latest=latest, waits=True)
        self.assertEqual((at(day + 7200), 'WAITING'), (moves.period.start, site.status(waits)))
        site.delete(fixed)
        self.left = number
        # What becomes of it does not matter.
        with contextlib.suppress(Exception):
            Planner(site.leases).round()
        killed, self.left, self.dead = self.dead, 0, False
        self.assertEqual(0, race_case.overlaps(site.store))
        other = Planner(site.leases)
        other.round()
        self.assertEqual(0, other.round())
        self.assertEqual(0, race_case.overlaps(site.store))
        found = [site.now(one) for one in (moves, waits)]
        starts = [at(day), at(day + 1200)]
        self.assertEqual(starts, [one.period.start for one in found])
        self.assertEqual(['PENDING'] * 2, [one.status.value for one in found])
        for one in found:
            self.assertEqual({one.period}, {item.period for item in site.allocations(one)}, number)
            site.delete(one)
        return killed
