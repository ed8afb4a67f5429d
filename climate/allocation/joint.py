# SPDX-License-Identifier: Apache-2.0

"""The periods in which enough is free for several reservations at the same time.

Each reservation has a condition of its own: enough slots on some resources. A period
that fulfils all of them may still be too small if they compete for the same resources,
which only a choice of resources shows; :func:`after` finds the next period to try.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

import numpy as np

from climate.allocation import earliest as search
from climate.allocation.blocks import Block
from climate.allocation.blocks import Bounds
from climate.allocation.earliest import Question
from climate.allocation.steps import Bools
from climate.allocation.steps import Ints
from climate.allocation.steps import LATEST
from climate.allocation.steps import StepFunctions
from climate.domain.budgets import RequestBudget
from climate.domain.budgets import UNLIMITED
from climate.domain.resources import Spread

MINUTE: Final = 60 * 10**6
"""Starts and ends that a search finds are whole minutes; in microseconds."""

_NONE: Final = np.zeros(0, dtype=np.int64)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Frame:
    """The periods to consider; times in microseconds since 1970.

    :ivar length: of the period
    :ivar pause: the time for cleaning before and after an allocation of a whole resource
    :ivar earliest: the first start
    :ivar latest: the last start
    """

    length: int
    pause: int
    earliest: int
    latest: int

    def bounds(self, start: int, end: int | None = None) -> Bounds:
        """Return the period that begins at *start*.

        :param end: None for a period of :attr:`length`
        """
        until = start + self.length if end is None else end
        return Bounds(
            start=start, end=until, clear_start=start - self.pause, clear_end=until + self.pause
        )


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class SlotCondition:
    """What one reservation needs, whenever it is.

    :ivar place: of the reservation among those that are requested together
    :ivar blocks: the resources of its type; those that do not match are closed
    :ivar demand: units of a slot by resource class, at least 1 each; empty for whole
        resources
    :ivar count: how many slots, at least 1
    :ivar spread: how the slots may lie on resources
    """

    place: int
    blocks: Sequence[Block]
    demand: Mapping[str, int]
    count: int
    spread: Spread = Spread.ANY

    def question(self, frame: Frame, start: int) -> Question:
        """Return the question for the first start from *start* on."""
        return Question(
            demand=self.demand,
            count=self.count,
            spread=self.spread,
            length=frame.length,
            pause=frame.pause,
            earliest=start,
            latest=frame.latest,
        )

    def slots(self, bounds: Bounds) -> int:
        """Return how many slots are free throughout a period."""
        found = [block.slots(self.demand, bounds) for block in self.blocks]
        slots: Ints = np.concatenate([_NONE, *found])
        match self.spread:
            case Spread.TOGETHER:
                return int(slots.max(initial=0))
            case Spread.APART:
                return int((slots > 0).sum())
            case Spread.ANY:
                return int(slots.sum())

    def fits(self, bounds: Bounds) -> bool:
        """Whether enough slots are free throughout a period."""
        return self.slots(bounds) >= self.count

    def pieces(self, bounds: Bounds) -> int | None:
        """Return on how many resources the slots need to be at least; None if they do not fit."""
        found = [block.slots(self.demand, bounds) for block in self.blocks]
        slots: Ints = np.concatenate([_NONE, *found])
        if self.spread is Spread.TOGETHER:
            return 1 if int(slots.max(initial=0)) >= self.count else None
        if self.spread is Spread.APART:
            slots = np.minimum(slots, 1)
        sums = np.cumsum(np.sort(slots)[::-1])
        number = int(np.searchsorted(sums, self.count)) + 1
        return number if number <= len(sums) else None

    def of_class(self, name: str) -> SlotCondition:
        """Return the same need of one resource class only."""
        return dataclasses.replace(self, demand={name: self.demand[name]})


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Shortfall:
    """What is missing for a reservation at one start.

    :ivar place: of the reservation
    :ivar resource_class: None if whole resources are missing, or room for slots of
        several classes
    :ivar missing: units of the class, or slots
    :ivar until: the first start from which on they are there, in microseconds since
        1970; None if there is none, or if the search for it would take too long
    """

    place: int
    resource_class: str | None
    missing: int
    until: int | None


class SearchBudget:
    """Searches for starts, up to a number of them, so that the cost is bounded.

    :ivar left: how many more there may be
    :param budget: ends the searches when it is spent
    """

    def __init__(self, left: int, budget: RequestBudget = UNLIMITED) -> None:
        self.left = left
        self._budget = budget

    def first(self, conditions: Sequence[SlotCondition], frame: Frame) -> int | None:
        """Return the first start at which each of *conditions* is free on its own.

        :returns: in microseconds since 1970; None if there is none, or if no searches
            are :attr:`left`
        """
        start, agreed = frame.earliest, 0
        for one in itertools.cycle(conditions):
            found = self._next(one, frame, start)
            if found is None:
                return None
            if found == start:
                agreed += 1
            else:
                start = rounded(found)
                agreed = int(start == found)
            if agreed == len(conditions):
                return start
        return start

    def _next(self, one: SlotCondition, frame: Frame, start: int) -> int | None:
        if self.left <= 0 or start > frame.latest or self._budget.spent:
            return None
        self.left -= 1
        return search.earliest(one.blocks, one.question(frame, start))

    def shortages(
        self, conditions: Sequence[SlotCondition], frame: Frame, start: int
    ) -> list[Shortfall]:
        """Return what is missing at a start; nothing if each of *conditions* is free."""
        bounds = frame.bounds(start)
        return [
            Shortfall(
                place=short.place,
                resource_class=name,
                missing=missing,
                until=self._next(short, frame, start),
            )
            for one in conditions
            for short, name, missing in _missing(one, bounds)
        ]


def _missing(one: SlotCondition, bounds: Bounds) -> Iterator[tuple[SlotCondition, str | None, int]]:
    """Yield the part of a need that is missing, its class, and how much of it."""
    lacks = one.count - one.slots(bounds)
    if lacks <= 0:
        return
    alone = False
    for name, amount in one.demand.items():
        part = one.of_class(name)
        units = (one.count - part.slots(bounds)) * amount
        if units > 0:
            alone = True
            yield part, name, units
    if not alone:
        yield one, None, lacks


def rounded(time: int) -> int:
    """Return the first whole minute that is not before *time*."""
    return -(-time // MINUTE) * MINUTE


def after(conditions: Sequence[SlotCondition], frame: Frame, start: int) -> int | None:
    """Return the first start after *start* at which more may be free; None if there is none.

    A later period has more room than an earlier one only if something ends in between.
    """
    found = LATEST
    for times in _ends(conditions, frame.pause):
        later = times[times > start]
        found = min(found, int(later.min(initial=LATEST)))
    return rounded(found) if rounded(found) <= frame.latest else None


def turns(conditions: Sequence[SlotCondition], frame: Frame) -> Ints:
    """Return the starts around which more or less may be free, and the first, in order.

    Between two of them, as much is free at each start as at the earlier one.
    """
    ends = [-(-times // MINUTE) * MINUTE for times in _ends(conditions, frame.pause)]
    begins = [(times - frame.length) // MINUTE * MINUTE for times in _begins(conditions, frame)]
    first = np.array([frame.earliest], dtype=np.int64)
    found: Ints = np.unique(np.concatenate([first, *ends, *begins]))
    return found[(found >= frame.earliest) & (found <= frame.latest)]


def longest(conditions: Sequence[SlotCondition], frame: Frame, start: int, latest: int) -> int:
    """Return the end of the longest period from *start* in which each of *conditions* is free.

    :param latest: the last end, in microseconds since 1970
    :returns: the end of a period of at least the length of *frame*, which must be free
    """
    shortest = start + frame.length
    begins = [times[(times > shortest) & (times < latest)] for times in _begins(conditions, frame)]
    ends = np.unique(np.concatenate([*begins, np.array([latest], dtype=np.int64)]))
    # What is free until an end is free until each earlier one.
    free, taken = -1, len(ends)
    while taken - free > 1:
        middle = (free + taken) // 2
        bounds = frame.bounds(start, int(ends[middle]))
        if ends[middle] > shortest and all(one.fits(bounds) for one in conditions):
            free = middle
        else:
            taken = middle
    if free < 0:
        return shortest
    end = int(ends[free])
    return end if end == latest else max(end // MINUTE * MINUTE, shortest)


def _ends(conditions: Sequence[SlotCondition], pause: int) -> Iterator[Ints]:
    """Yield the times at which something may become free."""
    for block in _blocks(conditions):
        for function in (block.whole, block.occupied, block.out):
            yield _times(block, function, np.less) + pause
        for function in (*block.used.values(), block.out):
            yield _times(block, function, np.less)
        yield block.returned[block.bookable] + pause


def _begins(conditions: Sequence[SlotCondition], frame: Frame) -> Iterator[Ints]:
    """Yield the times at which something may cease to be free."""
    for block in _blocks(conditions):
        for function in (block.whole, block.occupied, block.out):
            yield _times(block, function, np.greater) - frame.pause
        for function in (*block.used.values(), block.out):
            yield _times(block, function, np.greater)


def _blocks(conditions: Sequence[SlotCondition]) -> Iterator[Block]:
    return iter({id(block): block for one in conditions for block in one.blocks}.values())


def _times(block: Block, function: StepFunctions, way: Callable[[Ints, int], Bools]) -> Ints:
    """Return the times of the steps in one direction, of resources open to bookings."""
    steps = np.diff(function.levels[:-1])
    keys = function.keys[1:-1]
    times = keys & LATEST
    # The times of a key take up all bits of the latest one.
    rows = keys >> LATEST.bit_length()
    found: Ints = times[way(steps, 0) & block.bookable[rows]]
    return found
