# SPDX-License-Identifier: Apache-2.0

"""How many slots are free in all at each instant: a bound for what a search can find.

A search looks for slots that stay free on their resource for a whole period. There are at most
as many as are free at each instant of it, which takes microseconds to find out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

import numpy as np

from climate.allocation import earliest
from climate.allocation import joint
from climate.allocation.blocks import Block
from climate.allocation.steps import Ints

# More than a lease can require.
_MANY: Final = 10**9


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FreeTotals:
    """A number of free slots that changes over time; immutable.

    :ivar times: in microseconds since 1970, in ascending order: from each on, a number holds
    :ivar numbers: these; the last one holds for good
    """

    times: Ints
    numbers: Ints

    @classmethod
    def of(
        cls, blocks: Sequence[Block], demand: Mapping[str, int], first: int, last: int
    ) -> FreeTotals:
        """Return the free slots of some resources.

        :param demand: units of a slot by resource class; empty for whole resources
        :param first: the first instant of interest
        :param last: the last one
        """
        question = earliest.Question(
            demand=demand, count=_MANY, length=1, earliest=first, latest=last
        )
        changes = [earliest.slots(block, question, first, last).changes() for block in blocks]
        start = np.array([first], dtype=np.int64)
        times = np.concatenate([start, *(found for found, _ in changes)])
        sizes = np.concatenate([start * 0, *(found for _, found in changes)])
        return cls.summed(times, sizes)

    @classmethod
    def summed(cls, times: Ints, sizes: Ints) -> FreeTotals:
        """Return the number that changes at some times, by a size each."""
        order = np.argsort(times, kind='stable')
        times, numbers = times[order], np.cumsum(sizes[order])
        # All changes at one instant happen at once.
        last_of = np.flatnonzero(np.diff(times, append=-1))
        return cls(times=times[last_of], numbers=numbers[last_of])

    def between(self, first: int, last: int) -> FreeTotals:
        """Return the numbers from the one that holds at *first* to the one at *last*."""
        begin = max(int(np.searchsorted(self.times, first, 'right')) - 1, 0)
        end = int(np.searchsorted(self.times, last, 'right'))
        return FreeTotals(times=self.times[begin:end], numbers=self.numbers[begin:end])

    def with_more(self, start: int, end: int, slots: int) -> FreeTotals:
        """Return the numbers if some slots more were free from *start* to *end*."""
        known = np.array([start, end], dtype=np.int64)
        known = known[(known > self.times[0]) & ~np.isin(known, self.times)]
        places = np.searchsorted(self.times, known, 'right')
        times = np.insert(self.times, places, known)
        numbers = np.insert(self.numbers, places, self.numbers[places - 1])
        more = (times >= start) & (times < end)
        return FreeTotals(times=times, numbers=numbers + more * slots)

    def first_start(self, count: int, length: int, first: int, before: int) -> int | None:
        """Return the first start of a period in which there are always enough slots.

        It is a whole minute, like those that searches find, or *first* itself.

        :param count: how many are enough
        :param length: of the period, in microseconds
        :param first: the first start
        :param before: the start has to be before this
        """
        few = self.numbers < count
        # A gap is a time without a moment of too few: it begins where one of those ends.
        begins = np.flatnonzero(~few & np.append(True, few[:-1]))
        ends = np.flatnonzero(few & np.append(True, ~few[:-1]))
        ends = ends[ends > (begins[0] if len(begins) else 0)]
        starts = -(-self.times[begins] // joint.MINUTE) * joint.MINUTE
        starts = np.where(self.times[begins] <= first, first, starts)
        until = np.full(len(begins), np.iinfo(np.int64).max)
        until[: len(ends)] = self.times[ends]
        fits = np.flatnonzero((until - starts >= length) & (starts < before))
        return int(starts[fits[0]]) if len(fits) else None
