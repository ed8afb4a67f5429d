# SPDX-License-Identifier: Apache-2.0

"""Processes die at each statement of displacement, rebinding, yields and plans."""

from __future__ import annotations

from tests import services
from tests.functional.manager import killed_planners
from tests.functional.manager import test_killed_planners


@services.on_each_engine(test_killed_planners.TestKilledPlanners, engines=services.DATABASE_SERVERS)
class _KilledPlanners:
    """On database servers, where others see what has been committed."""


@services.on_each_engine(killed_planners.KilledPlanners, 'TestYields')
class _KilledManagers:
    """Managers that have leases yield."""

    def test_yields(self) -> None:
        self.walk(self.yields, 30)
