# SPDX-License-Identifier: Apache-2.0

"""Planners, requests and managers that die at any statement, and others that go on."""

from __future__ import annotations

from tests.functional.manager.killed_planners import KilledPlanners


class TestKilledPlanners(KilledPlanners):
    """On SQLite; the exhaustive lane has the other engines, and managers."""

    def test_another_goes_on(self) -> None:
        self.walk(self.plans, 30)

    def test_displacement(self) -> None:
        self.walk(self.displaces, 30)

    def test_rebinding(self) -> None:
        self.walk(self.rebinds, 30)

    def test_preemption(self) -> None:
        self.walk(self.preempts, 20)
