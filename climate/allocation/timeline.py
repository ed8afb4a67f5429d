# SPDX-License-Identifier: Apache-2.0

"""Periods in time: what is busy, what is free, and the peak of overlapping use."""

from __future__ import annotations

import datetime
from collections.abc import Iterable

from climate.domain.periods import Period


def merge(periods: Iterable[Period]) -> tuple[Period, ...]:
    """Join periods that overlap or touch; the result is in order and disjoint."""
    merged: list[Period] = []
    for period in sorted(periods):
        if merged and period.start <= merged[-1].end:
            end = max(merged[-1].end, period.end)
            merged[-1] = Period(start=merged[-1].start, end=end)
        else:
            merged.append(period)
    return tuple(merged)


def busy_within(window: Period, busy: Iterable[Period]) -> tuple[Period, ...]:
    """Return the parts of *busy* inside *window*, merged."""
    return merge(_clip(period, window) for period in busy if period.overlaps(window))


def free(window: Period, busy: Iterable[Period]) -> tuple[Period, ...]:
    """Return the parts of *window* that no period of *busy* covers."""
    gaps: list[Period] = []
    start = window.start
    for period in busy_within(window, busy):
        if start < period.start:
            gaps.append(Period(start=start, end=period.start))
        start = period.end
    if start < window.end:
        gaps.append(Period(start=start, end=window.end))
    return tuple(gaps)


def peak(uses: Iterable[tuple[Period, int]], window: Period) -> int:
    """Return the largest amount in use at one instant of *window*; 0 if there is none.

    A use that ends at the instant at which another starts does not overlap with it.

    :param uses: each a period and the units in use throughout it (0 or more)
    """
    steps: list[tuple[datetime.datetime, int]] = []
    for period, amount in uses:
        if period.overlaps(window):
            steps.append((period.start, amount))
            steps.append((period.end, -amount))
    # At one instant the negative steps sort first: ends before starts. Uses that
    # extend beyond the window need no clipping: all of them hold at the edge that
    # they cross, so the sum outside is never larger than the one at that edge.
    most = level = 0
    for _, amount in sorted(steps):
        level += amount
        most = max(most, level)
    return most


def _clip(period: Period, window: Period) -> Period:
    return Period(start=max(period.start, window.start), end=min(period.end, window.end))
