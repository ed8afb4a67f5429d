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

"""Intervals in which the levels of step functions are above a limit, or not."""

from __future__ import annotations

import dataclasses

import numpy as np

from climate.allocation.steps import Ints
from climate.allocation.steps import StepFunctions


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Runs:
    """Intervals of rows, in the order of rows and times; arrays of one length."""

    rows: Ints
    starts: Ints
    ends: Ints


def runs(
    function: StepFunctions, limits: Ints, start: int, end: int, *, above: bool = False
) -> Runs:
    """Return the longest intervals in which each row is not above its limit.

    :param limits: the limit of each row
    :param above: return those in which it is above its limit instead
    :returns: intervals between *start* and *end*, which cut off those that go beyond
    """
    rows, times, levels = function.steps(start, end)
    inside = (levels > limits[rows]) if above else (levels <= limits[rows])
    heads = np.diff(rows, prepend=-1) > 0
    before = np.append(False, inside[:-1]) & ~heads
    begins = np.flatnonzero(inside & ~before)
    # It ends at the next step that is not inside, or that is of another row.
    stops = np.append(np.flatnonzero(~inside | heads), len(rows))
    ends = stops[np.searchsorted(stops, begins, 'right')]
    in_row = np.append(~heads, False)[ends]
    return Runs(
        rows=rows[begins],
        starts=times[begins],
        ends=np.where(in_row, np.append(times, end)[ends], end),
    )
