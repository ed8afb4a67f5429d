# SPDX-License-Identifier: Apache-2.0

"""The best of many resources for a booking, as candidates.

The order is that of :func:`climate.allocation.shares.choose`, which chooses among the
candidates: a lease of a few resources needs a few hundred of ten thousand.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy import typing as npt

from climate.allocation.blocks import Block
from climate.allocation.blocks import Bounds
from climate.allocation.steps import Bools
from climate.allocation.steps import instant
from climate.allocation.steps import Ints
from climate.domain.resources import Candidate
from climate.domain.resources import Room

Numbers = npt.NDArray[np.int64] | npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RankedResources:
    """Resources with free slots, the best first.

    :ivar blocks: in which they are
    :ivar places: the place of the block of each
    :ivar rows: the row of each in its block
    :ivar slots: how many slots fit on each
    :ivar left: by block, the free units of each class and row
    :ivar sides: by block, when each row changes for the last time before the period, and for
        the first time after it; -1 if never
    """

    blocks: Sequence[Block]
    places: Ints
    rows: Ints
    slots: Ints
    left: Sequence[Mapping[str, Ints]] = ()
    sides: Sequence[tuple[Ints, Ints]] = ()

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def ids(self) -> Ints:
        """The ids of the resources."""
        found = [block.ids for block in self.blocks]
        starts = np.cumsum([0, *map(len, found)])
        every = np.concatenate([np.zeros(0, dtype=np.int64), *found])
        ids: Ints = every[starts[self.places] + self.rows]
        return ids

    def only(self, which: Bools) -> RankedResources:
        """Return those resources for which *which* is true."""
        return RankedResources(
            blocks=self.blocks,
            places=self.places[which],
            rows=self.rows[which],
            slots=self.slots[which],
            left=self.left,
            sides=self.sides,
        )

    def named(self, names: Collection[str]) -> Bools:
        """Whether each resource has one of some names."""
        wanted = frozenset(names)
        if not wanted:
            return np.zeros(len(self), dtype=np.bool_)
        found = [block.names[row] in wanted for _, block, row in self._each(None)]
        return np.array(found, dtype=np.bool_)

    def _each(self, limit: int | None) -> list[tuple[int, Block, int]]:
        """Return the place of the block, the block and the row of the first resources."""
        places, rows = self.places[:limit].tolist(), self.rows[:limit].tolist()
        return [(place, self.blocks[place], row) for place, row in zip(places, rows, strict=True)]

    def candidates(self, now: int, limit: int) -> list[Candidate]:
        """Return the first whole resources as candidates.

        :param now: in microseconds since 1970; what ended before does not count
        """
        sides = self.sides
        return [
            Candidate(
                resource_id=int(block.ids[row]),
                name=block.names[row],
                generation=int(block.generations[row]),
                busy_until=None if (before := int(sides[place][0][row])) < now else instant(before),
                busy_from=None if (after := int(sides[place][1][row])) < 0 else instant(after),
            )
            for place, block, row in self._each(limit)
        ]

    def rooms(self, demand: Iterable[str], limit: int | None) -> list[Room]:
        """Return the free capacity of the first resources; of all if *limit* is None."""
        return [
            Room(
                resource_id=int(block.ids[row]),
                name=block.names[row],
                generation=int(block.generations[row]),
                capacity={name: int(block.supplies[name].capacity[row]) for name in demand},
                left={name: int(self.left[place][name][row]) for name in demand},
            )
            for place, block, row in self._each(limit)
        ]


def wholes(
    blocks: Sequence[Block], bounds: Bounds, now: int, rng: random.Random, most: int | None = None
) -> RankedResources:
    """Return the resources that are free as a whole: those that leave the smallest holes first.

    :param most: limits how many of each block are compared. They start at a random row, so
        that concurrent searches do not all choose the same; None compares all
    """
    gaps = [block.gaps(bounds) for block in blocks]
    sides = [(before, after) for _, before, after in gaps]

    def keys(place: int, rows: Ints) -> tuple[Numbers, Ints]:
        before, after = (side[rows] for side in sides[place])
        has_before, has_after = before >= now, after >= 0
        holes = np.where(has_before, bounds.start - before, 0) + np.where(
            has_after, after - bounds.end, 0
        )
        return 2 - has_before.astype(np.int64) - has_after, holes

    slots = [
        (block.bookable & free).astype(np.int64)
        for block, (free, _, _) in zip(blocks, gaps, strict=True)
    ]
    if most is not None:
        slots = [_sample(found, most, rng) for found in slots]
    places, rows, found = _best(slots, keys, rng)
    return RankedResources(blocks=blocks, places=places, rows=rows, slots=found, sides=sides)


def _sample(slots: Ints, most: int, rng: random.Random) -> Ints:
    """Return slots per row, without those of all but some rows."""
    rows = np.flatnonzero(slots)
    if len(rows) <= most:
        return slots
    some = np.roll(rows, -rng.randrange(len(rows)))[:most]
    found = np.zeros_like(slots)
    found[some] = slots[some]
    return found


def parts(
    blocks: Sequence[Block], demand: Mapping[str, int], bounds: Bounds, rng: random.Random
) -> RankedResources:
    """Return the resources with room for a demand: the most used first, then the fullest.

    :param demand: units by resource class, at least 1 each
    """
    rooms = [block.rooms(demand, bounds) for block in blocks]

    def keys(place: int, rows: Ints) -> tuple[Numbers, Ints]:
        slots, left = rooms[place]
        supplies = blocks[place].supplies
        shares = [left[name][rows] / supplies[name].capacity[rows] for name in demand]
        return np.minimum.reduce(shares), slots[rows]

    places, rows, found = _best([slots for slots, _ in rooms], keys, rng)
    left = [left for _, left in rooms]
    return RankedResources(blocks=blocks, places=places, rows=rows, slots=found, left=left)


def rooms(block: Block, demand: Mapping[str, int], bounds: Bounds) -> list[Room]:
    """Return the free capacity of the resources that have all classes of a demand.

    Also of those with too little left; without those that are taken as a whole.

    :param demand: units by resource class, at least 1 each
    """
    rows = np.flatnonzero(block.open_to(demand) & block.shared(bounds))
    if not len(rows):
        return []
    left = {name: block.left(name, bounds) for name in demand}
    found = RankedResources(
        blocks=[block],
        places=np.zeros_like(rows),
        rows=rows,
        slots=np.zeros_like(rows),
        left=[left],
    )
    return found.rooms(demand, None)


def _best(
    slots: Sequence[Ints], keys: Callable[[int, Ints], tuple[Numbers, Ints]], rng: random.Random
) -> tuple[Ints, Ints, Ints]:
    """Return the resources with slots, ordered by two keys and then at random.

    The random order keeps processes that book at the same time from choosing the same.

    :param slots: by row, of each block
    :returns: the place of the block, the row and the slots of each
    """
    rows = [found.nonzero()[0] for found in slots]
    found_keys = [keys(place, some) for place, some in enumerate(rows) if len(some)]
    all_rows = _joined(rows)
    places = np.repeat(np.arange(len(rows)), [len(some) for some in rows])
    if not found_keys:
        return places, all_rows, all_rows
    first, second = map(_joined, zip(*found_keys, strict=True))
    shuffled = np.random.Generator(np.random.PCG64(rng.getrandbits(64))).random(len(all_rows))
    order = np.lexsort((shuffled, second, first))
    found = _joined([found[some] for found, some in zip(slots, rows, strict=True)])
    return places[order], all_rows[order], found[order]


def _joined(arrays: Sequence[Any]) -> Any:
    """Return arrays as one."""
    if len(arrays) == 1:
        return arrays[0]
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.int64)
