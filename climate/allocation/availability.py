# SPDX-License-Identifier: Apache-2.0

"""How much of many resources is free in each of many intervals of one length.

What is free of a resource in an interval is free throughout it: a lease of exactly that
interval could have it. The resources of a group are added up.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

import numpy as np

from climate.allocation import extracts
from climate.allocation import profiles
from climate.allocation.blocks import Block
from climate.allocation.buckets import Buckets
from climate.allocation.grid import Grid
from climate.allocation.profiles import Changes
from climate.allocation.profiles import Profile
from climate.allocation.profiles import Spans
from climate.allocation.steps import Ints
from climate.allocation.steps import StepFunctions
from climate.domain.budgets import RequestBudget
from climate.domain.budgets import UNLIMITED

# The arrays of so many steps stay in the caches of the processor, and are allocated without
# asking the system for memory.
_STEPS: Final = 1 << 14


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Amounts:
    """Units in each interval; a row for each group, a column for each interval.

    :ivar free: units that are free throughout the interval
    :ivar total: units of the resources that are in service throughout the interval
    """

    free: Ints
    total: Ints


class _Sums:
    """The changes of an amount from one interval to the next, by group.

    :param groups: how many there are
    """

    def __init__(self, groups: int, buckets: Buckets) -> None:
        # The cells of a row, one more than there are intervals.
        self._size = buckets.number + 1
        self._changes = np.zeros((groups, self._size), dtype=np.int64)

    def add(self, members: _Members, changes: Changes, *, sign: int = 1) -> None:
        """Add the amounts of the resources of a block, or subtract them."""
        shape = len(members.groups), self._size
        cells, amounts = changes.columns, changes.amounts
        if not members.every:
            places = members.places[changes.rows]
            counts = places >= 0
            cells, amounts = (places * self._size + cells)[counts], amounts[counts]
        # Sums of integers are exact in a float as long as they have 53 bits.
        found = np.bincount(cells, weights=amounts, minlength=shape[0] * shape[1])
        self._changes[members.groups] += sign * found.reshape(shape).astype(np.int64)

    def add_throughout(self, members: _Members, amounts: Ints) -> None:
        """Add an amount of each resource of a block that is the same in all intervals."""
        if members.every:
            self._changes[members.groups, 0] += amounts.sum()
        else:
            counts = members.places >= 0
            np.add.at(self._changes[:, 0], members.found[counts], amounts[counts])

    @property
    def found(self) -> Ints:
        """The amounts in each interval."""
        return np.cumsum(self._changes, axis=1)[:, :-1]


class _Amount:
    """What is free of something, and what there is of it, as sums."""

    def __init__(self, groups: int, buckets: Buckets) -> None:
        self.free = _Sums(groups, buckets)
        self.total = _Sums(groups, buckets)

    @property
    def found(self) -> Amounts:
        """The sums."""
        return Amounts(free=self.free.found, total=self.total.found)


class _Members:
    """The resources of a block that count, by group.

    :ivar found: the group of each resource of the block; negative for none
    :ivar groups: those that have some, in ascending order
    :ivar places: the place in *groups* of the group of each resource; -1 for none
    :ivar every: whether all resources are in one group
    """

    def __init__(self, found: Ints) -> None:
        self.found = found
        self.groups, places = np.unique(found, return_inverse=True)
        none = np.count_nonzero(self.groups < 0)
        self.groups = self.groups[none:]
        self.places = np.maximum(places.reshape(-1) - none, -1)
        self.every = len(self.groups) == 1 and not none


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Availability:
    """What is free, and what there is, in each interval.

    :ivar whole: whole resources
    :ivar classes: units by resource class
    :ivar slots: how often the demand fits; None without a demand
    """

    whole: Amounts
    classes: Mapping[str, Amounts]
    slots: Amounts | None


def availability(
    blocks: Sequence[Block],
    buckets: Buckets,
    demand: Mapping[str, int],
    groups: Sequence[Ints],
    number: int,
    budget: RequestBudget = UNLIMITED,
) -> Availability:
    """Return what is free of many resources in each interval.

    Only resources that are open to new bookings count, as they are now.

    :param demand: units of a slot by resource class, at least 1 each; empty to count no
        slots
    :param groups: the group of each resource of each block; negative for none
    :param number: how many groups there are
    :param budget: what is left for the request
    :raises climate.exceptions.RequirementsTooSlow: if it is spent
    """
    # A block also keeps classes that none of its resources has, or has any more.
    names = sorted(
        {
            name
            for block in blocks
            for name, supply in block.supplies.items()
            if supply.max_unit.any()
        }
    )
    whole, slots = _Amount(number, buckets), _Amount(number, buckets)
    classes = {name: _Amount(number, buckets) for name in names}
    for block, mine in zip(blocks, groups, strict=True):
        for rows, part in extracts.split(block, _STEPS):
            budget.check()
            members = _Members(np.where(part.bookable, mine[rows], -1))
            if len(members.groups):
                _BlockSums(part, buckets, members).add(whole, classes, slots, demand)
    return Availability(
        whole=whole.found,
        classes={name: each.found for name, each in classes.items()},
        slots=slots.found if demand else None,
    )


class _BlockSums:
    """Adds up what is free of the resources of a block."""

    def __init__(self, block: Block, buckets: Buckets, members: _Members) -> None:
        self._block = block
        self._buckets = buckets
        self._members = members
        self._grids: list[Grid] = []
        self._out = Spans.busy(block.out, buckets, 0)

    def add(
        self,
        whole: _Amount,
        classes: Mapping[str, _Amount],
        slots: _Amount,
        demand: Mapping[str, int],
    ) -> None:
        """Add what there is of whole resources, classes, and slots of a demand."""
        block = self._block
        ones = np.ones(len(block), dtype=np.int64)
        self._add(whole, Profile.constant(ones, self._buckets), self._taken(), ones)
        taken = self._taken_whole()
        left = {name: self._left(name) for name in block.supplies}
        for name in left.keys() & classes.keys():
            self._add(classes[name], left[name], taken, block.supplies[name].capacity)
        suitable = block.open_to(demand)
        if demand and suitable.any():
            fits = [left[name] for name in demand]
            amounts = demand.values()
            least = profiles.least(
                [
                    each.with_values(each.values // amount)
                    for each, amount in zip(fits, amounts, strict=True)
                ]
            )
            least = least.with_values(np.where(suitable[least.rows], least.values, 0))
            self._add(slots, least, taken, block.sizes(demand))

    def _add(self, amount: _Amount, left: Profile, taken: Spans, most: Ints) -> None:
        """Add to an amount what is left outside *taken*, and the most that may be left."""
        if left.is_constant:
            amount.free.add_throughout(self._members, left.values)
        else:
            amount.free.add(self._members, left.changes())
        if len(taken):
            amount.free.add(self._members, left.within(taken), sign=-1)
        amount.total.add_throughout(self._members, most)
        if len(self._out):
            amount.total.add(self._members, self._out.changes(most), sign=-1)

    def _taken(self) -> Spans:
        """Return when resources are not free as a whole, the time for cleaning included."""
        block, pause = self._block, self._buckets.pause
        return Spans.joined(
            [
                Spans.busy(block.occupied, self._buckets, pause),
                Spans.busy(block.out, self._buckets, pause),
                Spans.until(block.returned, self._buckets, pause),
            ]
        )

    def _taken_whole(self) -> Spans:
        """Return when resources are taken as a whole, or out of service."""
        block, pause = self._block, self._buckets.pause
        return Spans.joined(
            [
                Spans.busy(block.whole, self._buckets, pause),
                self._out,
                Spans.until(block.returned_whole, self._buckets, pause),
            ]
        )

    def _left(self, name: str) -> Profile:
        """Return the units of a class that are left in each interval, at least 0."""
        capacity, used = self._block.supplies[name].capacity, self._block.used[name]
        if used.is_zero:
            return Profile.constant(np.maximum(capacity, 0), self._buckets)
        peaks = Profile.highest(used, self._grid(used), self._buckets)
        return peaks.with_values(np.maximum(capacity[peaks.rows] - peaks.values, 0))

    def _grid(self, function: StepFunctions) -> Grid:
        """Return the intervals of some steps, which are often those of another class."""
        for grid in self._grids:
            if grid.fits(function):
                return grid
        self._grids.append(Grid.of(function, self._buckets))
        return self._grids[-1]
