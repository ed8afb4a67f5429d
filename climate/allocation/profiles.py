# SPDX-License-Identifier: Apache-2.0

"""Values of many rows in consecutive intervals, without an array of all intervals of all rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from collections.abc import Sequence

import numpy as np

from climate.allocation.buckets import Buckets
from climate.allocation.grid import Grid
from climate.allocation.runs import runs as runs_of
from climate.allocation.steps import Ints
from climate.allocation.steps import StepFunctions


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Changes:
    """Where the values of rows differ from those in the interval before, in no order.

    :ivar rows: of each change
    :ivar columns: the number of the interval from which on it holds; that of all intervals
        if it does not concern any
    :ivar amounts: by how much the value differs; that of the first interval differs from 0
    """

    rows: Ints
    columns: Ints
    amounts: Ints


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Profile:
    """A value of each row in each interval; immutable.

    :ivar rows: of each value, in ascending order
    :ivar columns: the interval from which on each value holds, in ascending order within a
        row; each row has a value in the first interval, 0
    :ivar values: from each of these intervals on
    :ivar size: more than there are intervals
    """

    rows: Ints
    columns: Ints
    values: Ints
    size: int

    @classmethod
    def constant(cls, values: Ints, buckets: Buckets) -> Profile:
        """Return one value for each row."""
        rows = np.arange(len(values), dtype=np.int64)
        return cls(rows=rows, columns=rows * 0, values=values, size=buckets.number + 1)

    @classmethod
    def highest(cls, function: StepFunctions, grid: Grid, buckets: Buckets) -> Profile:
        """Return the highest level of each row within each interval."""
        values = grid.highest(function)
        return cls(rows=grid.rows, columns=grid.columns, values=values, size=buckets.number + 1)

    @property
    def is_constant(self) -> bool:
        """Whether each row has one value."""
        return not self.columns.any()

    @property
    def cells(self) -> Ints:
        """The rows and columns in one sequence, in ascending order."""
        return self.rows * self.size + self.columns

    def with_values(self, values: Ints) -> Profile:
        """Return the same rows and columns with other values."""
        return dataclasses.replace(self, values=values)

    def changes(self) -> Changes:
        """Return where the values change."""
        # Not diff() and an index of the first ones, which take twice as long.
        amounts = self.values.copy()
        amounts[1:] -= self.values[:-1] * (self.columns[1:] > 0)
        return Changes(rows=self.rows, columns=self.columns, amounts=amounts)

    def within(self, spans: Spans) -> Changes:
        """Return where the values change if they are 0 outside *spans*."""
        if self.is_constant:
            return spans.changes(self.values)
        cells = self.cells
        firsts, beyond = spans.cells
        place = np.searchsorted(cells, firsts, 'right') - 1
        lengths = np.searchsorted(cells, beyond, 'left') - place
        heads = np.cumsum(lengths) - lengths
        places = np.arange(int(lengths.sum())) + np.repeat(place - heads, lengths)
        rows, values = np.repeat(spans.rows, lengths), self.values[places]
        starts = np.maximum(cells[places], np.repeat(firsts, lengths)) - rows * self.size
        # A value ends where the next one begins, and the last one of a span with the span.
        ends = np.append(starts[1:], 0)
        ends[heads + lengths - 1] = spans.beyond
        return Changes(
            rows=np.concatenate((rows, rows)),
            columns=np.concatenate((starts, ends)),
            amounts=np.concatenate((values, -values)),
        )


def least(found: Sequence[Profile]) -> Profile:
    """Return the least of some values of each row and interval; there is at least one."""
    one, *others = found
    alike = all(each.rows is one.rows and each.columns is one.columns for each in others)
    if not alike:
        cells = [each.cells for each in found]
        joined = np.unique(np.concatenate(cells))
        rows = joined // one.size
        found = [
            Profile(
                rows=rows,
                columns=joined - rows * one.size,
                values=each.values[np.searchsorted(its, joined, 'right') - 1],
                size=one.size,
            )
            for each, its in zip(found, cells, strict=True)
        ]
    return found[0].with_values(np.minimum.reduce([each.values for each in found]))


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Spans:
    """Intervals of rows, as stretches that do not overlap; in ascending order.

    :ivar rows: of each stretch
    :ivar firsts: its first interval
    :ivar beyond: the first interval after it
    :ivar size: more than there are intervals
    """

    rows: Ints
    firsts: Ints
    beyond: Ints
    size: int

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def cells(self) -> tuple[Ints, Ints]:
        """The first intervals, and those after the last ones, with the rows in one sequence."""
        rows = self.rows * self.size
        return rows + self.firsts, rows + self.beyond

    @classmethod
    def busy(cls, function: StepFunctions, buckets: Buckets, pause: int) -> Spans:
        """Return the intervals within which, or *pause* around which, a row is above 0."""
        if function.is_zero:
            none = function.keys[:0]
            return cls(rows=none, firsts=none, beyond=none, size=buckets.number + 1)
        begin = max(buckets.start, buckets.since)
        runs = runs_of(function, max(begin - pause, 0), buckets.end + pause)
        firsts = (runs.starts - pause - buckets.start) // buckets.width
        beyond = -((buckets.start - pause - runs.ends) // buckets.width)
        return cls._disjoint(
            runs.rows,
            np.clip(firsts, 0, buckets.number),
            np.clip(beyond, 0, buckets.number),
            buckets.number + 1,
        )

    @classmethod
    def until(cls, times: Ints, buckets: Buckets, pause: int) -> Spans:
        """Return the intervals that begin less than *pause* after a time, one of each row."""
        columns = np.searchsorted(buckets.starts - pause, times, 'left')
        rows = np.flatnonzero(columns)
        return cls(rows=rows, firsts=rows * 0, beyond=columns[rows], size=buckets.number + 1)

    @classmethod
    def joined(cls, found: Iterable[Spans]) -> Spans:
        """Return the intervals that are in any of some spans; there is at least one."""
        one, *others = found
        for other in others:
            one = one._or(other)
        return one

    def _or(self, other: Spans) -> Spans:
        if not len(self) or not len(other):
            return self if len(self) else other
        rows = np.concatenate((self.rows, other.rows))
        firsts = np.concatenate((self.firsts, other.firsts))
        beyond = np.concatenate((self.beyond, other.beyond))
        order = np.argsort(rows * self.size + firsts, kind='stable')
        return self._disjoint(rows[order], firsts[order], beyond[order], self.size)

    @classmethod
    def _disjoint(cls, rows: Ints, firsts: Ints, beyond: Ints, size: int) -> Spans:
        """Return stretches without what earlier ones contain."""
        # One running maximum serves all rows, since none reaches into the next one.
        reached = np.maximum.accumulate(rows * size + beyond)
        firsts[1:] = np.maximum(firsts[1:], reached[:-1] - rows[1:] * size)
        new = firsts < beyond
        return cls(rows=rows[new], firsts=firsts[new], beyond=beyond[new], size=size)

    def changes(self, values: Ints) -> Changes:
        """Return where values change that are 0 outside these intervals.

        :param values: of each row
        """
        found = values[self.rows]
        return Changes(
            rows=np.concatenate((self.rows, self.rows)),
            columns=np.concatenate((self.firsts, self.beyond)),
            amounts=np.concatenate((found, -found)),
        )
