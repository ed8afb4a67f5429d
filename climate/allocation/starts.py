# SPDX-License-Identifier: Apache-2.0

"""Values that depend on the start of a period, for all starts in a range.

As the period moves on, steps of a step function enter it at its end and leave it at its
start; in between the highest level within it is the same. So the highest level is again
a step function, of the start.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final

import numpy as np

from climate.allocation.steps import BITS
from climate.allocation.steps import Ints
from climate.allocation.steps import LATEST
from climate.allocation.steps import StepFunctions

_MASK: Final = LATEST


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Starts:
    """A value of each row for each start from *first* on.

    :ivar first: the first start
    :ivar keys: the row and the start from which on a value holds, in ascending order; each
        row has one at *first*
    :ivar values: from each key on
    """

    first: int
    keys: Ints
    values: Ints

    @property
    def rows(self) -> Ints:
        """The row of each value."""
        return self.keys >> BITS

    @property
    def times(self) -> Ints:
        """The start from which on each value holds."""
        return self.keys & _MASK

    def with_values(self, values: Ints) -> Starts:
        """Return the same keys with other values."""
        return dataclasses.replace(self, values=values)

    def changes(self) -> tuple[Ints, Ints]:
        """Return the start and the size of each change, all rows together, in no order.

        The first value of a row is a change from 0.
        """
        before = np.append(0, self.values[:-1])
        # Whatever a row ends with does not concern the next one.
        before[self.times == self.first] = 0
        found = self.values - before
        real = np.flatnonzero(found)
        return self.times[real], found[real]


def highest(function: StepFunctions, first: int, last: int, before: int, after: int) -> Starts:
    """Return the highest level around each start from *first* to *last*.

    :param before: the period begins this long before the start
    :param after: it ends this long after the start, half-open
    """
    since = max(first - before, 0)
    rows, times, levels = function.steps(since, min(last + after, LATEST))
    base = rows << BITS
    # A step is the first one in the period from the start at which the period begins with
    # it, and the last one from the start at which the period ends just after it.
    leaving = np.flatnonzero(times <= max(last - before, since))
    leaves = np.where(times == since, first, times + before)[leaving]
    enters = np.maximum(times - after + 1, first)
    keys = np.concatenate((base[leaving] + leaves, base + enters))
    # Two sorted sequences, which this kind merges in one pass.
    order = np.argsort(keys, kind='stable')
    is_first = order < len(leaving)
    firsts = np.where(is_first, np.append(leaving, 0)[np.minimum(order, len(leaving))], -1)
    lasts = np.where(is_first, -1, order - len(leaving))
    keys = keys[order]
    own = np.flatnonzero(np.diff(keys, append=-1))
    peaks = _highest_of(
        levels, np.maximum.accumulate(firsts)[own], np.maximum.accumulate(lasts)[own]
    )
    return Starts(first=first, keys=keys[own], values=peaks)


def _highest_of(levels: Ints, firsts: Ints, lasts: Ints) -> Ints:
    """Return the highest of the levels from each of *firsts* to that of *lasts*, inclusive."""
    # Two overlapping stretches of 1, 2, 4, ... levels cover any number of them.
    sizes = np.frexp(lasts - firsts + 1)[1] - 1
    found = np.empty(len(firsts), dtype=np.int64)
    highest, size = levels, 1
    for power in range(int(sizes.max(initial=0)) + 1):
        those = np.flatnonzero(sizes == power)
        found[those] = np.maximum(highest[firsts[those]], highest[lasts[those] - size + 1])
        wider = highest.copy()
        wider[:-size] = np.maximum(highest[:-size], highest[size:])
        highest, size = wider, size * 2
    return found


def least(found: Sequence[Starts]) -> Starts:
    """Return the least of some values for each row and start; there is at least one."""
    one, *others = found
    if all(np.array_equal(one.keys, each.keys) for each in others):
        return one.with_values(np.minimum.reduce([each.values for each in found]))
    keys = np.unique(np.concatenate([each.keys for each in found]))
    values = [each.values[np.searchsorted(each.keys, keys, 'right') - 1] for each in found]
    return Starts(first=one.first, keys=keys, values=np.minimum.reduce(values))


def from_times(times: Ints, first: int, last: int, value: int) -> Starts:
    """Return 0 before *times*, one of each row, and *value* from then on."""
    rows = np.arange(len(times), dtype=np.int64) << BITS
    within = (times > first) & (times <= last)
    keys = np.concatenate((rows + first, (rows + times)[within]))
    values = np.concatenate((np.where(times > first, 0, value), np.full(within.sum(), value)))
    order = np.argsort(keys, kind='stable')
    return Starts(first=first, keys=keys[order], values=values[order])
