# SPDX-License-Identifier: Apache-2.0

"""A simulated cloud in memory, for tests of settings that only it has."""

from __future__ import annotations

import datetime

from climate import simulator
from climate.clock import ManualClock
from tests.base import TestCase

NOW = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)


class MemoryCase(TestCase):
    """A simulated cloud in memory with a clock that stands still.

    :cvar hypervisors: how many it has
    """

    hypervisors = 2

    def setUp(self) -> None:
        super().setUp()
        self.clock = ManualClock(NOW)
        self.cloud = self.closing(simulator.SimulatedCloud(simulator.MEMORY, clock=self.clock))
        if self.hypervisors:
            self.cloud.seed(self.hypervisors)
