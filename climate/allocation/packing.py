# SPDX-License-Identifier: Apache-2.0

"""Distributes bookings of whole resources over resources, so that all of them find enough.

Each booking has a period. A sweep in the order of their starts is exact if nothing else is booked
later, and if all resources are equal: whatever a booking gets, as many are left. Otherwise a
booking that finds too little comes first in another sweep, a few times.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final

import numpy as np

from climate.allocation.blocks import Block
from climate.allocation.blocks import Bounds
from climate.allocation.steps import Bools
from climate.allocation.steps import Ints

_SWEEPS: Final = 6
_NOTHING: Final = np.zeros(0, dtype=np.int64)
_NEVER: Final = np.iinfo(np.int64).max


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PackedBooking:
    """Whole resources that one reservation needs.

    :ivar bounds: the period
    :ivar count: how many
    :ivar suits: which ones it can have, by row
    :ivar has: the rows of those that it has now, which it keeps if possible
    """

    bounds: Bounds
    count: int
    suits: Bools
    has: Ints


class Packing:
    """What the blocks of one resource type have free, in rows one after the other.

    :param blocks: without the bookings that are to be distributed
    :param bookings: these
    """

    def __init__(self, blocks: Sequence[Block], bookings: Sequence[PackedBooking]) -> None:
        self._bookings = bookings
        self._there: list[tuple[Bools, Ints]] = []
        for one in bookings:
            gaps = [block.gaps(one.bounds) for block in blocks]
            until = np.concatenate([after for _, _, after in gaps])
            free = np.concatenate([free for free, _, _ in gaps])
            self._there.append((free, np.where(until < 0, _NEVER, until)))
        bounds = [one.bounds for one in bookings]
        starts = np.array([one.start for one in bounds])
        ends = np.array([one.end for one in bounds])
        # What is booked before or after needs a pause on one side of it.
        clear_starts = np.array([one.clear_start for one in bounds]).reshape(-1, 1)
        clear_ends = np.array([one.clear_end for one in bounds]).reshape(-1, 1)
        self._overlaps: Bools = (starts < clear_ends) & (ends > clear_starts)
        np.fill_diagonal(self._overlaps, val=False)
        suits = np.array([one.suits for one in bookings], dtype=np.int64)
        self._asked: Ints = suits.sum(axis=0)

    def rows(self) -> list[Ints] | None:
        """Return the rows that each booking gets; None if no sweep finds enough for all."""
        order = sorted(
            range(len(self._bookings)), key=lambda place: self._bookings[place].bounds.start
        )
        for _ in range(_SWEEPS):
            found = self._swept(order)
            if not isinstance(found, int):
                return found
            if found == order[0]:
                return None
            order = [found, *(place for place in order if place != found)]
        return None

    def _swept(self, order: Sequence[int]) -> list[Ints] | int:
        """Return the rows of each booking, or the place of one that finds too little."""
        found: list[Ints] = [_NOTHING] * len(self._bookings)
        for place in order:
            one = self._bookings[place]
            open_to = self._there[place][0] & one.suits
            # Those that come later have got nothing yet.
            others = np.flatnonzero(self._overlaps[place]).tolist()
            open_to[np.concatenate([_NOTHING, *(found[other] for other in others)])] = False
            rows = self._picked(place, open_to)
            if len(rows) < one.count:
                return place
            found[place] = rows
        return found

    def _picked(self, place: int, open_to: Bools) -> Ints:
        """Return the rows for a booking: those that it has, then what others need least."""
        one = self._bookings[place]
        has = one.has[open_to[one.has]]
        if len(has) >= one.count:
            return np.sort(has[: one.count])
        open_to[has] = False
        rows = np.flatnonzero(open_to)
        until = self._there[place][1][rows]
        others = self._others(place, len(open_to))[rows]
        order = np.lexsort((rows, until, others, self._asked[rows]))
        return np.sort(np.concatenate([has, rows[order[: one.count - len(has)]]]))

    def _others(self, place: int, count: int) -> Ints:
        """Return how many other bookings have each row in the period of one."""
        others = np.flatnonzero(self._overlaps[place]).tolist()
        rows = [self._bookings[other].has for other in others]
        found: Ints = np.bincount(np.concatenate([_NOTHING, *rows]), minlength=count)
        return found
