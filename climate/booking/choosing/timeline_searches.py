# SPDX-License-Identifier: Apache-2.0

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
from typing import Any
from typing import Final

import numpy as np

from climate.allocation import extracts
from climate.allocation import selection
from climate.allocation.blocks import Block
from climate.allocation.blocks import Bounds
from climate.allocation.selection import Found
from climate.allocation.steps import instant
from climate.allocation.steps import LATEST
from climate.allocation.steps import microseconds
from climate.booking.choosing import matching
from climate.booking.choosing.requirements import Reasons
from climate.booking.choosing.requirements import Requirements
from climate.booking.choosing.requirements import Searches
from climate.booking.choosing.requirements import total
from climate.db.search.rooms import Window
from climate.db.transactions.store import Transaction
from climate.domain.resources import Candidate
from climate.domain.resources import Room
from climate.domain.resources import Spread
from climate.domain.resources import used_classes
from climate.leases.settings import LeasingSettings

# So many more than needed are checked, because some may have been booked meanwhile.
_SPARE: Final = 7

_NONE = np.zeros(0, dtype=np.int64)


class TimelineSearches(Searches):
    """Searches in memory; like those in SQL, each runs once.

    SQL is used beyond the horizon, while a timeline is loaded, for existing things that a
    request names, and for whole resources of a type with few; but not for requirements of many
    conditions. A few whole resources are
    chosen from the timeline as it was read last, and checked in SQL.
    """

    def __init__(
        self, tx: Transaction, settings: LeasingSettings, rng: random.Random, together: int = 0
    ) -> None:
        super().__init__(tx, settings, rng, together)
        self._rng = rng
        self._timelines: dict[tuple[str, datetime.datetime, bool], list[Block] | None] = {}
        self._found: list[tuple[Any, Found]] = []

    def untouched(self, needed: Requirements, taken: Collection[int]) -> list[Candidate]:
        """Return whole resources: those named, and those that leave the smallest holes."""
        if self._is_small(needed):
            return super().untouched(needed, taken)
        few = self._few(needed, taken)
        if len(few) >= needed.maximum:
            return few
        found = self._wholes(needed)
        if found is None:
            return super().untouched(needed, taken)
        now = microseconds(self._tx.now)
        limit = self._limit(needed, taken)
        named = found.named(needed.search.names)
        candidates = [
            *found.only(named).candidates(now, len(found)),
            *found.only(~named).candidates(now, limit),
        ]
        return [item for item in candidates if item.resource_id not in taken]

    def _is_small(self, needed: Requirements) -> bool:
        assert self._tx.timelines is not None, 'only then are there such searches'
        small = self._tx.timelines.is_small(needed.search.resource_type)
        return small and not matching.is_long(needed.match)

    def _few(self, needed: Requirements, taken: Collection[int]) -> list[Candidate]:
        """Return some free whole resources, as they are now; none if that takes too long.

        They are chosen from the timeline as it was read last: to check a few takes less
        time than to find out what has changed of all.
        """
        most = needed.maximum + _SPARE
        if most > self._settings.sample_size or needed.search.names or needed.only is not None:
            return []
        if matching.is_long(needed.match):
            return []
        found = self._once(
            (needed.match, needed.period, needed.padded, 'few'), lambda: self._latest(needed)
        )
        ids = [item for item in map(int, found.ids) if item not in taken][:most] if found else []
        if len(ids) < needed.maximum:
            return []
        assert self._tx.timelines is not None, 'only then are there such searches'
        self._tx.follow(self._tx.timelines)
        return self._tx.search.among(ids, needed.match, needed.padded)

    def _latest(self, needed: Requirements) -> Found | None:
        """Return whole resources of a block that were free when it was read."""
        assert self._tx.timelines is not None, 'only then are there such searches'
        blocks = self._tx.timelines.latest(needed.search.resource_type, needed.padded.end)
        # The row of a thing may be new, and vanish if the lease is not booked.
        if not blocks or needed.plugin.things(needed.request):
            return None
        (one,) = self._rng.choices(blocks, [*map(len, blocks)])
        # Also by private properties: the check in SQL leaves them out.
        one = one.only(matching.rows(one, needed.match, ()))
        most = needed.maximum + self._settings.sample_size
        now, bounds = microseconds(self._tx.now), _bounds(_window(needed))
        return selection.wholes([one], bounds, now, self._rng, most)

    def rooms(
        self, needed: Requirements, window: Window, never: Collection[int]
    ) -> Iterator[list[Room]]:
        """Yield the resources that the reservation has, then the most used ones, then all.

        Nothing if all of them are too few, and no resources that are too small: the objects
        that describe them take longer to make than the search.
        """
        found = self._parts_of(needed, window)
        if found is None:
            yield from super().rooms(needed, window, never)
            return
        demand = used_classes(needed.search.demand)
        if total(needed.search.spread, found.slots.tolist()) < needed.minimum:
            return
        if needed.search.spread is Spread.TOGETHER:
            found = found.only(found.slots >= needed.minimum)
        own = np.isin(found.ids, np.array(sorted(needed.own), dtype=np.int64))
        rooms = found.only(own).rooms(demand, None)
        if needed.own:
            yield rooms
        others = found.only(~own)
        limit = self._limit(needed, never)
        yield [*rooms, *others.rooms(demand, limit)]
        if len(others) > limit:
            yield [*rooms, *others.rooms(demand, None)]

    def every_whole(self, needed: Requirements) -> list[Candidate]:
        """Return all free whole resources that match."""
        found = self._wholes(needed)
        if found is None:
            return super().every_whole(needed)
        return found.candidates(microseconds(self._tx.now), len(found))

    def every_room(self, needed: Requirements, window: Window) -> list[Room]:
        """Return the free amounts of all resources that match and have some."""
        found = self._parts_of(needed, window)
        if found is None:
            return super().every_room(needed, window)
        return found.rooms(used_classes(needed.search.demand), None)

    def reasons(
        self,
        needed: Requirements,
        window: Window,
        fit: Callable[[Room], int],
        reduced: Collection[int],
    ) -> Reasons:
        """Explain why there are too few slots."""
        demand = used_classes(needed.search.demand)
        if not demand and self._is_small(needed):
            return super().reasons(needed, window, fit, reduced)
        # As in SQL, what the reservation has counts, and no resource is left out.
        every = dataclasses.replace(needed, only=None)
        blocks = self._blocks(every, window if demand else None)
        if blocks is None:
            return super().reasons(needed, window, fit, reduced)
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
        if not reduced:
            return [
                count for block in blocks for count in block.slots(demand, bounds).tolist() if count
            ]
        found = selection.parts(blocks, demand, bounds, self._rng)
        shared = np.isin(found.ids, np.array(sorted(reduced), dtype=np.int64))
        rooms = found.only(shared).rooms(demand, None)
        return [*found.slots[~shared].tolist(), *map(fit, rooms)]

    def _wholes(self, needed: Requirements) -> Found | None:
        """Return the free whole resources that match; None if the timeline does not tell."""

        def find() -> Found | None:
            blocks = self._blocks(needed)
            bounds, now = _bounds(_window(needed)), microseconds(self._tx.now)
            return None if blocks is None else selection.wholes(blocks, bounds, now, self._rng)

        return self._once((needed.match, needed.only, needed.period, needed.padded), find)

    def _parts_of(self, needed: Requirements, window: Window) -> Found | None:
        """Return the resources with room that match; None if the timeline does not tell."""
        demand = used_classes(needed.search.demand)

        def find() -> Found | None:
            blocks = self._blocks(needed, window)
            if blocks is None:
                return None
            return selection.parts(blocks, demand, _bounds(window), self._rng)

        return self._once((needed.match, needed.only, demand, window), find)

    def _once(self, key: Any, find: Callable[[], Found | None]) -> Found | None:
        """Return what was found for a key, or find it."""
        for asked, answer in self._found:
            if asked == key:
                return answer
        found = find()
        if found is not None:
            self._found.append((key, found))
        return found

    def _blocks(self, needed: Requirements, window: Window | None = None) -> list[Block] | None:
        """Return the resources that match; None if the timeline does not tell.

        :param window: whose reservations do not count; None if all count
        """
        # The row of a thing may be new, and vanish if the lease is not booked.
        if needed.plugin.things(needed.request):
            return None
        # Not in SQL, even if that means to read what a timeline does not keep.
        waits = matching.is_long(needed.match)
        key = needed.search.resource_type, needed.padded.end, waits
        if key not in self._timelines:
            self._timelines[key] = self._tx.timeline(*key[:2], waits=waits)
        blocks = self._timelines[key]
        if blocks is None:
            return None
        if window is not None and window.except_reservations:
            current = self._tx.allocations.live_of(window.except_reservations)
            blocks = extracts.vacated(blocks, extracts.bookings(current))
        if needed.only is not None:
            only = np.array(sorted(needed.only), dtype=np.int64)
            blocks = [block.limited_to(only) for block in blocks]
        match = needed.match
        if match.is_any:
            return blocks
        hidden = matching.hidden(self._tx, match)
        return [block.only(matching.rows(block, match, hidden)) for block in blocks]


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


def _window(needed: Requirements) -> Window:
    return Window(period=needed.period, padded=needed.padded)


def _bounds(window: Window) -> Bounds:
    return Bounds(
        start=microseconds(window.period.start),
        end=microseconds(window.period.end),
        clear_start=microseconds(window.padded.start),
        clear_end=microseconds(window.padded.end),
    )
