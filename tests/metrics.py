# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""A recorder for tests of what is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import fixtures

from climate.metrics import recording
from climate.metrics.catalogue import MetricSpec


class RecordedMetrics(fixtures.Fixture):
    """Records into lists while it is in use.

    :ivar found: name, labels and value of what was recorded, in order
    """

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple[str, ...], float]] = []

    def _setUp(self) -> None:
        recording.use(self)
        self.addCleanup(recording.use)

    def count(self, metric: MetricSpec, labels: Sequence[str], number: float) -> None:
        """Record an addition to a counter."""
        if len(labels) != len(metric.labels):
            raise ValueError(f'{metric.name} has other labels')
        self.found.append((metric.name, tuple(labels), number))

    observe = set = count

    def of(self, metric: MetricSpec) -> list[Any]:
        """Return the labels and value of each record of a metric."""
        return [(*labels, value) for name, labels, value in self.found if name == metric.name]

    def labels(self, metric: MetricSpec) -> list[tuple[str, ...]]:
        """Return the labels of each record of a metric."""
        return [labels for name, labels, _ in self.found if name == metric.name]
