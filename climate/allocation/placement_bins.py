# SPDX-License-Identifier: Apache-2.0

"""Rows that are alike for a search, in bins; few bins make a search fast.

A search chooses how many members of each group go into a bin. :meth:`Bins.placed`
distributes them over the rows of the bin.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

import numpy as np

from climate.allocation.placement_problem import Members
from climate.allocation.placement_problem import Placed
from climate.allocation.placement_problem import Problem
from climate.allocation.placement_problem import Usage
from climate.allocation.steps import Bools
from climate.allocation.steps import Ints
from climate.domain.budgets import RequestBudget
from climate.domain.budgets import UNLIMITED

_MOST_COMPARED: Final = 1024


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Bin:
    """Rows with the same labels, and of the same value to each group.

    :ivar rows: one row, unless the members of all groups can be exchanged among the rows
    :ivar room: how many members of each group fit; groups that may not use it are missing
    """

    rows: Ints
    room: Mapping[int, int]

    @property
    def first(self) -> int:
        """The row that stands for all of them."""
        return int(self.rows[0])


class Bins:
    """The bins of a problem.

    :param most: how many rows to consider where each needs a bin of its own: the best of
        each combination of labels and values
    :param budget: if it is spent, no more bins are made
    :ivar complete: whether no assignment is missed
    """

    def __init__(self, problem: Problem, most: int, budget: RequestBudget = UNLIMITED) -> None:
        self.problem = problem
        self._budget = budget
        usage = Usage(problem)
        self.slots = [usage.slots(place) for place in range(len(problem.groups))]
        self.complete = True
        self.found = [one for part in self._parts() for one in self._bins(part, most) if one.room]

    def _parts(self) -> list[tuple[int, ...]]:
        """Return the groups that may use the same rows, together."""
        parts: list[tuple[set[int], Bools]] = []
        for place, slots in enumerate(self.slots):
            groups, rows = {place}, slots > 0
            for other in [one for one in parts if (one[1] & rows).any()]:
                parts.remove(other)
                groups, rows = groups | other[0], rows | other[1]
            parts.append((groups, rows))
        return [tuple(sorted(groups)) for groups, _ in parts]

    def _bins(self, part: Sequence[int], most: int) -> Iterator[Bin]:
        groups = [self.problem.groups[place] for place in part]
        alone = len(part) == 1 and not groups[0].together
        wholes = not any(group.demand or group.together for group in groups)
        cells = sorted(self._alike(part), key=lambda rows: -len(rows))
        if len(cells) > most:
            cells, self.complete = cells[:most], False
        for rows in cells:
            if self._budget.spent:
                self.complete = False
                return
            if alone:
                yield Bin(rows=rows, room={part[0]: int(self.slots[part[0]][rows].sum())})
            elif wholes:
                yield Bin(
                    rows=rows,
                    room={place: len(rows) for place in part if self.slots[place][rows[0]]},
                )
            else:
                for row in self._best(part, rows, max(most // len(cells), 1)).tolist():
                    fits = {place: int(self.slots[place][row]) for place in part}
                    yield Bin(
                        rows=np.array([row], dtype=np.int64),
                        room={place: fit for place, fit in fits.items() if fit},
                    )

    def _alike(self, part: Sequence[int]) -> Iterator[Ints]:
        """Yield rows with the same labels and the same values, for the same groups."""
        names = {
            name
            for number in part
            for name in (
                *(one.property for one in self.problem.groups[number].spreads),
                *(one.property for one in self.problem.sames if number in one.groups),
            )
        }
        open_ = np.array([self.slots[place] > 0 for place in part])
        rows = np.flatnonzero(open_.any(axis=0))
        keys = [*open_[:, rows].astype(np.int64)]
        keys += [self.problem.labels[name][rows] for name in sorted(names)]
        for place in part:
            weights = self.problem.groups[place].weights
            if weights is not None:
                keys.append(weights[rows])
        order = np.lexsort(keys)
        changes = np.zeros(max(len(rows) - 1, 0), dtype=np.bool_)
        for key in keys:
            changes |= np.diff(key[order]) != 0
        for found in np.split(rows[order], np.flatnonzero(changes) + 1):
            if len(found):
                yield found

    def _best(self, part: Sequence[int], rows: Ints, limit: int) -> Ints:
        """Return rows that are enough, whatever is placed on the others.

        A row is not needed if as many others as there are members offer at least as much:
        one of them is free whenever this row would be used.
        """
        groups = [self.problem.groups[place] for place in part]
        most = sum(group.maximum for group in groups)
        room = [
            np.minimum(self.slots[place][rows], self.problem.groups[place].maximum)
            for place in part
        ]
        for name in sorted({name for group in groups for name in group.demand}):
            needed = sum(group.maximum * group.demand.get(name, 0) for group in groups)
            if name in self.problem.free:
                room.append(np.minimum(self.problem.free[name][rows], needed))
        offers = np.array(room)
        order = np.argsort(-offers.sum(axis=0), kind='stable')
        rows, offers = rows[order], offers[:, order]
        if most < len(rows) <= _MOST_COMPARED:
            kept = self._not_exceeded(offers, most)
            rows = rows[kept]
        if len(rows) > limit:
            self.complete = False
        return rows[:limit]

    @staticmethod
    def _not_exceeded(offers: Ints, most: int) -> Bools:
        """Whether fewer than *most* of the columns before each one offer as much."""
        # Columns are sorted by their sums, so none after it offers more in every way.
        count = offers.shape[1]
        as_much = np.ones((count, count), dtype=np.bool_)
        for offer in offers:
            as_much &= offer[:, None] >= offer[None, :]
        found: Bools = np.triu(as_much, 1).sum(axis=0) < most
        return found

    def placed(self, counts: Sequence[Mapping[int, int]]) -> Placed:
        """Return an assignment from the numbers of members in each bin.

        :param counts: for each group, by the place of the bin
        """
        members: list[dict[int, int]] = [{} for _ in counts]
        taken: set[int] = set()
        for place, found in enumerate(counts):
            group = self.problem.groups[place]
            for number, count in found.items():
                rows = group.order(self.found[number].rows)
                members[place] |= self._over(place, rows, count, taken)
            if not group.demand:
                taken |= members[place].keys()
        return self.problem.placed(members)

    def _over(self, place: int, rows: Ints, count: int, taken: set[int]) -> Members:
        found: dict[int, int] = {}
        for row in rows.tolist():
            if count and row not in taken and self.slots[place][row]:
                found[row] = min(count, int(self.slots[place][row]))
                count -= found[row]
        return found
