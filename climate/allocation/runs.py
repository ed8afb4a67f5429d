# SPDX-License-Identifier: Apache-2.0

"""Periods in which something is in use."""

from __future__ import annotations

import dataclasses

import numpy as np

from climate.allocation.steps import BITS
from climate.allocation.steps import Ints
from climate.allocation.steps import LATEST
from climate.allocation.steps import StepFunctions


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Runs:
    """Intervals of rows, in the order of rows and times; arrays of one length."""

    rows: Ints
    starts: Ints
    ends: Ints


def runs(function: StepFunctions, start: int, end: int) -> Runs:
    """Return the longest intervals in which each row is above 0.

    :param function: step functions with no level below 0
    :returns: those that overlap with the time between *start* and *end*, which cuts them off
    """
    # Each row begins and ends at 0, so one change up and one change down alternate.
    busy = function.levels > 0
    changes = np.flatnonzero(busy[1:] != busy[:-1]) + 1
    begins, stops = function.keys[changes[::2]], function.keys[changes[1::2]]
    starts, ends = begins & LATEST, stops & LATEST
    within = (starts < end) & (ends > start)
    return Runs(
        rows=begins[within] >> BITS,
        starts=np.maximum(starts[within], start),
        ends=np.minimum(ends[within], end),
    )
