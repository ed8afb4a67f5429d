# SPDX-License-Identifier: Apache-2.0

"""Many histories of what plans decide."""

from __future__ import annotations

from typing import Any

import hypothesis

from tests.unit.booking import test_plans


class ManyHistoriesTest(test_plans.HistoryCase):
    """Thousands instead of some."""

    @hypothesis.settings(max_examples=4000)
    @hypothesis.given(**test_plans.HISTORIES)
    def test_each_plan_is_right(self, pause: int, steps: list[Any], fails: list[bool]) -> None:
        self.check_history(pause, steps, fails)
