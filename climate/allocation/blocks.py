# SPDX-License-Identifier: Apache-2.0

"""What a few hundred resources have, and what of it is in use over time.

The resources of a type are kept in blocks, so that a change of one resource copies the
arrays of its block only. A block is immutable: a change makes a new one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

import numpy as np

from climate.allocation.columns import Columns
from climate.allocation.columns import Property
from climate.allocation.steps import Bools
from climate.allocation.steps import Ints
from climate.allocation.steps import LATEST
from climate.allocation.steps import StepFunctions
from climate.allocation.steps import Uses
from climate.allocation.supplies import replaced
from climate.allocation.supplies import Supply
from climate.domain.resources import Inventory

SIZE: Final = 256
"""A block holds the resources whose ids have the same quotient by this."""

WHOLE: Final = ''
"""Stands for the class of allocations of whole resources."""

_NO_USES: Final = Uses.of([])


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Bounds:
    """A requested period in microseconds since 1970.

    :ivar start: of the period
    :ivar end: of the period
    :ivar clear_start: *start*, less the time for cleaning; no resource may be allocated
        as a whole from then on
    :ivar clear_end: *end*, with the time for cleaning
    """

    start: int
    end: int
    clear_start: int
    clear_end: int


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Bookings:
    """Periods of resources; arrays of one length.

    :ivar resource_ids: the resource of each
    :ivar starts: in microseconds since 1970
    :ivar ends: likewise
    :ivar amounts: units
    """

    resource_ids: Ints
    starts: Ints
    ends: Ints
    amounts: Ints

    def where(self, which: Bools) -> Bookings:
        """Return those for which *which* is true."""
        return Bookings(
            resource_ids=self.resource_ids[which],
            starts=self.starts[which],
            ends=self.ends[which],
            amounts=self.amounts[which],
        )

    def of_rows(self, ids: Ints) -> Uses:
        """Return them by row.

        :param ids: of the resources of a block, in ascending order; others are left out
        """
        rows = np.searchsorted(ids, self.resource_ids)
        known = rows < len(ids)
        known[known] = ids[rows[known]] == self.resource_ids[known]
        return Uses(
            rows=rows[known],
            starts=self.starts[known],
            ends=self.ends[known],
            amounts=self.amounts[known],
        )


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class BlockFacts:
    """What is known of some resources of one block.

    :ivar ids: in ascending order
    :ivar names: in the same order, like all others
    :ivar generations: read before everything else
    :ivar bookable: whether each is open to new bookings
    :ivar returned: the latest end of a released allocation, in microseconds since 1970;
        0 if there is none
    :ivar returned_whole: likewise of a released allocation of the whole resource
    :ivar inventories: by resource class, then by resource id
    :ivar whole: live allocations of whole resources, with an amount of 1
    :ivar parts: live allocations of parts, by resource class
    :ivar out: maintenances, with an amount of 1
    :ivar properties: of all of them
    """

    ids: Ints
    names: Sequence[str]
    generations: Ints
    bookable: Bools
    returned: Ints
    returned_whole: Ints
    inventories: Mapping[str, Mapping[int, Inventory]]
    whole: Bookings
    parts: Mapping[str, Bookings]
    out: Bookings
    properties: Sequence[Property] = ()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Block:
    """Up to :data:`SIZE` resources of one type, a row for each; immutable.

    :ivar ids: in ascending order
    :ivar names: by row
    :ivar generations: by row
    :ivar bookable: whether each is open to new bookings
    :ivar occupied: how many live allocations of any kind each has
    :ivar whole: how many live allocations of the whole resource; the same object if there were
        no others
    :ivar out: how many maintenances
    :ivar returned: the latest end of a released allocation, in microseconds since 1970;
        0 if there is none
    :ivar returned_whole: likewise of a released allocation of the whole resource
    :ivar supplies: by resource class
    :ivar used: the units in use, by resource class
    :ivar periods: live allocations by resource class; those of whole resources by :data:`WHOLE`
    :ivar columns: the properties
    """

    ids: Ints
    names: tuple[str, ...]
    generations: Ints
    bookable: Bools
    occupied: StepFunctions
    whole: StepFunctions
    out: StepFunctions
    returned: Ints
    returned_whole: Ints
    supplies: Mapping[str, Supply]
    used: Mapping[str, StepFunctions]
    periods: Mapping[str, Uses]
    columns: Columns = dataclasses.field(default_factory=Columns)

    @classmethod
    def of(cls, facts: BlockFacts) -> Block:
        """Return the block of all resources of *facts*."""
        count = len(facts.ids)
        empty = StepFunctions.of(count, Uses.of([]))
        nothing = np.zeros(count, dtype=np.int64)
        return cls(
            ids=facts.ids,
            names=('',) * count,
            generations=nothing,
            bookable=nothing.astype(np.bool_),
            occupied=empty,
            whole=empty,
            out=empty,
            returned=nothing,
            returned_whole=nothing,
            supplies={},
            used={},
            periods={},
        ).updated(facts)

    def updated(self, facts: BlockFacts) -> Block:
        """Return this block with what *facts* says of some of its resources."""
        rows = np.searchsorted(self.ids, facts.ids)
        names = np.array(self.names, dtype=object)
        names[rows] = facts.names
        parts = self._uses_of_parts(facts)
        whole = facts.whole.of_rows(self.ids)
        occupied = taken = self.whole.replacing(rows, whole)
        if self.occupied is not self.whole or any(map(len, parts.values())):
            counted = [found.counted() for found in (whole, *parts.values())]
            occupied = self.occupied.replacing(rows, Uses.joined(counted))
        return Block(
            ids=self.ids,
            names=tuple(names),
            generations=replaced(self.generations, rows, facts.generations),
            bookable=replaced(self.bookable, rows, facts.bookable),
            occupied=occupied,
            whole=taken,
            out=self.out.replacing(rows, facts.out.of_rows(self.ids)),
            returned=replaced(self.returned, rows, facts.returned),
            returned_whole=replaced(self.returned_whole, rows, facts.returned_whole),
            supplies={
                name: self.supplies.get(name, Supply.none(len(self))).updated(
                    rows, facts.ids, facts.inventories.get(name, {})
                )
                for name in {*self.supplies, *facts.inventories}
            },
            used={
                name: self.used.get(name, self._unused).replacing(rows, uses)
                for name, uses in parts.items()
            },
            periods={
                name: self.periods.get(name, _NO_USES).replacing(rows, uses)
                for name, uses in {WHOLE: whole, **parts}.items()
            },
            columns=self.columns.updated(self.ids, rows, facts.properties),
        )

    @property
    def _unused(self) -> StepFunctions:
        return StepFunctions.of(len(self), Uses.of([]))

    def _uses_of_parts(self, facts: BlockFacts) -> dict[str, Uses]:
        """Return what is in use of every class, also if it is nothing any more."""
        return {
            name: facts.parts[name].of_rows(self.ids) if name in facts.parts else _NO_USES
            for name in {*self.used, *facts.parts, *facts.inventories}
        }

    def __len__(self) -> int:
        return len(self.ids)

    def limited_to(self, ids: Ints) -> Block:
        """Return this block with all resources closed to bookings that are not in *ids*."""
        return self.only(np.isin(self.ids, ids))

    def only(self, rows: Bools) -> Block:
        """Return this block with all resources closed to bookings but those of *rows*."""
        return dataclasses.replace(self, bookable=self.bookable & rows)

    def open_to(self, demand: Mapping[str, int]) -> Bools:
        """Whether each resource can be booked, and has all classes of *demand*.

        :param demand: units by resource class; empty for the whole resource
        """
        found = self.bookable
        for name, amount in demand.items():
            if name not in self.supplies:
                return np.zeros(len(self), dtype=np.bool_)
            found = found & self.supplies[name].accepts(amount)
        return found

    def in_service(self, bounds: Bounds) -> Bools:
        """Whether each resource can be booked as a whole if no allocation is in the way."""
        found: Bools = self.bookable & (self.out.peaks(bounds.clear_start, bounds.clear_end) == 0)
        return found

    def free(self, bounds: Bounds) -> Bools:
        """Whether each resource is free as a whole, the time for cleaning included."""
        return self.gaps(bounds)[0]

    def gaps(self, bounds: Bounds) -> tuple[Bools, Ints, Ints]:
        """Return whether each resource is free as a whole, and when it is not any more.

        :returns: also when each is used for the last time before the period, and for the first
            time after it, the time for cleaning included; -1 if never
        """
        clear = bounds.clear_start, bounds.clear_end
        peaks, before, after = self.occupied.around(*clear)
        free: Bools = (peaks == 0) & (self.returned <= bounds.clear_start)
        if not self.out.is_zero:
            free &= self.out.peaks(*clear) == 0
        return free, before, after

    def shared(self, bounds: Bounds) -> Bools:
        """Whether parts of each resource can be allocated: it is in service and not taken whole."""
        found: Bools = (
            (self.whole.peaks(bounds.clear_start, bounds.clear_end) == 0)
            & (self.out.peaks(bounds.start, bounds.end) == 0)
            & (self.returned_whole <= bounds.clear_start)
        )
        return found

    def left(self, name: str, bounds: Bounds) -> Ints:
        """Return the units of a class that are free throughout the period, by row.

        Negative if a resource is overbooked.
        """
        return self.supplies[name].capacity - self.used[name].peaks(bounds.start, bounds.end)

    def sizes(self, demand: Mapping[str, int]) -> Ints:
        """Return how often *demand* fits on each resource while nothing is in use."""
        suitable, there = self.open_to(demand), self.supplies
        fits = [there[name].capacity // units for name, units in demand.items() if name in there]
        # A capacity is negative if more is reserved than there is.
        return np.where(suitable, np.minimum.reduce(fits) if fits else 1, 0)

    def first_end(self, rows: Bools, names: Iterable[str], start: int, end: int) -> int:
        """Return the first end of an allocation between *start* and *end*.

        :param rows: the resources to consider
        :param names: the resource classes to consider, besides whole resources
        :returns: in microseconds since 1970; :data:`LATEST` if there is none
        """
        found = [LATEST]
        for name in (WHOLE, *names):
            uses = self.periods.get(name, _NO_USES)
            those = (uses.ends > start) & (uses.starts < end) & rows[uses.rows]
            found.append(int(uses.ends[those].min(initial=LATEST)))
        return min(found)

    def first_blocker_end(self, rows: Bools, bounds: Bounds) -> int:
        """Return the first end of what keeps *rows* from being allocated as a whole.

        :returns: in microseconds since 1970; :data:`LATEST` if nothing does
        """
        cleaned = rows & (self.returned > bounds.clear_start)
        clear = bounds.clear_start, bounds.clear_end
        first = self.first_end(rows & ~cleaned, self.used, *clear)
        return min(first, int(self.returned[cleaned].min(initial=LATEST)))

    def slots(self, demand: Mapping[str, int], bounds: Bounds) -> Ints:
        """Return how often *demand* fits on each resource throughout the period.

        :param demand: units by resource class, at least 1 each; empty for the whole
            resource, which fits once or not at all
        """
        if not demand:
            return (self.bookable & self.free(bounds)).astype(np.int64)
        return self.rooms(demand, bounds)[0]

    def rooms(self, demand: Mapping[str, int], bounds: Bounds) -> tuple[Ints, Mapping[str, Ints]]:
        """Return how often *demand* fits, and how much of its classes is free, by row.

        :param demand: units by resource class, at least 1 each
        :returns: without the classes if no resource has all of them
        """
        suitable = self.open_to(demand)
        if not suitable.any():
            return np.zeros(len(self), dtype=np.int64), {}
        left = {name: self.left(name, bounds) for name in demand}
        least = np.minimum.reduce([left[name] // amount for name, amount in demand.items()])
        return np.where(suitable & self.shared(bounds), np.maximum(least, 0), 0), left
