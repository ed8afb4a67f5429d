# SPDX-License-Identifier: Apache-2.0

"""The earliest period in which enough of many resources is free.

A search has two passes. The first bounds, for all starts within an interval, how many
slots there can be; no start in an interval with too few is looked at again. The second
counts exactly: each resource excludes some starts, and the starts that remain are
added up over all resources.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

import numpy as np

from climate.allocation import starts
from climate.allocation.blocks import Block
from climate.allocation.blocks import Bounds
from climate.allocation.starts import Starts
from climate.allocation.steps import Ints
from climate.allocation.steps import LATEST
from climate.allocation.steps import StepFunctions
from climate.domain.resources import Spread

_INTERVALS: Final = 192
_CONTAINED: Final = 64


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """What is to be free, and when.

    :ivar demand: units of a slot by resource class, at least 1 each; empty for whole
        resources
    :ivar count: how many slots, at least 1
    :ivar spread: how the slots may lie on resources
    :ivar length: of the period, in microseconds
    :ivar pause: the time for cleaning before and after an allocation of a whole resource
    :ivar earliest: the first start to consider, in microseconds since 1970
    :ivar latest: the last one
    """

    demand: Mapping[str, int]
    count: int
    spread: Spread = Spread.ANY
    length: int
    pause: int = 0
    earliest: int
    latest: int

    def bounds(self, start: int) -> Bounds:
        """Return the period that begins at *start*."""
        return Bounds(
            start=start,
            end=start + self.length,
            clear_start=start - self.pause,
            clear_end=start + self.length + self.pause,
        )

    def total(self, slots: Ints) -> Ints:
        """Return how many slots count, of those that fit on each resource.

        :param slots: a row for each resource, a column for each start
        :returns: one number for each start; blocks are added up, or compared if the slots
            are to be on one resource
        """
        found: Ints
        match self.spread:
            case Spread.TOGETHER:
                found = np.max(slots, axis=0, initial=0)
            case Spread.APART:
                found = np.sum(slots > 0, axis=0)
            case Spread.ANY:
                found = np.sum(slots, axis=0)
        return found

    @property
    def joined(self) -> Callable[[Ints, Ints], Ints]:
        """How the totals of two blocks become one."""
        return np.maximum if self.spread is Spread.TOGETHER else np.add


def earliest(blocks: Sequence[Block], question: Question) -> int | None:
    """Return the first start at which there are enough slots; None if there is none.

    Only resources that are open to new bookings count, as they are now.
    """
    at_once = _totals(
        question,
        (block.slots(question.demand, question.bounds(question.earliest)) for block in blocks),
    )
    if at_once >= question.count:
        return question.earliest
    for first, last in _promising(blocks, question):
        found = _first(blocks, question, first, last)
        if found is not None:
            return found
    return None


def _totals(question: Question, slots: Iterable[Ints]) -> int:
    columns = (question.total(found.reshape(-1, 1)) for found in slots)
    return int(functools.reduce(question.joined, columns, np.zeros(1, dtype=np.int64))[0])


# -- the first pass


def _promising(blocks: Sequence[Block], question: Question) -> Iterator[tuple[int, int]]:
    """Yield ranges of starts, first and last, in which there may be enough slots.

    Ever longer ones, since each takes a pass over all resources.
    """
    span = question.latest - question.earliest + 1
    # A long period must not contain too many intervals either.
    width = max(-(-span // _INTERVALS), -(-question.length // _CONTAINED))
    number = -(-span // width)
    bounds = (_most_slots(block, question, width, number) for block in blocks)
    totals = functools.reduce(
        question.joined, map(question.total, bounds), np.zeros(number, dtype=np.int64)
    )
    places = np.flatnonzero(totals >= question.count)
    taken, size = 0, 1
    while taken < len(places):
        some = places[taken : taken + size]
        first = question.earliest + int(some[0]) * width
        last = question.earliest + (int(some[-1]) + 1) * width - 1
        yield first, min(last, question.latest)
        taken, size = taken + size, size * 2


def _most_slots(block: Block, question: Question, width: int, number: int) -> Ints:
    """Return how many slots may fit on each resource for any start in each interval.

    A period that starts in an interval meets the lowest level of the interval, or a
    higher one, and contains the next intervals as far as its length reaches.
    """
    contained = max(question.length // width - 1, 0)

    def levels(function: StepFunctions) -> Ints:
        lows, peaks = function.between(question.earliest, width, number + contained)
        if not contained:
            return lows
        return np.maximum(lows[:, :number], _next_highest(peaks, contained))

    suitable = block.open_to(question.demand)
    if not suitable.any():
        return np.zeros((len(block), number), dtype=np.int64)
    blockers = (block.whole, block.out) if question.demand else (block.occupied, block.out)
    found = np.broadcast_to(suitable[:, np.newaxis], (len(block), number))
    for function in blockers:
        if not function.is_zero:
            found = found & (levels(function) == 0)
    fits = [
        np.maximum(block.supplies[name].capacity[:, np.newaxis] - levels(block.used[name]), 0)
        // amount
        for name, amount in question.demand.items()
    ]
    return found * np.minimum.reduce(fits) if fits else found.astype(np.int64)


def _next_highest(peaks: Ints, number: int) -> Ints:
    """Return the highest of the *number* columns after each column that has as many."""
    # The highest of 1, 2, 4, ... columns; two overlapping stretches make up the number.
    highest, size = peaks[:, 1:], 1
    while 2 * size <= number:
        highest = np.maximum(highest[:, :-size], highest[:, size:])
        size *= 2
    rest = number - size
    return np.maximum(highest[:, : highest.shape[1] - rest], highest[:, rest:]) if rest else highest


# -- the second pass


def _first(blocks: Sequence[Block], question: Question, first: int, last: int) -> int | None:
    """Return the first start from *first* to *last* at which there are enough slots."""
    found = [slots(block, question, first, last) for block in blocks]
    if question.spread is Spread.TOGETHER:
        alone = [one.times[one.values >= question.count] for one in found]
        soonest = int(np.concatenate(alone).min(initial=LATEST))
        return None if soonest == LATEST else soonest
    changes = [one.changes() for one in found]
    times, sizes = (np.concatenate(each) for each in zip(*changes, strict=True))
    order = np.argsort(times)
    times, totals = times[order], np.cumsum(sizes[order])
    # All changes at one instant happen at once.
    last_of = np.flatnonzero(np.diff(times, append=-1))
    enough = last_of[totals[last_of] >= question.count]
    return int(times[enough[0]]) if len(enough) else None


def slots(block: Block, question: Question, first: int, last: int) -> Starts:
    """Return how many slots there are on each resource, for each start."""
    length, pause = question.length, question.pause
    most = 1 if question.spread is Spread.APART or not question.demand else question.count
    count = len(block)

    def unblocked(function: StepFunctions, clear: int) -> Starts:
        found = starts.highest(function, first, last, clear, length + clear)
        return found.with_values(np.where(found.values > 0, 0, most))

    suitable = block.open_to(question.demand)
    if not suitable.any():
        return starts.from_times(np.zeros(count, dtype=np.int64), first, last, 0)
    if question.demand:
        blockers = [(block.whole, pause), (block.out, 0)]
        returned = block.returned_whole
    else:
        blockers = [(block.occupied, pause), (block.out, pause)]
        returned = block.returned
    free_from = np.where(suitable, returned + pause, LATEST)
    found = [starts.from_times(free_from, first, last, most)]
    found += [unblocked(function, clear) for function, clear in blockers if not function.is_zero]
    for name, amount in question.demand.items():
        peaks = starts.highest(block.used[name], first, last, 0, length)
        left = block.supplies[name].capacity[peaks.rows] - peaks.values
        found.append(peaks.with_values(np.clip(left // amount, 0, most)))
    return starts.least(found)
