# SPDX-License-Identifier: Apache-2.0

"""The members of groups, the resources on which they can be placed, and the conditions.

A *member* is one slot of a reservation: a whole resource, or the units of a demand. All
members of a *group* are alike. The resources are numbered; each is a *row* of the arrays
here, whatever its type. A *label* is the value of a property, as a number.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

import numpy as np

from climate.allocation.steps import Bools
from climate.allocation.steps import Ints

UNLABELED: Final = -1
"""The label of a row whose resource lacks the property."""

Members = Mapping[int, int]
"""How many members of a group are on each row."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class EvenSpread:
    """Members are spread evenly over the values of a property.

    :ivar max_skew: the largest difference between the numbers of members with two values
    :ivar values: the labels that count, even if nothing with that label is free
    """

    property: str
    max_skew: int
    values: frozenset[int]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Same:
    """All members of some groups have the same value of a property.

    :ivar groups: their places in the problem
    """

    property: str
    groups: frozenset[int]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Group:
    """Members that are alike.

    :ivar minimum: how many members to place at least
    :ivar maximum: how many to place at most
    :ivar slots: by row, how many fit next to what is allocated; 0 if the resource does
        not match
    :ivar rank: by row, the order among equally good ones: the lowest first
    :ivar demand: units of a member by resource class; empty for whole resources
    :ivar weights: by row, the value of a member there; None if all are equal
    :ivar apart: whether no two members may share a resource
    :ivar together: whether all members must share one resource
    :ivar apart_from: places of groups that may share no resource with this one
    :ivar has: members that are already placed; *slots* and free units leave room for them
    """

    minimum: int
    maximum: int
    slots: Ints
    rank: Ints
    demand: Mapping[str, int] = dataclasses.field(default_factory=dict)
    weights: Ints | None = None
    apart: bool = False
    together: bool = False
    spreads: tuple[EvenSpread, ...] = ()
    apart_from: frozenset[int] = frozenset()
    has: Members = dataclasses.field(default_factory=dict)

    def weight(self, row: int) -> int:
        """Return the value of a member on a row."""
        return 0 if self.weights is None else int(self.weights[row])

    def order(self, rows: Ints) -> Ints:
        """Return rows with the most valuable first, and among equals by rank."""
        if self.weights is None:
            return rows[np.argsort(self.rank[rows], kind='stable')]
        return rows[np.lexsort((self.rank[rows], -self.weights[rows]))]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Problem:
    """Groups that are placed together.

    :ivar free: units by resource class and row, where several groups use a class
    :ivar labels: by property and row; :data:`UNLABELED` for none
    """

    groups: Sequence[Group]
    free: Mapping[str, Ints] = dataclasses.field(default_factory=dict)
    labels: Mapping[str, Ints] = dataclasses.field(default_factory=dict)
    sames: Sequence[Same] = ()

    def placed(self, members: Sequence[Members]) -> Placed:
        """Return an assignment with its size and score."""
        return Placed(
            members=tuple({row: count for row, count in one.items() if count} for one in members),
            count=sum(sum(one.values()) for one in members),
            score=sum(
                group.weight(row) * count
                for group, one in zip(self.groups, members, strict=True)
                for row, count in one.items()
            ),
        )

    def apart(self, one: int, other: int) -> bool:
        """Whether two groups may not share a resource."""
        return other in self.groups[one].apart_from or one in self.groups[other].apart_from

    def cliques(self) -> list[frozenset[int]]:
        """Return groups of which no two may share a resource; all such pairs are in one."""
        apart = {
            place: {other for other in range(len(self.groups)) if self.apart(place, other)}
            for place, group in enumerate(self.groups)
        }
        left = {(one, other) for one in apart for other in apart[one] if one < other}
        found = []
        for pair in sorted(left):
            if pair in left:
                clique = set(pair)
                for place, others in apart.items():
                    if clique <= others:
                        clique.add(place)
                found.append(frozenset(clique))
                left.difference_update(itertools.combinations(sorted(clique), 2))
        return found

    def terms(self) -> int:
        """Return how many variables and constraints each resource adds at most."""
        found = len(self.free) + len(self.cliques())
        for place, group in enumerate(self.groups):
            shared = sum(place in same.groups for same in self.sames)
            found += 2 + 2 * (group.together + len(group.spreads) + shared)
            found += 2 * any(self.apart(place, other) for other in range(len(self.groups)))
        return found

    def is_even(self, place: int, members: Members) -> bool:
        """Whether a group is spread as required, with the members that it has."""
        group = self.groups[place]
        for one in group.spreads:
            labels = self.labels[one.property]
            found = numbers(labels, group.has) + numbers(labels, members)
            fewest = min((found[value] for value in one.values), default=0)
            if max(found.values(), default=0) - fewest > one.max_skew:
                return False
        return True

    def bound(self) -> tuple[int, int]:
        """Return a number of members and a score that no assignment exceeds."""
        count = score = 0
        usage = Usage(self)
        for place, group in enumerate(self.groups):
            slots = usage.slots(place)
            rows = group.order(np.flatnonzero(slots))
            ends = np.cumsum(slots[rows])
            most = min(group.maximum, int(ends[-1]) if len(ends) else 0)
            count += most
            if group.weights is not None:
                taken = np.minimum(ends, most) - np.minimum(ends - slots[rows], most)
                score += int((taken * group.weights[rows]).sum())
        return count, score


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Placed:
    """Rows for the members of each group.

    :ivar count: of all members
    :ivar score: the sum of the values of all members
    """

    members: tuple[Members, ...]
    count: int
    score: int

    @property
    def quality(self) -> tuple[int, int]:
        """The larger, the better: more members first, then a higher score."""
        return self.count, self.score


class Usage:
    """What members use that were placed so far, and what is left.

    :param problem: with the members that groups already have
    :ivar values: the label that each condition in :attr:`Problem.sames` is bound to
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._free = {name: units.copy() for name, units in problem.free.items()}
        self._rows: list[set[int]] = [set(group.has) for group in problem.groups]
        self._wholes: set[int] = set()
        self._parts: set[int] = set()
        self._sames = [
            [(number, same) for number, same in enumerate(problem.sames) if place in same.groups]
            for place in range(len(problem.groups))
        ]
        self.values: dict[int, int] = {}
        self.contradictory = not all(map(self._bind, range(len(problem.sames))))

    def _bind(self, number: int) -> bool:
        """Bind a condition to the value that members already have; False if they differ."""
        same = self._problem.sames[number]
        labels = self._problem.labels[same.property]
        found = {int(labels[row]) for place in same.groups for row in self._rows[place]}
        if len(found) == 1:
            self.values[number] = found.pop()
        return len(found) < 2

    def add(self, place: int, members: Members) -> None:
        """Count members of a group as placed."""
        group = self._problem.groups[place]
        self._rows[place].update(members)
        if not group.demand:
            self._wholes.update(members)
            return
        self._parts.update(members)
        for name, units in group.demand.items():
            for row, count in members.items():
                self._free[name][row] -= units * count

    def slots(self, place: int) -> Ints:
        """Return how many members of a group fit on each row, as long as they are few enough."""
        if self.contradictory:
            return np.zeros_like(self._problem.groups[place].slots)
        group = self._problem.groups[place]
        slots = group.slots.copy()
        for name, units in group.demand.items():
            if name in self._free:
                np.minimum(slots, np.maximum(self._free[name], 0) // units, out=slots)
        slots[self._closed(place)] = 0
        if group.apart:
            np.minimum(slots, 1, out=slots)
        for one in group.spreads:
            slots[~np.isin(self._problem.labels[one.property], list(one.values))] = 0
        for number, same in self._sames[place]:
            slots[~self._has_value(number, same)] = 0
        if group.together and group.has:
            kept = next(iter(group.has))
            slots[np.arange(len(slots)) != kept] = 0
        return slots

    def _closed(self, place: int) -> list[int]:
        """Return the rows that a group may not use, because of other members."""
        group, closed = self._problem.groups[place], set(self._wholes)
        if not group.demand:
            closed |= self._parts
        if group.apart or not group.demand:
            closed |= self._rows[place]
        for other, rows in enumerate(self._rows):
            if other != place and self._problem.apart(place, other):
                closed |= rows
        return sorted(closed)

    def _has_value(self, number: int, same: Same) -> Bools:
        labels = self._problem.labels[same.property]
        found: Bools = labels == self.values[number] if number in self.values else labels >= 0
        return found


def numbers(labels: Ints, members: Members) -> Counter[int]:
    """Return how many members have each label."""
    found: Counter[int] = Counter()
    for row, count in members.items():
        found[int(labels[row])] += count
    return found
