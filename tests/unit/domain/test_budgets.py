# SPDX-License-Identifier: Apache-2.0

"""What is left of what a request may cost."""

from __future__ import annotations

from climate import exceptions
from climate.domain.budgets import BudgetLimits
from climate.domain.budgets import RequestBudget
from climate.domain.budgets import UNLIMITED
from tests import base


class BudgetTest(base.TestCase):
    """A budget with clocks of its own."""

    def setUp(self) -> None:
        super().setUp()
        self.processor = self.ticks = 0.0

    def budget(self, processor: float = 1, transactions: float = 10) -> RequestBudget:
        limits = BudgetLimits(processor_seconds=processor, transaction_seconds=transactions)
        return RequestBudget(
            limits, lambda: self.processor, lambda: self.ticks, exceptions.RequirementsTooSlow
        )

    def test_processor_time(self) -> None:
        budget = self.budget()
        self.processor += 0.75
        budget.check()
        self.assertEqual(0.25, budget.left)
        self.processor += 0.25
        self.assertTrue(budget.spent)
        self.assertRaises(exceptions.RequirementsTooSlow, budget.check)

    def test_time_outside_transactions_does_not_count(self) -> None:
        budget = self.budget()
        self.ticks += 100
        budget.check()

    def test_all_transactions_count_together(self) -> None:
        budget = self.budget()
        for seconds in (6, 3):
            with budget.transaction():
                self.ticks += seconds
        self.ticks += 100
        budget.check()
        with budget.transaction():
            # One within another is the same time.
            with budget.transaction():
                budget.check()
                self.ticks += 1
            self.assertRaises(exceptions.RequirementsTooSlow, budget.check)
        self.assertRaises(exceptions.RequirementsTooSlow, budget.check)

    def test_what_serves_all_requests_does_not_count(self) -> None:
        budget = self.budget()
        with budget.transaction():
            with budget.for_all():
                self.processor += 50
                self.ticks += 50
            self.assertEqual(1, budget.left)

    def test_without_limits(self) -> None:
        with UNLIMITED.transaction(), UNLIMITED.for_all():
            UNLIMITED.check()
        self.assertFalse(UNLIMITED.spent)
