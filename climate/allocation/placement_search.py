# SPDX-License-Identifier: Apache-2.0

"""Placement by trying, up to a number of steps, where OR-Tools is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

from climate.allocation.placement_bins import Bins
from climate.allocation.placement_problem import Placed
from climate.domain.budgets import RequestBudget
from climate.domain.budgets import UNLIMITED

MOST_STEPS: Final = 20_000
"""How many choices to try: about 0.1 seconds."""

_Counts = dict[int, int]


def search(
    bins: Bins, steps: int = MOST_STEPS, budget: RequestBudget = UNLIMITED
) -> tuple[Placed | None, bool]:
    """Return the best assignment that was found, and whether there is no better one.

    :param steps: how many choices to try
    :param budget: ends the search when it is spent
    """
    attempt = _Attempt(bins, steps, budget)
    bound = bins.problem.bound()
    best: Placed | None = None
    for counts in attempt.groups(0):
        found = bins.placed(counts)
        if best is None or found.quality > best.quality:
            best = found
        if best.quality >= bound:
            return best, True
    return best, attempt.steps > 0


class _Attempt:
    """One search through all assignments, group by group, and bin by bin.

    :ivar steps: how many choices are left
    """

    def __init__(self, bins: Bins, steps: int, budget: RequestBudget) -> None:
        self._bins = bins
        self._problem = bins.problem
        self.steps = steps
        self._budget = budget
        self._counts: list[_Counts] = []

    def groups(self, place: int) -> Iterator[list[_Counts]]:
        """Yield assignments of all groups from one on."""
        if place == len(self._problem.groups):
            yield [dict(one) for one in self._counts]
            return
        group = self._problem.groups[place]
        rows = [number for number, one in enumerate(self._bins.found) if place in one.room]
        rows.sort(key=lambda number: -group.weight(self._bins.found[number].first))
        self._counts.append({})
        for count in range(group.maximum, group.minimum - 1, -1):
            if self.steps <= 0:
                break
            for _ in self._members(place, rows, count):
                if self._is_even(place):
                    yield from self.groups(place + 1)
        self._counts.pop()

    def _members(self, place: int, bins: list[int], count: int) -> Iterator[None]:
        """Yield each time that *count* members are placed in the bins."""
        if not count:
            yield
            return
        if not bins or self.steps <= 0:
            return
        number, rest = bins[0], bins[1:]
        mine = self._counts[place]
        for some in range(min(count, self._room(place, number)), -1, -1):
            self.steps = 0 if self._budget.spent else self.steps - 1
            if some:
                mine[number] = some
            done = bool(some) and self._problem.groups[place].together and some < count
            if not done:
                yield from self._members(place, rest, count - some)
            mine.pop(number, None)
            if self.steps <= 0:
                return

    def _room(self, place: int, number: int) -> int:
        """Return how many members of a group fit, next to those that are placed."""
        one, group = self._bins.found[number], self._problem.groups[place]
        room = one.room[place]
        users = [other for other, counts in enumerate(self._counts) if counts.get(number)]
        for other in users:
            if other == place:
                continue
            wholes = [not each.demand for each in (group, self._problem.groups[other])]
            if all(wholes):
                room -= self._counts[other][number]
            elif any(wholes) or self._problem.apart(place, other):
                return 0
        if len(one.room) > 1:
            room = min([room, *self._left(one.first, number, users, group.demand)])
        return room if self._has_value(place, number) else 0

    def _left(
        self, row: int, number: int, users: Sequence[int], demand: Mapping[str, int]
    ) -> Iterator[int]:
        """Yield how many members fit into what others leave of each class."""
        for name, units in demand.items():
            used = sum(
                self._counts[other][number] * self._problem.groups[other].demand.get(name, 0)
                for other in users
            )
            if name in self._problem.free:
                yield (int(self._problem.free[name][row]) - used) // units

    def _has_value(self, place: int, number: int) -> bool:
        """Whether a bin has the values that members placed before share."""
        first = self._bins.found[number].first
        for same in self._problem.sames:
            if place in same.groups:
                labels = self._problem.labels[same.property]
                for other, counts in enumerate(self._counts):
                    if other in same.groups and any(
                        labels[self._bins.found[used].first] != labels[first] for used in counts
                    ):
                        return False
        return True

    def _is_even(self, place: int) -> bool:
        first = {
            self._bins.found[number].first: some for number, some in self._counts[place].items()
        }
        return self._problem.is_even(place, first)
