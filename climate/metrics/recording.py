# SPDX-License-Identifier: Apache-2.0

"""Records what happens, for all threads of the process.

Metrics belong to the process, as logs do, so callers need no object. Without a recorder
each function is an empty loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from climate.metrics.catalogue import MetricSpec


class Recorder(Protocol):
    """Receives what is recorded. Thread-safe, and never raises."""

    def count(self, metric: MetricSpec, labels: Sequence[str], number: float) -> None:
        """Add to a counter."""

    def observe(self, metric: MetricSpec, labels: Sequence[str], value: float) -> None:
        """Add a value to a histogram."""

    def set(self, metric: MetricSpec, labels: Sequence[str], value: float) -> None:
        """Set a gauge."""


_recorders: tuple[Recorder, ...] = ()


def use(*recorders: Recorder) -> None:
    """Replace all recorders of the process; without an argument, record nothing."""
    global _recorders  # noqa: PLW0603 - metrics belong to the process, as logs do
    _recorders = recorders


def enabled() -> bool:
    """Whether anything is recorded."""
    return bool(_recorders)


def count(metric: MetricSpec, *labels: str, number: float = 1) -> None:
    """Add to a counter.

    :param labels: values of the labels of *metric*, in its order
    """
    for recorder in _recorders:
        recorder.count(metric, labels, number)


def observe(metric: MetricSpec, value: float, *labels: str) -> None:
    """Add a value to a histogram, such as a duration in seconds.

    :param labels: values of the labels of *metric*, in its order
    """
    for recorder in _recorders:
        recorder.observe(metric, labels, value)


def assign(metric: MetricSpec, value: float, *labels: str) -> None:
    """Set a gauge.

    :param labels: values of the labels of *metric*, in its order
    """
    for recorder in _recorders:
        recorder.set(metric, labels, value)
