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

"""Free resources for requirements, from timelines in memory instead of SQL."""

from __future__ import annotations

import dataclasses
import datetime
import random
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence

import numpy as np

from climate.allocation import selection
from climate.allocation.blocks import Block
from climate.allocation.blocks import Bounds
from climate.allocation.selection import Space
from climate.allocation.steps import instant
from climate.allocation.steps import LATEST
from climate.allocation.steps import microseconds
from climate.booking.requirements import Reasons
from climate.booking.requirements import Requirements
from climate.booking.requirements import Searches
from climate.booking.requirements import total
from climate.db.rooms import Room
from climate.db.rooms import Window
from climate.db.search import Match
from climate.db.search import used_classes
from climate.db.store import Transaction
from climate.domain.resources import Candidate
from climate.leases.settings import LeasingSettings

_NONE = np.zeros(0, dtype=np.int64)


class TimelineSearches(Searches):
    """Searches in memory; what timelines do not know is searched for in SQL.

    That is: resources that a request names, and requests of leases that already have
    allocations, which must not count.
    """

    def __init__(
        self, tx: Transaction, settings: LeasingSettings, rng: random.Random, together: int = 0
    ) -> None:
        super().__init__(tx, settings, rng, together)
        self._rng = rng

    def untouched(self, needed: Requirements, taken: Collection[int]) -> list[Candidate]:
        """Return the whole resources that leave the smallest holes."""
        blocks = self._blocks(needed)
        if blocks is None or needed.search.names:
            return super().untouched(needed, taken)
        bounds = _bounds(Window(period=needed.period, padded=needed.padded))
        now = microseconds(self._tx.now)
        found = selection.wholes(blocks, bounds, now, self._rng)
        limit = self._limit(needed, taken)
        candidates = found.candidates(bounds, now, limit)
        return [item for item in candidates if item.resource_id not in taken]

    def rooms(
        self, needed: Requirements, window: Window, never: Collection[int]
    ) -> Iterator[list[Room]]:
        """Yield the most used resources with room, then all."""
        blocks = None if window.except_reservations else self._blocks(needed)
        if blocks is None:
            yield from super().rooms(needed, window, never)
            return
        demand = used_classes(needed.search.demand)
        bounds = _bounds(window)
        found = selection.parts(blocks, demand, bounds, self._rng)
        limit = self._limit(needed, never)
        yield list(map(_room, found.spaces(demand, bounds, limit)))
        if len(found) > limit:
            yield list(map(_room, found.spaces(demand, bounds, None)))

    def reasons(
        self,
        needed: Requirements,
        window: Window,
        fit: Callable[[Room], int],
        reduced: Collection[int],
    ) -> Reasons:
        """Explain why there are too few slots."""
        blocks = None if window.except_reservations else self._blocks(needed)
        if blocks is None or needed.search.names:
            return super().reasons(needed, window, fit, reduced)
        demand = used_classes(needed.search.demand)
        bounds = _bounds(window)
        if not demand:
            return _reasons_of_wholes(blocks, bounds)
        sizes = [block.sizes(demand) for block in blocks]
        matched = total(needed.search.spread, np.concatenate([_NONE, *sizes]).tolist())
        ends = (
            block.first_end(size > 0, demand, bounds.clear_start, bounds.clear_end)
            for block, size in zip(blocks, sizes, strict=True)
        )
        free = self._free_slots(blocks, demand, bounds, fit, reduced)
        return Reasons(
            matched=matched,
            free=total(needed.search.spread, free),
            first_end=_end(ends),
            too_large=not matched and any(block.bookable.any() for block in blocks),
        )

    def _free_slots(
        self,
        blocks: Sequence[Block],
        demand: Mapping[str, int],
        bounds: Bounds,
        fit: Callable[[Room], int],
        reduced: Collection[int],
    ) -> list[int]:
        """Return how many slots fit on each resource, in addition to the other reservations."""
        found = selection.parts(blocks, demand, bounds, self._rng)
        shared = np.isin(found.ids, np.array(sorted(reduced), dtype=np.int64))
        rooms = map(_room, found.only(shared).spaces(demand, bounds, None))
        return [*found.slots[~shared].tolist(), *map(fit, rooms)]

    def _blocks(self, needed: Requirements) -> Sequence[Block] | None:
        """Return the resources that match; None if the timeline does not tell."""
        if needed.own or needed.only is not None:
            return None
        blocks = self._tx.timeline(needed.search.resource_type)
        if blocks is None or _is_any(needed.match):
            return blocks
        ids = np.array(self._tx.search.ids(needed.match), dtype=np.int64)
        return [block.limited_to(ids) for block in blocks]


def _is_any(match: Match) -> bool:
    return match == Match(resource_type=match.resource_type, private=match.private)


def _reasons_of_wholes(blocks: Sequence[Block], bounds: Bounds) -> Reasons:
    rows = [block.in_service(bounds) for block in blocks]
    ends = (
        block.first_blocker_end(found, bounds) for block, found in zip(blocks, rows, strict=True)
    )
    return Reasons(
        matched=sum(int(found.sum()) for found in rows),
        free=sum(int(block.slots({}, bounds).sum()) for block in blocks),
        first_end=_end(ends),
    )


def _end(times: Iterable[int]) -> datetime.datetime | None:
    first = min(times, default=LATEST)
    return None if first == LATEST else instant(first)


def _bounds(window: Window) -> Bounds:
    return Bounds(
        start=microseconds(window.period.start),
        end=microseconds(window.period.end),
        clear_start=microseconds(window.padded.start),
        clear_end=microseconds(window.padded.end),
    )


def _room(space: Space) -> Room:
    return Room(**{field.name: getattr(space, field.name) for field in dataclasses.fields(space)})
