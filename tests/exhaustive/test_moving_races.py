# SPDX-License-Identifier: Apache-2.0

"""The same races again and again, with two and with eight processes."""

from __future__ import annotations

import itertools

from tests import base
from tests import services
from tests.functional.planner_scenarios import PlannerScenarios

WAYS = ('create', 'create too', 'extend', 'advance', 'delete', 'take', 'flexible', 'plan')
ROUNDS = 20


@services.on_each_engine(base.TestCase)
class _MovingRaces(PlannerScenarios):
    """Four hosts."""

    def test_two_rebind(self) -> None:
        for pair in itertools.combinations(WAYS, 2):
            self.rebinds(*pair)

    def test_eight_rebind(self) -> None:
        for _ in range(ROUNDS):
            self.rebinds(*WAYS)

    def test_others_give_way(self) -> None:
        for number in (2, 8) * ROUNDS:
            self.displaces(number)

    def test_planners_move(self) -> None:
        for number in (2, 8) * ROUNDS:
            self.plans(number)

    def test_leases_become_longer_and_shorter(self) -> None:
        for number in (2, 8) * ROUNDS:
            self.changes(number)

    def test_two_yields(self) -> None:
        self.yields(2)

    def test_eight_yields(self) -> None:
        self.yields(8)
