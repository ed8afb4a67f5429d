# SPDX-License-Identifier: Apache-2.0

"""Places groups one after the other, each member on the best resource that is left."""

from __future__ import annotations

import copy
import dataclasses
from collections import Counter
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Final

import numpy as np

from climate.allocation.placement_problem import EvenSpread
from climate.allocation.placement_problem import Group
from climate.allocation.placement_problem import Members
from climate.allocation.placement_problem import numbers
from climate.allocation.placement_problem import Placed
from climate.allocation.placement_problem import Problem
from climate.allocation.placement_problem import Usage
from climate.allocation.steps import Ints
from climate.domain.budgets import RequestBudget
from climate.domain.budgets import UNLIMITED

_MOST_VALUES: Final = 64
_MOST_ORDERS: Final = 10
_MOST_WAYS: Final = 500


class _Tries:
    """The ways to place a group that may still be tried."""

    def __init__(self, budget: RequestBudget) -> None:
        self.budget = budget
        self._left = _MOST_WAYS

    def another(self) -> bool:
        """Whether one more may be tried, which then counts."""
        self.budget.check()
        self._left -= 1
        return self._left >= 0


def greedy(problem: Problem, budget: RequestBudget = UNLIMITED) -> Placed | int:
    """Place the groups in turn; one that fails is tried again before the others.

    :returns: the assignment, or the place of the first group that could not be placed
    :raises climate.exceptions.RequirementsTooSlow: if the budget is spent
    """
    order, tries = list(range(len(problem.groups))), _Tries(budget)
    for _ in range(min(len(order) + 1, _MOST_ORDERS)):
        found = _in_order(problem, order, tries)
        if not isinstance(found, int):
            return found
        if found == order[0]:
            break
        order.remove(found)
        order.insert(0, found)
    return found


def _in_order(problem: Problem, order: Sequence[int], tries: _Tries) -> Placed | int:
    usage, members = Usage(problem), list[Members]([{}] * len(order))
    for place in order:
        found = next(_ways(problem, usage, place, tries), None)
        if found is None:
            return place
        usage.values, members[place] = found
        usage.add(place, members[place])
    return problem.placed(members)


def _ways(
    problem: Problem, usage: Usage, place: int, tries: _Tries
) -> Iterator[tuple[dict[int, int], Members]]:
    """Yield members of a group, and the values that shared properties then have."""
    group = problem.groups[place]
    open_ = [
        number
        for number, same in enumerate(problem.sames)
        if place in same.groups and number not in usage.values
    ]
    if not tries.another():
        return
    if not open_:
        found = _filled(problem, group, usage.slots(place), tries.budget)
        if sum(found.values()) >= group.minimum and problem.is_even(place, found):
            yield usage.values, found
        return
    for value in _values(problem, usage, open_[0])[:_MOST_VALUES]:
        bound = copy.copy(usage)
        bound.values = {**usage.values, open_[0]: value}
        yield from _ways(problem, bound, place, tries)


def _values(problem: Problem, usage: Usage, number: int) -> list[int]:
    """Return the values that a shared property can have: those with most room first."""
    same = problem.sames[number]
    labels = problem.labels[same.property]
    members, worth = Counter[int](), Counter[int]()
    for place in same.groups:
        group, slots = problem.groups[place], usage.slots(place)
        rows = np.flatnonzero(slots)
        room = np.bincount(labels[rows], weights=slots[rows])
        for value in np.flatnonzero(room).tolist():
            members[value] += min(group.maximum, int(room[value]))
            if group.weights is not None:
                worth[value] += int(group.weights[rows[labels[rows] == value]].max())
    return sorted(members, key=lambda value: (-members[value], -worth[value], value))


def _filled(problem: Problem, group: Group, slots: Ints, budget: RequestBudget) -> Members:
    """Place as many members as possible."""
    rows = group.order(np.flatnonzero(slots))
    if group.together:
        return _together(group, slots, rows)
    if group.spreads:
        return _Filler(problem, group, slots, rows).filled(budget)
    return _in_turn(group.maximum, slots, rows)


def _together(group: Group, slots: Ints, rows: Ints) -> Members:
    enough = rows[slots[rows] >= group.maximum]
    best = enough if len(enough) else rows[np.argsort(-slots[rows], kind='stable')]
    return {int(row): min(int(slots[row]), group.maximum) for row in best[:1] if group.maximum}


def _in_turn(most: int, slots: Ints, rows: Ints) -> Members:
    ends = np.cumsum(slots[rows])
    used = rows[: int(np.searchsorted(ends, most)) + 1]
    found, left = {}, most
    for row, fit in zip(used.tolist(), slots[used].tolist(), strict=True):
        if left > 0:
            found[row] = min(fit, left)
            left -= found[row]
    return found


@dataclasses.dataclass(slots=True)
class _Cell:
    """Rows with the same labels: the best first, with how many members still fit."""

    labels: tuple[int, ...]
    rows: list[int]
    left: list[int]
    next: int = 0

    def take(self) -> int:
        row = self.rows[self.next]
        self.left[self.next] -= 1
        if not self.left[self.next]:
            self.next += 1
        return row


class _Filler:
    """Places the members of a spread group one by one, where the fewest are."""

    def __init__(self, problem: Problem, group: Group, slots: Ints, rows: Ints) -> None:
        self._group = group
        columns = [problem.labels[one.property] for one in group.spreads]
        self._counts = [numbers(column, group.has) for column in columns]
        cells: dict[tuple[int, ...], _Cell] = {}
        labels = zip(*(column[rows].tolist() for column in columns), strict=True)
        for key, row, fit in zip(labels, rows.tolist(), slots[rows].tolist(), strict=True):
            cell = cells.setdefault(key, _Cell(key, [], []))
            cell.rows.append(row)
            cell.left.append(fit)
        self._cells = list(cells.values())

    def filled(self, budget: RequestBudget) -> Members:
        """Return the members, as many as possible."""
        members: Counter[int] = Counter()
        for _ in range(self._group.maximum):
            budget.check()
            fewest = [*map(_fewest, self._group.spreads, self._counts)]
            possible = [cell for cell in self._cells if self._may_grow(cell, fewest)]
            if not possible:
                break
            cell = min(possible, key=self._order)
            members[cell.take()] += 1
            for counts, label in zip(self._counts, cell.labels, strict=True):
                counts[label] += 1
        return members

    def _may_grow(self, cell: _Cell, fewest: Sequence[int]) -> bool:
        return cell.next < len(cell.rows) and all(
            counts[label] + 1 - least <= one.max_skew
            for one, counts, label, least in zip(
                self._group.spreads, self._counts, cell.labels, fewest, strict=True
            )
        )

    def _order(self, cell: _Cell) -> tuple[int, int, int]:
        used = sum(counts[label] for counts, label in zip(self._counts, cell.labels, strict=True))
        row = cell.rows[cell.next]
        return used, -self._group.weight(row), int(self._group.rank[row])


def _fewest(one: EvenSpread, counts: Counter[int]) -> int:
    """Return the smallest number of members with one of the values."""
    return min((counts[value] for value in one.values), default=0)
