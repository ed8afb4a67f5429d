# SPDX-License-Identifier: Apache-2.0

"""Leases that wait for room: managers book them, start them, or end them in time."""

from __future__ import annotations

from climate.domain.leases import Lease
from climate.testing.deployment import at
from climate.upkeep.planning import Planner
from tests import base
from tests.functional.manager.harness import Site


class TestWaitingLeases(base.TestCase):
    """A deployment with three hosts, all of which one lease has."""

    def setUp(self) -> None:
        super().setUp()
        self.site = self.useFixture(Site())
        self.planner = Planner(self.site.leases)
        self.fixed = self.site.create(3600, 9000, hosts=3)

    def wait(self, latest: float) -> Lease:
        """Request all hosts for 20 minutes, from the start of the other lease on."""
        return self.site.create(
            3600, 4800, hosts=3, earliest=at(3600), latest=at(latest), waits=True
        )

    def test_it_is_booked_and_lives_as_any_other(self) -> None:
        lease = self.wait(8000)
        self.assertEqual('WAITING', self.site.status(lease))
        self.assertEqual([], self.site.allocations(lease))
        self.site.delete(self.fixed)
        self.assertEqual(1, self.planner.round())
        self.assertEqual('PENDING', self.site.status(lease))
        self.assertEqual('ACTIVE', self.site.status_at(3700, lease))
        self.assertEqual('TERMINATED', self.site.status_at(4900, lease))

    def test_it_ends_when_it_is_too_late(self) -> None:
        lease = self.wait(8000)
        self.site.until(6900)
        self.assertEqual(1, self.planner.round())
        self.site.work()
        ended = self.site.now(lease)
        self.assertEqual(
            ('TERMINATED', 'There was no room for it in time'), (ended.status, ended.end_reason)
        )
        self.assertEqual(0, self.planner.round())
        self.site.delete(lease)
