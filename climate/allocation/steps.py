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
from collections import Counter
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy import typing as npt

from climate.allocation import step_changes
from climate.allocation.cells import Cells

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

# A key holds a row and a time, so that one sorted array holds all steps and one binary
# search finds the position of an instant in a row.
BITS: Final = 54
_MASK: Final = (1 << BITS) - 1

LATEST: Final = _MASK
"""The last representable time, in the year 2540; later times are cut off there."""

# The most cells to compute at once; their arrays are smaller than what the C library
# returns to the system when it is freed.
_CELLS: Final = 1 << 15

# So many uses are added one by one.
_FEW: Final = 4

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

    @classmethod
    def joined(cls, found: Sequence[Uses]) -> Uses:
        """Return all uses of some; there is at least one."""
        return cls(
            rows=np.concatenate([uses.rows for uses in found]),
            starts=np.concatenate([uses.starts for uses in found]),
            ends=np.concatenate([uses.ends for uses in found]),
            amounts=np.concatenate([uses.amounts for uses in found]),
        )

    def __len__(self) -> int:
        return len(self.rows)

    def where(self, which: Bools) -> Uses:
        """Return those for which *which* is true."""
        return Uses(
            rows=self.rows[which],
            starts=self.starts[which],
            ends=self.ends[which],
            amounts=self.amounts[which],
        )

    def counted(self) -> Uses:
        """Return them with an amount of 1 each."""
        return dataclasses.replace(self, amounts=np.ones_like(self.amounts))

    def negative(self) -> Uses:
        """Return what removes them."""
        return dataclasses.replace(self, amounts=-self.amounts)

    def replacing(self, rows: Ints, new: Uses) -> Uses:
        """Return them with those of some rows replaced."""
        return Uses.joined([self.where(~_among(rows)[self.rows]), new])

    def less(self, gone: Uses) -> Uses:
        """Return them without one for each that is *gone*."""
        left = Counter(gone.each())
        stays = np.ones(len(self), dtype=np.bool_)
        for place, one in enumerate(self.each() if left else ()):
            if left[one] > 0:
                left[one] -= 1
                stays[place] = False
        return self.where(stays)

    def picked(self, rows: Ints) -> Uses:
        """Return those of some rows, numbered by their place in *rows*, which is in order."""
        mine = self.where(np.isin(self.rows, rows))
        return dataclasses.replace(mine, rows=np.searchsorted(rows, mine.rows))

    def each(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield row, start, end and amount of each."""
        columns = (self.rows, self.starts, self.ends, self.amounts)
        return zip(*(column.tolist() for column in columns), strict=True)


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
        base = uses.rows << BITS
        keys = np.concatenate((base + uses.starts, base + np.minimum(uses.ends, LATEST)))
        return _summed(count, keys, np.concatenate((uses.amounts, -uses.amounts)))

    def plus(self, uses: Uses) -> StepFunctions:
        """Return these functions with *uses* added."""
        if len(uses) <= _FEW:
            return self._plus_few(uses)
        base = uses.rows << BITS
        steps = np.diff(self.levels[:-1])
        return _summed(
            self.count,
            np.concatenate(
                (self.keys[1:-1], base + uses.starts, base + np.minimum(uses.ends, LATEST))
            ),
            np.concatenate((steps, uses.amounts, -uses.amounts)),
        )

    def _plus_few(self, uses: Uses) -> StepFunctions:
        keys, levels = self.keys, self.levels
        for row, start, end, amount in uses.each():
            base = row << BITS
            ends = base + min(end, LATEST)
            keys, levels = step_changes.raised(keys, levels, base + start, ends, amount)
        return StepFunctions(count=self.count, keys=keys, levels=levels)

    def replacing(self, rows: Ints, uses: Uses) -> StepFunctions:
        """Return these functions with those of *rows* replaced by the sum of *uses*."""
        if self.is_zero:
            return self.plus(uses)
        stays = ~_among(rows)[self.keys[1:-1] >> BITS]
        # Each row ends at level 0, so those that stay keep their levels.
        kept = StepFunctions(
            count=self.count,
            keys=_fenced(self.keys[1:-1][stays], self.count),
            levels=_padded(self.levels[1:-1][stays]),
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
        if not self.count or self.is_zero:
            return np.zeros(self.count, dtype=np.int64)
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
        lows, peaks = self._extremes_between((np.minimum, np.maximum), start, width, number)
        return lows, peaks

    def peaks_between(self, start: int, width: int, number: int) -> Ints:
        """Return only the highest levels of :meth:`between`, which is faster."""
        (peaks,) = self._extremes_between((np.maximum,), start, width, number)
        return peaks

    def _extremes_between(
        self, extremes: Sequence[np.ufunc], start: int, width: int, number: int
    ) -> list[Ints]:
        found = [np.empty((self.count, number), dtype=np.int64) for _ in extremes]
        for first, part in self.split(max(_CELLS // max(number, 1), 1)):
            cells = part._cells(start, width, number)
            for each, extreme in zip(found, extremes, strict=True):
                each[first : first + part.count] = cells.extremes(extreme)
        return found

    def _cells(self, start: int, width: int, number: int) -> Cells:
        rows, times, levels = self.steps(start, start + number * width)
        columns = (times - start) // width
        cells = rows * number + columns
        first = np.flatnonzero(np.diff(cells, prepend=-1))
        return Cells(
            shape=(self.count, number),
            levels=levels,
            first=first,
            filled=cells[first],
            # A step at the very beginning of an interval replaces what is carried into it.
            exact=times[first] == start + columns[first] * width,
        )

    # -- rows

    def part(self, first: int, beyond: int) -> StepFunctions:
        """Return the functions of the rows from *first* to before *beyond*."""
        bounds = np.array([first, beyond], dtype=np.int64) << BITS
        start, end = np.searchsorted(self.keys, bounds).tolist()
        # The sentinel before the first row is -1, as in the whole.
        start, end = max(start, 1), min(end, len(self.keys) - 1)
        return StepFunctions(
            count=beyond - first,
            keys=_fenced(self.keys[start:end] - bounds[0], beyond - first),
            levels=_padded(self.levels[start:end]),
        )

    def picked(self, rows: Ints) -> StepFunctions:
        """Return the functions of some rows, in ascending order."""
        owners = self.keys[1:-1] >> BITS
        mine = np.isin(owners, rows)
        keys = (np.searchsorted(rows, owners[mine]) << BITS) + (self.keys[1:-1][mine] & _MASK)
        return StepFunctions(
            count=len(rows),
            keys=_fenced(keys, len(rows)),
            levels=_padded(self.levels[1:-1][mine]),
        )

    def split(self, size: int) -> Iterator[tuple[int, StepFunctions]]:
        """Yield the functions of *size* rows at a time, each with the first of these rows.

        Arrays of a few thousand items stay in the caches of the processor, and are
        allocated without asking the system for memory.
        """
        if size >= self.count:
            yield 0, self
            return
        for first in range(0, self.count, size):
            yield first, self.part(first, min(first + size, self.count))

    # -- changes

    def last_before(self, time: int) -> Ints:
        """Return when each row changed for the last time up to *time*; -1 if never."""
        return self._times_at(np.searchsorted(self.keys, self._base() + time, 'right') - 1)

    def first_from(self, time: int) -> Ints:
        """Return when each row changes for the first time from *time* on; -1 if never."""
        beyond = np.searchsorted(self.keys, self._base() + time, 'left')
        return self._times_at(beyond)

    def _times_at(self, places: Ints) -> Ints:
        keys = self.keys[places]
        return np.where(keys >> BITS == np.arange(self.count), keys & _MASK, -1)

    def _base(self) -> Ints:
        return np.arange(self.count, dtype=np.int64) << BITS

    def _positions(self, start: int, end: int) -> tuple[Ints, Ints]:
        """Return the place of each row's last step up to *start*, and of the first from *end* on.

        The last step may be one of an earlier row, which left it at level 0.
        """
        base = self._base()
        first = np.searchsorted(self.keys, base + start, 'right') - 1
        beyond = np.searchsorted(self.keys, base + end, 'left')
        return first, beyond

    def steps(self, start: int, end: int) -> tuple[Ints, Ints, Ints]:
        """Return row, time and level of each step from *start* on, before *end*.

        The first of each row is at *start*.
        """
        places, rows, times = self.within(start, end)
        return rows, times, self.levels[places]

    def within(self, start: int, end: int) -> tuple[Ints, Ints, Ints]:
        """Return place, row and time of each step, like :meth:`steps`."""
        first, beyond = self._positions(start, end)
        lengths = beyond - first
        heads = np.cumsum(lengths) - lengths
        places = np.arange(int(lengths.sum())) + np.repeat(first - heads, lengths)
        rows = np.repeat(np.arange(self.count, dtype=np.int64), lengths)
        times = self.keys[places] & _MASK
        times[heads] = start
        return places, rows, times


def _among(rows: Ints) -> Bools:
    """Return whether each possible row is one of *rows*."""
    found = np.zeros(MOST_ROWS, dtype=np.bool_)
    found[rows] = True
    return found


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
    return np.concatenate(([-1], keys, [count << BITS]))


def _padded(levels: Ints) -> Ints:
    return np.concatenate(([0], levels, [0]))
