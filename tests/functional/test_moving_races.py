# SPDX-License-Identifier: Apache-2.0

"""Leases get other hosts, move, yield and change while others want the same."""

from __future__ import annotations

from tests import base
from tests import services
from tests.functional.planner_scenarios import PlannerScenarios


@services.on_each_engine(base.TestCase, engines=services.DATABASE_SERVERS)
class _MovingRaces(PlannerScenarios):
    """Each race once; the exhaustive lane has more."""

    def test_each_race(self) -> None:
        self.rebinds('create', 'take')
        self.rebinds(
            'create', 'create too', 'extend', 'advance', 'delete', 'take', 'flexible', 'plan'
        )
        self.displaces(8)
        self.plans(2)
        self.changes(8)
        self.yields(8)
