# SPDX-License-Identifier: Apache-2.0

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
