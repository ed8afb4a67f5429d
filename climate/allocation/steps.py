# SPDX-License-Identifier: Apache-2.0

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
from typing import Any
from typing import Final

import numpy as np
from numpy import typing as npt

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

FEW: Final = 4
"""So many uses are added one by one."""

MOST_ROWS: Final = 1 << 8
"""The number of rows that a :class:`StepFunctions` can have."""

_ROWS: Final = np.arange(MOST_ROWS, dtype=np.int64)
# The keys of all rows at the time 0.
_BASES: Final = _ROWS << BITS

_NONE: Final = np.zeros(0, dtype=np.int64)

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

    def with_one(self, row: int, start: int, end: int, amount: int) -> Uses:
        """Return them with one more."""
        return Uses(
            rows=np.concatenate((self.rows, (row,))),
            starts=np.concatenate((self.starts, (start,))),
            ends=np.concatenate((self.ends, (end,))),
            amounts=np.concatenate((self.amounts, (amount,))),
        )

    def __len__(self) -> int:
        return len(self.rows)

    def where(self, which: Bools | Ints) -> Uses:
        """Return those for which *which* is true, or those at some places."""
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
        concerned = np.flatnonzero(_among(gone.rows)[self.rows])
        mine = self.where(concerned)
        for place, one in zip(concerned.tolist(), mine.each(), strict=True):
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
        if len(uses) <= FEW:
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
        functions = self
        for one in uses.each():
            functions = functions.raised(*one)
        return functions

    def raised(self, row: int, start: int, end: int, amount: int) -> StepFunctions:
        """Return these functions with one use added."""
        base = row << BITS
        keys, levels = _raised(
            self.keys, self.levels, base + start, base + min(end, LATEST), amount
        )
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
        return self._between(extreme, *self._positions(start, end))

    def around(self, start: int, end: int) -> tuple[Ints, Ints, Ints]:
        """Return :meth:`peaks`, and when each row changes last up to *start*, first from *end*.

        :returns: the times are -1 for a row that never does
        """
        if not self.count or self.is_zero:
            never = np.full(self.count, -1, dtype=np.int64)
            return np.zeros(self.count, dtype=np.int64), never, never
        first, beyond = self._positions(start, end)
        peaks = self._between(np.maximum, first, beyond)
        return peaks, self._times_at(first), self._times_at(beyond)

    def _between(self, extreme: np.ufunc, first: Ints, beyond: Ints) -> Ints:
        places = np.empty(2 * self.count, dtype=np.int64)
        places[::2], places[1::2] = first, beyond
        found: Ints = extreme.reduceat(self.levels, places)[::2]
        return found

    def between(self, start: int, width: int, number: int) -> tuple[Ints, Ints]:
        """Return the lowest and the highest level of each row in intervals of one width.

        :param start: of the first interval
        :param width: of each interval, in microseconds
        :param number: of intervals
        :returns: two arrays with a row for each row and a column for each interval
        """
        lows, peaks = np.empty((2, self.count, number), dtype=np.int64)
        for first, part in self.split(max(_CELLS // max(number, 1), 1)):
            cells = part._cells(start, width, number)
            lows[first : first + part.count] = cells.extremes(np.minimum)
            peaks[first : first + part.count] = cells.extremes(np.maximum)
        return lows, peaks

    def _cells(self, start: int, width: int, number: int) -> _Cells:
        rows, times, levels = self.steps(start, start + number * width)
        columns = (times - start) // width
        cells = rows * number + columns
        first = np.flatnonzero(np.diff(cells, prepend=-1))
        return _Cells(
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
            count=len(rows), keys=_fenced(keys, len(rows)), levels=_padded(self.levels[1:-1][mine])
        )

    @classmethod
    def gathered(cls, found: Sequence[tuple[StepFunctions | None, int]]) -> StepFunctions:
        """Return the functions of some rows of several objects, as the rows of one.

        :param found: each with its object; None for one that is never in use
        """
        keys, levels = [_NONE], [_NONE]
        for new, (function, row) in enumerate(found):
            if function is None or function.is_zero:
                continue
            first, beyond = function.keys.searchsorted((row << BITS, (row + 1) << BITS))
            keys.append(function.keys[first:beyond] + ((new - row) << BITS))
            levels.append(function.levels[first:beyond])
        count = len(found)
        return cls(
            count=count,
            keys=_fenced(np.concatenate(keys), count),
            levels=_padded(np.concatenate(levels)),
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

    def _times_at(self, places: Ints) -> Ints:
        keys = self.keys[places]
        return np.where(keys >> BITS == _ROWS[: self.count], keys & _MASK, -1)

    def _positions(self, start: int, end: int) -> tuple[Ints, Ints]:
        """Return the place of each row's last step up to *start*, and of the first from *end* on.

        The last step may be one of an earlier row, which left it at level 0.
        """
        base = _BASES[: self.count]
        # What lies later is of the next row.
        first: Ints = self.keys.searchsorted(base + min(start, LATEST - 1), 'right') - 1
        beyond: Ints = self.keys.searchsorted(base + min(end, LATEST), 'left')
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
        rows = np.repeat(_ROWS[: self.count], lengths)
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


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Cells:
    """The steps of each row in intervals of one width: a cell for each row and interval.

    :ivar shape: the number of rows and of intervals
    :ivar levels: of all steps; the first step of each row is at its first interval
    :ivar first: the place of the first step of each cell that has one
    :ivar filled: these cells, numbered row by row
    :ivar exact: whether that first step is at the very beginning of the cell
    """

    shape: tuple[int, int]
    levels: Ints
    first: Ints
    filled: Ints
    exact: Bools

    def extremes(self, extreme: np.ufunc) -> Ints:
        """Return the lowest or the highest level of each cell."""
        rows, number = self.shape
        found = np.empty((rows, number), dtype=np.int64)
        if not rows or not number:
            return found
        last = np.append(self.first[1:], len(self.levels)) - 1
        until = np.append(self.filled[1:], rows * number)
        # The level at the end of each cell is carried into the next one.
        ends = np.repeat(self.levels[last], until - self.filled).reshape(rows, number)
        found[:, 1:] = ends[:, :-1]
        own = extreme.reduceat(self.levels, self.first)
        flat = found.reshape(-1)
        flat[self.filled] = np.where(self.exact, own, extreme(flat[self.filled], own))
        return found


def _raised(keys: Ints, levels: Ints, start: int, end: int, amount: int) -> tuple[Ints, Ints]:
    """Return the keys and levels of step functions of which one has another level for a time.

    :param keys: see :class:`StepFunctions`
    :param start: the key from which on it has
    :param end: the key before which it has, of the same row
    :param amount: by how much the level is higher
    """
    if not amount or start >= end:
        return keys, levels
    first, beyond = keys.searchsorted((start, end)).tolist()
    before, last = levels[first - 1], levels[beyond - 1]
    new_keys: list[Any] = [keys[:first]]
    new_levels: list[Any] = [levels[:first]]
    skipped = first
    if keys[first] != start:
        new_keys.append((start,))
        new_levels.append((before + amount,))
    elif levels[first] + amount == before:
        # Nothing changes there any more.
        skipped += 1
    new_keys.append(keys[skipped:beyond])
    new_levels.append(levels[skipped:beyond] + amount)
    if keys[beyond] != end:
        new_keys.append((end,))
        new_levels.append((last,))
    elif levels[beyond] == last + amount:
        beyond += 1
    return (
        np.concatenate([*new_keys, keys[beyond:]]),
        np.concatenate([*new_levels, levels[beyond:]]),
    )
