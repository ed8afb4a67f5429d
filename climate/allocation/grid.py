# SPDX-License-Identifier: Apache-2.0

"""The steps of step functions in consecutive intervals.

Most resources are used in several classes at the same times. What depends on the times
only is computed once for all of them.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from climate.allocation.buckets import Buckets
from climate.allocation.steps import Ints
from climate.allocation.steps import StepFunctions


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Grid:
    """Where step functions may have another highest level than in the interval before.

    :ivar rows: of each such interval, in ascending order
    :ivar columns: its number, in ascending order within a row; each row has the first one
    """

    rows: Ints
    columns: Ints
    _keys: Ints
    # The places of the steps, and among them those of the first of each interval with steps.
    _places: Ints
    _first: Ints
    # Whether the level at the end of the interval before reaches into it: 1 or 0.
    _reaches: Ints
    # How many intervals one with steps stands for, and which are those after it.
    _counts: Ints
    _open: Ints
    _after: Ints

    @classmethod
    def of(cls, function: StepFunctions, buckets: Buckets) -> Grid:
        """Return the intervals of step functions."""
        begin = max(buckets.start, buckets.since)
        places, rows, times = function.within(begin, buckets.end)
        # One number for row and column; that of the last column of a row is not used.
        cells = rows * (buckets.number + 1) + (times - buckets.start) // buckets.width
        other = np.ones(len(cells), dtype=np.bool_)
        other[1:] = cells[1:] != cells[:-1]
        first = np.flatnonzero(other)
        cells, rows, times = cells[first], rows[first], times[first]
        columns = cells - rows * (buckets.number + 1)
        # Nothing reaches into the first interval, or past a step at the very beginning.
        reaches = (columns > 0) & (times > buckets.start + columns * buckets.width)
        # The last level holds from the next interval on, unless that has steps itself.
        holds = np.ones(len(cells), dtype=np.bool_)
        holds[:-1] = cells[1:] != cells[:-1] + 1
        counts = 1 + holds
        after = (np.cumsum(counts) - 1)[holds]
        columns = np.repeat(columns, counts)
        columns[after] += 1
        return cls(
            rows=np.repeat(rows, counts),
            columns=columns,
            _keys=function.keys,
            _places=places,
            _first=first,
            _reaches=reaches.astype(np.int64),
            _counts=counts,
            _open=np.flatnonzero(holds),
            _after=after,
        )

    def fits(self, function: StepFunctions) -> bool:
        """Whether step functions have their steps at the same times."""
        return np.array_equal(self._keys, function.keys)

    def highest(self, function: StepFunctions) -> Ints:
        """Return the highest level of each row within each interval, from that interval on.

        :param function: one that :meth:`fits`, with no level below 0
        """
        if not len(self._first):
            return self._first
        levels = function.levels[self._places]
        ends = levels[np.append(self._first[1:], len(levels)) - 1]
        carried = self._reaches.copy()
        carried[1:] *= ends[:-1]
        values = np.repeat(
            np.maximum(np.maximum.reduceat(levels, self._first), carried), self._counts
        )
        values[self._after] = ends[self._open]
        return values
