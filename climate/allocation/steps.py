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

"""How much of each resource is in use over time: step functions in numpy arrays.

A step function has a level at each instant, which changes only where something starts
or ends. Periods are half-open: what ends at an instant is not in use at it. All
functions of one :class:`StepFunctions` are computed together, one *row* each, without
a loop in Python.

Times are whole microseconds since 1970 in UTC (:func:`microseconds`).
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy import typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

# A key holds a row and a time, so that one sorted array holds all steps and one binary
# search finds the position of an instant in a row.
_BITS: Final = 54
_MASK: Final = (1 << _BITS) - 1

LATEST: Final = _MASK
"""The last representable time, in the year 2540; later times are cut off there."""

MOST_ROWS: Final = 1 << 8
"""The number of rows that a :class:`StepFunctions` can have."""

_EPOCH: Final = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MICROSECOND: Final = datetime.timedelta(microseconds=1)


def microseconds(instant: datetime.datetime) -> int:
    """Return an aware instant as whole microseconds since 1970, cut off at :data:`LATEST`."""
    return min(max((instant - _EPOCH) // _MICROSECOND, 0), LATEST)


def instant(time: int) -> datetime.datetime:
    """Return the aware instant (UTC) of a number of microseconds since 1970."""
    return _EPOCH + time * _MICROSECOND


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Uses:
    """Periods in which rows are in use; arrays of one length.

    :ivar rows: the row of each
    :ivar starts: in microseconds since 1970
    :ivar ends: likewise, each after its start
    :ivar amounts: units; negative ones remove what another use adds
    """

    rows: Ints
    starts: Ints
    ends: Ints
    amounts: Ints

    @classmethod
    def of(cls, found: Sequence[tuple[int, int, int, int]]) -> Uses:
        """Return the uses of a list of (row, start, end, amount)."""
        table = np.array(found, dtype=np.int64).reshape(-1, 4)
        return cls(rows=table[:, 0], starts=table[:, 1], ends=table[:, 2], amounts=table[:, 3])


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Runs:
    """Intervals of rows, in the order of rows and times; arrays of one length."""

    rows: Ints
    starts: Ints
    ends: Ints


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class StepFunctions:
    """Step functions that begin and end at level 0; immutable.

    :ivar count: the number of rows
    :ivar keys: the row and time of each step in order, between a sentinel before the
        first row and one after the last
    :ivar levels: the level from each step on
    """

    count: int
    keys: Ints
    levels: Ints

    @classmethod
    def of(cls, count: int, uses: Uses) -> StepFunctions:
        """Return the sum of *uses* for each of *count* rows.

        :raises ValueError: if there are more than :data:`MOST_ROWS` rows
        """
        if count > MOST_ROWS:
            raise ValueError(f'at most {MOST_ROWS} rows, got {count}')
        base = uses.rows << _BITS
        keys = np.concatenate((base + uses.starts, base + np.minimum(uses.ends, LATEST)))
        return _summed(count, keys, np.concatenate((uses.amounts, -uses.amounts)))

    def plus(self, uses: Uses) -> StepFunctions:
        """Return these functions with *uses* added."""
        base = uses.rows << _BITS
        steps = np.diff(self.levels[:-1])
        return _summed(
            self.count,
            np.concatenate(
                (self.keys[1:-1], base + uses.starts, base + np.minimum(uses.ends, LATEST))
            ),
            np.concatenate((steps, uses.amounts, -uses.amounts)),
        )

    def replacing(self, rows: Ints, uses: Uses) -> StepFunctions:
        """Return these functions with those of *rows* replaced by the sum of *uses*."""
        stays = ~np.isin(self.keys[1:-1] >> _BITS, rows)
        steps = np.diff(self.levels[:-1])
        kept = StepFunctions(
            count=self.count,
            keys=_fenced(self.keys[1:-1][stays], self.count),
            levels=_padded(np.cumsum(steps[stays])),
        )
        return kept.plus(uses)

    # -- levels

    @property
    def is_zero(self) -> bool:
        """Whether no row is ever in use."""
        return len(self.keys) == 2

    def peaks(self, start: int, end: int) -> Ints:
        """Return the highest level of each row between *start* and *end*, half-open."""
        return self._extremes(np.maximum, start, end)

    def lows(self, start: int, end: int) -> Ints:
        """Return the lowest level of each row between *start* and *end*, half-open."""
        return self._extremes(np.minimum, start, end)

    def _extremes(self, extreme: np.ufunc, start: int, end: int) -> Ints:
        if not self.count:
            return np.zeros(0, dtype=np.int64)
        first, beyond = self._positions(start, end)
        places = np.column_stack((first, beyond)).ravel()
        found: Ints = extreme.reduceat(self.levels, places)[::2]
        return found

    def between(self, start: int, width: int, number: int) -> tuple[Ints, Ints]:
        """Return the lowest and the highest level of each row in intervals of one width.

        :param start: of the first interval
        :param width: of each interval, in microseconds
        :param number: of intervals
        :returns: two arrays with a row for each row and a column for each interval
        """
        if not self.count:
            empty = np.zeros((0, number), dtype=np.int64)
            return empty, empty
        # The first step of each row is at the start, so each interval has one before.
        rows, times, levels = self._steps(start, start + number * width)
        columns = (times - start) // width
        cells = rows * number + columns
        first = np.flatnonzero(np.diff(cells, prepend=-1))
        last = np.zeros(self.count * number, dtype=np.int64)
        last[cells[first]] = np.append(first[1:], len(cells)) - 1
        latest = np.maximum.accumulate(last.reshape(self.count, number), axis=1)
        carried = np.empty((self.count, number), dtype=np.int64)
        carried[:, 0] = levels[np.searchsorted(rows, np.arange(self.count))]
        carried[:, 1:] = levels[latest[:, :-1]]
        # A step at the very beginning of an interval replaces what is carried into it.
        exact = first[times[first] == start + columns[first] * width]
        carried.reshape(-1)[cells[exact]] = levels[exact]
        lows, peaks = carried.copy(), carried
        for found, extreme in ((lows, np.minimum), (peaks, np.maximum)):
            flat = found.reshape(-1)
            flat[cells[first]] = extreme(flat[cells[first]], extreme.reduceat(levels, first))
        return lows, peaks

    # -- intervals

    def runs(self, limits: Ints, start: int, end: int, *, above: bool = False) -> Runs:
        """Return the longest intervals in which each row is not above its limit.

        :param limits: the limit of each row
        :param above: return those in which it is above its limit instead
        :returns: intervals between *start* and *end*, which cut off those that go beyond
        """
        rows, times, levels = self._steps(start, end)
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

    def last_before(self, time: int) -> Ints:
        """Return when each row changed for the last time up to *time*; -1 if never."""
        first, _ = self._positions(time, time + 1)
        return self._times_at(first)

    def first_from(self, time: int) -> Ints:
        """Return when each row changes for the first time from *time* on; -1 if never."""
        beyond = np.searchsorted(self.keys, self._base() + time, 'left')
        return self._times_at(beyond)

    def _times_at(self, places: Ints) -> Ints:
        keys = self.keys[places]
        return np.where(keys >> _BITS == np.arange(self.count), keys & _MASK, -1)

    def _base(self) -> Ints:
        return np.arange(self.count, dtype=np.int64) << _BITS

    def _positions(self, start: int, end: int) -> tuple[Ints, Ints]:
        """Return the place of each row's last step up to *start*, and of the first from *end* on.

        The last step may be one of an earlier row, which left it at level 0.
        """
        base = self._base()
        first = np.searchsorted(self.keys, base + start, 'right') - 1
        beyond = np.searchsorted(self.keys, base + end, 'left')
        return first, beyond

    def _steps(self, start: int, end: int) -> tuple[Ints, Ints, Ints]:
        """Return row, time and level of each step from *start* on, before *end*.

        The first of each row is at *start*.
        """
        first, beyond = self._positions(start, end)
        lengths = beyond - first
        heads = np.cumsum(lengths) - lengths
        places = np.arange(int(lengths.sum())) + np.repeat(first - heads, lengths)
        rows = np.repeat(np.arange(self.count, dtype=np.int64), lengths)
        times = self.keys[places] & _MASK
        times[heads] = start
        return rows, times, self.levels[places]


def _summed(count: int, keys: Ints, steps: Ints) -> StepFunctions:
    """Return the functions with these steps, which may coincide and are in no order."""
    order = np.argsort(keys, kind='stable')
    keys, steps = keys[order], steps[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    keys = keys[first]
    steps = np.add.reduceat(steps, first) if len(first) else steps
    real = steps != 0
    # The steps of each row add up to 0, so the sum over all rows is the level in the row.
    return StepFunctions(
        count=count, keys=_fenced(keys[real], count), levels=_padded(np.cumsum(steps[real]))
    )


def _fenced(keys: Ints, count: int) -> Ints:
    return np.concatenate(([-1], keys, [count << _BITS]))


def _padded(levels: Ints) -> Ints:
    return np.concatenate(([0], levels, [0]))
