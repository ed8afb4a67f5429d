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

from climate.allocation.blocks import Block
from climate.allocation.blocks import Bounds
from climate.allocation.steps import Bools
from climate.allocation.steps import Ints
from climate.allocation.steps import LATEST
from climate.allocation.steps import Runs
from climate.allocation.steps import StepFunctions
from climate.allocation.steps import Uses
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
        return np.maximum(lows[:, :number], _next_highest(peaks, contained)[:, :number])

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
    """Return for each column the highest of the *number* columns after it; 0 if none."""
    found = np.zeros_like(peaks)
    # The highest of 1, 2, 4, ... columns; those that make up the number are combined.
    highest, size, offset = peaks, 1, 1
    while number:
        if number & size:
            found[:, : peaks.shape[1] - offset] = np.maximum(
                found[:, : peaks.shape[1] - offset], highest[:, offset:]
            )
            offset += size
            number -= size
        wider = highest.copy()
        wider[:, :-size] = np.maximum(highest[:, :-size], highest[:, size:])
        highest, size = wider, size * 2
    return found


# -- the second pass


def _first(blocks: Sequence[Block], question: Question, first: int, last: int) -> int | None:
    """Return the first start from *first* to *last* at which there are enough slots."""
    runs = [found for block in blocks for found in _possible_starts(block, question, first, last)]
    runs = [found for found in runs if len(found.rows)]
    if not runs:
        return None
    times = np.concatenate([found.starts for found in runs] + [found.ends for found in runs])
    if question.spread is Spread.TOGETHER:
        return min(int(found.starts.min()) for found in runs)
    half = len(times) // 2
    steps = np.repeat(np.array([1, -1]), half)
    order = np.argsort(times, kind='stable')
    times, steps = times[order], steps[order]
    heads = np.flatnonzero(np.diff(times, prepend=-1))
    enough = np.flatnonzero(np.cumsum(np.add.reduceat(steps, heads)) >= question.count)
    return int(times[heads[enough[0]]]) if len(enough) else None


def _possible_starts(block: Block, question: Question, first: int, last: int) -> Iterator[Runs]:
    """Yield the starts at which each resource has room for one slot, for two, and so on.

    Only for the numbers of slots that count.
    """
    suitable = block.open_to(question.demand)
    if not suitable.any():
        return
    blocked = _Excluded(len(block), first, last)
    length, pause = question.length, question.pause
    if question.demand:
        blocked.add(block.whole, 0, pause, length + pause)
        blocked.add(block.out, 0, 0, length)
        blocked.until(block.returned_whole + pause)
    else:
        blocked.add(block.occupied, 0, pause, length + pause)
        blocked.add(block.out, 0, pause, length + pause)
        blocked.until(block.returned + pause)
    if not question.demand:
        yield blocked.others(suitable)
        return
    room = np.minimum.reduce(
        [block.supplies[name].capacity // amount for name, amount in question.demand.items()]
    )
    for slots in _numbers(question, room[suitable]):
        full = blocked.copy()
        for name, amount in question.demand.items():
            full.add(block.used[name], block.supplies[name].capacity - slots * amount, 0, length)
        yield full.others(suitable & (room >= slots))


def _numbers(question: Question, room: Ints) -> range:
    """Return which numbers of slots on one resource are looked for."""
    most = min(question.count, int(room.max(initial=0)))
    match question.spread:
        case Spread.TOGETHER:
            return range(question.count, most + 1)
        case Spread.APART:
            return range(1, min(most, 1) + 1)
        case Spread.ANY:
            return range(1, most + 1)


class _Excluded:
    """The starts from *first* to *last* that each resource of a block excludes."""

    def __init__(self, count: int, first: int, last: int) -> None:
        self._count = count
        self._first = first
        self._last = last
        self._found: list[Runs] = []

    def copy(self) -> _Excluded:
        """Return an equal one that can be added to."""
        copied = _Excluded(self._count, self._first, self._last)
        copied._found = list(self._found)
        return copied

    def add(self, function: StepFunctions, limits: Ints | int, before: int, after: int) -> None:
        """Exclude the starts around which a function is above a limit.

        :param before: how long before the start it counts, in microseconds
        :param after: until how long after the start
        """
        if function.is_zero:
            return
        limits = np.broadcast_to(np.asarray(limits, dtype=np.int64), (self._count,))
        # All periods contain the middle. What is above the limit before or after it
        # excludes some of them.
        left = max(self._first - before, 0), max(self._last - before, 0)
        right = self._first + after, self._last + after
        if left[1] < right[0]:
            rows = np.flatnonzero(function.peaks(left[1], right[0]) > limits)
            self._exclude(rows, self._first, self._last + 1)
            parts = [left, right]
        else:
            parts = [(left[0], right[1])]
        for start, end in parts:
            if start < end:
                found = function.runs(limits, start, min(end, LATEST), above=True)
                self._exclude(found.rows, found.starts - after + 1, found.ends + before)

    def until(self, times: Ints) -> None:
        """Exclude the starts before *times*, one for each resource."""
        self._exclude(np.flatnonzero(times > self._first), self._first, times[times > self._first])

    def _exclude(self, rows: Ints, starts: Ints | int, ends: Ints | int) -> None:
        shape = rows.shape
        found = Runs(
            rows=rows,
            starts=np.broadcast_to(np.maximum(starts, self._first), shape),
            ends=np.broadcast_to(np.minimum(ends, self._last + 1), shape),
        )
        self._found.append(found)

    def others(self, rows: Bools) -> Runs:
        """Return the starts that are not excluded, of those *rows* that are true."""
        excluded = [found for found in self._found if len(found.rows)]
        if excluded:
            starts = np.concatenate([found.starts for found in excluded])
            ends = np.concatenate([found.ends for found in excluded])
            real = starts < ends
            uses = Uses(
                rows=np.concatenate([found.rows for found in excluded])[real],
                starts=starts[real],
                ends=ends[real],
                amounts=np.ones(int(real.sum()), dtype=np.int64),
            )
        else:
            uses = Uses.of([])
        covered = StepFunctions.of(self._count, uses)
        found = covered.runs(np.zeros(self._count, dtype=np.int64), self._first, self._last + 1)
        mine = rows[found.rows]
        return Runs(rows=found.rows[mine], starts=found.starts[mine], ends=found.ends[mine])
