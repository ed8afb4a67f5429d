# SPDX-License-Identifier: Apache-2.0

"""What would be free if some allocations were elsewhere."""

from __future__ import annotations

import functools
from collections import Counter
from collections import defaultdict
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence

import numpy as np

from climate.allocation import extracts
from climate.allocation.blocks import Block
from climate.allocation.blocks import Bookings
from climate.allocation.blocks import Bounds
from climate.allocation.steps import Ints
from climate.allocation.steps import microseconds
from climate.domain.leases import Allocation
from climate.domain.periods import Period

Change = Callable[[Block, Mapping[str, Bookings]], Block]


class Rearrangement:
    """Timelines without some of the allocations that there are, and with some that are not.

    One object serves one transaction, which has written nothing yet.

    :ivar left_out: ids of the reservations whose allocations are left out
    :ivar added: allocations that are not there
    :param pause: the time for cleaning before and after an allocation of a whole resource, in
        microseconds
    """

    def __init__(self, pause: int = 0) -> None:
        self.left_out: set[str] = set()
        self.added: list[Allocation] = []
        self._pause = pause
        self._blocks: dict[str, list[Block]] = {}
        self._changes: list[tuple[Change, Mapping[str, Bookings]]] = []

    def blocks(self, resource_type: str, read: Callable[[], list[Block]]) -> list[Block]:
        """Return the resources of a type.

        :param read: returns them with the allocations that there are
        """
        if resource_type not in self._blocks:
            found = read()
            for change, bookings in self._changes:
                found = _changed(found, change, bookings)
            self._blocks[resource_type] = found
        return self._blocks[resource_type]

    def remove(self, allocations: Collection[Allocation]) -> None:
        """Leave allocations out that are there."""
        self.left_out.update(item.reservation_id for item in allocations)
        self._change(extracts.without, allocations)

    def add(self, allocations: Collection[Allocation]) -> None:
        """Add allocations that are not there."""
        self.added += allocations
        self._change(extracts.extended, allocations)

    def _change(self, change: Change, allocations: Collection[Allocation]) -> None:
        bookings = extracts.bookings(allocations)
        if not bookings:
            return
        self._changes.append((change, bookings))
        for resource_type, blocks in self._blocks.items():
            self._blocks[resource_type] = _changed(blocks, change, bookings)

    def has_room(self, resource_type: str, allocations: Collection[Allocation]) -> bool:
        """Whether allocations that were removed can be added where they were.

        :param resource_type: of the resources, which have been read
        """
        wanted: dict[Period, list[Allocation]] = defaultdict(list)
        for item in allocations:
            wanted[item.period].append(item)
        return all(
            _has_room(self._blocks[resource_type], items, self._bounds(period))
            for period, items in wanted.items()
        )

    def _bounds(self, period: Period) -> Bounds:
        start, end = microseconds(period.start), microseconds(period.end)
        return Bounds(
            start=start, end=end, clear_start=start - self._pause, clear_end=end + self._pause
        )


def _changed(
    blocks: Sequence[Block], change: Change, bookings: Mapping[str, Bookings]
) -> list[Block]:
    ids = np.unique(np.concatenate([found.resource_ids for found in bookings.values()]))
    return [
        change(block, bookings) if np.isin(ids, block.ids, assume_unique=True).any() else block
        for block in blocks
    ]


def _has_room(blocks: Sequence[Block], items: Sequence[Allocation], bounds: Bounds) -> bool:
    """Whether there is room for some allocations of one period."""
    amounts: Counter[tuple[int, str | None]] = Counter()
    for item in items:
        amounts[item.resource_id, item.resource_class] += item.amount
    for block in blocks:
        rows = {resource_id: row for row, resource_id in enumerate(block.ids.tolist())}
        mine = {key: amounts.pop(key) for key in [*amounts] if key[0] in rows}
        room = functools.cache(functools.partial(_room, block, bounds))
        if any(room(name)[rows[key]] < amount for (key, name), amount in mine.items()):
            return False
    return not amounts


def _room(block: Block, bounds: Bounds, name: str | None) -> Ints:
    """Return the free units of a class throughout a period by row; 1 if the whole is free."""
    if name is None:
        return block.free(bounds).astype(np.int64)
    return np.where(block.shared(bounds), block.left(name, bounds), 0)
