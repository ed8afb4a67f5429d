# SPDX-License-Identifier: Apache-2.0

"""Free resources for requirements, from timelines."""

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
from climate.allocation.blocks import Bookings
from climate.allocation.blocks import Bounds
from climate.allocation.matches import Match
from climate.allocation.selection import RankedResources
from climate.allocation.steps import instant
from climate.allocation.steps import LATEST
from climate.allocation.steps import microseconds
from climate.allocation.steps import StepFunctions
from climate.allocation.steps import Uses
from climate.booking.choosing import matching
from climate.booking.choosing.requirements import Reasons
from climate.booking.choosing.requirements import Requirements
from climate.db.resources.properties import CAPABILITY
from climate.db.resources.properties import LEAD_TIME
from climate.db.transactions.store import Transaction
from climate.domain.resources import Candidate
from climate.domain.resources import Room
from climate.domain.resources import Spread
from climate.domain.resources import used_classes
from climate.leases.settings import LeasingSettings

# So many more than needed are checked, because some may have been booked meanwhile.
_SPARE: Final = 7

_NONE = np.zeros(0, dtype=np.int64)


class Searches:
    """Finds free resources for requirements; one object as long as nothing is written.

    Equal requirements get the same answer, which is searched for only once. Answers include
    what the lease itself has taken meanwhile: callers leave that out, so choosing again
    takes no search.

    A few whole resources are chosen from the timeline as it was read last, and checked in SQL.

    :param rng: orders resources that are equally good, so that concurrent bookings choose
        differently
    :param changing: ids of the reservations that are being changed: what they have of
        resources that are used in parts does not count
    :param together: how many resources all requirements together may take; each
        answer has that many more, because callers may leave some out
    """

    def __init__(
        self,
        tx: Transaction,
        settings: LeasingSettings,
        rng: random.Random,
        changing: Collection[str] = (),
        together: int = 0,
    ) -> None:
        self._tx = tx
        self._settings = settings
        self._rng = rng
        self._changing = tuple(changing)
        self._together = together
        self._timelines: dict[tuple[str, datetime.datetime, bool], list[Block]] = {}
        self._found: list[tuple[Any, RankedResources]] = []
        self._checked: list[tuple[Any, list[Candidate]]] = []

    def _limit(self, needed: Requirements, taken: Collection[int]) -> int:
        """Return how many resources to read, with those that callers may leave out."""
        spare = max(self._together - needed.maximum, len(taken))
        return needed.maximum + self._settings.sample_size + spare

    # -- whole resources

    def untouched(self, needed: Requirements, taken: Collection[int]) -> list[Candidate]:
        """Return whole resources: those named, and those that leave the smallest holes.

        :param taken: ids to leave out
        """
        if _has_things(needed):
            found = self._tx.search.named(needed.search.names, needed.match, needed.padded)
            return [item for item in found if item.resource_id not in taken]
        if self._tx.rearrangement is None:
            few = self._few(needed, taken)
            if len(few) >= needed.maximum:
                return few
        every = self._wholes(needed)
        now = microseconds(self._tx.now)
        named = every.named(needed.search.names)
        candidates = [
            *every.only(named).candidates(now, len(every)),
            *every.only(~named).candidates(now, self._limit(needed, taken)),
        ]
        return [item for item in candidates if item.resource_id not in taken]

    def every_whole(self, needed: Requirements) -> list[Candidate]:
        """Return all free whole resources that match."""
        found = self._wholes(needed)
        return found.candidates(microseconds(self._tx.now), len(found))

    def _few(self, needed: Requirements, taken: Collection[int]) -> list[Candidate]:
        """Return some free whole resources, as they are now; none if that takes too long.

        They are chosen from the timeline as it was read last: to check a few takes less
        time than to find out what has changed of all.
        """
        most = max(needed.maximum, self._together) + _SPARE
        if most > self._settings.sample_size or needed.search.names or needed.only is not None:
            return []
        match = needed.match
        if match.requirement is not None and matching.is_long(match.requirement):
            return []
        key = match, needed.period, needed.padded
        found = next((answer for asked, answer in self._checked if asked == key), None)
        if found is None:
            found = self._among_latest(needed, match, taken, most)
            self._checked.append((key, found))
        return [item for item in found if item.resource_id not in taken]

    def _among_latest(
        self, needed: Requirements, match: Match, taken: Collection[int], most: int
    ) -> list[Candidate]:
        blocks = self._tx.timelines.latest(needed.search.resource_type)
        if not blocks:
            return []
        if len(blocks) == 1 and match.is_any:
            # Whether anything has changed of a few hundred resources is a shorter question.
            candidates = self._unchanged(needed, taken, most)
            if candidates is not None:
                return candidates
        (one,) = self._rng.choices(blocks, [*map(len, blocks)])
        if not match.is_any:
            # Also by private properties: the check in SQL leaves them out.
            one = one.only(matching.rows(one, match, ()))
        now, sample = microseconds(self._tx.now), needed.maximum + self._settings.sample_size
        found = selection.wholes([one], needed.bounds, now, self._rng, sample)
        ids = [item for item in found.ids.tolist() if item not in taken][:most]
        if len(ids) < needed.maximum:
            return []
        self._tx.follow()
        return self._tx.search.among(ids, match, needed.padded)

    def _unchanged(
        self, needed: Requirements, taken: Collection[int], most: int
    ) -> list[Candidate] | None:
        """Return some free whole resources of a type of one block; None if it has changed."""
        blocks = self._tx.unchanged_timeline(needed.search.resource_type, needed.padded.end)
        if blocks is None:
            return None
        now = microseconds(self._tx.now)
        found = selection.wholes(blocks, needed.bounds, now, self._rng)
        candidates = found.candidates(now, most + len(taken))
        numbers = blocks[0].columns.numbers(CAPABILITY, LEAD_TIME, found.rows[: most + len(taken)])
        times = zip((item.resource_id for item in candidates), numbers, strict=True)
        self._tx.search.lead_times.remember(dict(times))
        self._tx.follow()
        return [item for item in candidates if item.resource_id not in taken]

    def _wholes(self, needed: Requirements) -> RankedResources:
        """Return the free whole resources that match."""

        def find() -> RankedResources:
            blocks, now = self._matching(needed, self._every(needed)), microseconds(self._tx.now)
            return selection.wholes(blocks, needed.bounds, now, self._rng)

        return self._once((needed.match, needed.only, needed.period, needed.padded), find)

    # -- parts of resources

    def rooms(self, needed: Requirements, taken: Collection[int]) -> Iterator[list[Room]]:
        """Yield the resources that the reservation has, then the most used ones, then all.

        Nothing if all of them are too few, and no resources that are too small: the objects
        that describe them take longer to make than the search.

        :param taken: ids that the caller leaves out
        """
        found = self._parts(needed)
        demand = used_classes(needed.search.demand)
        if _total(needed.search.spread, found.slots.tolist()) < needed.minimum:
            return
        if needed.search.spread is Spread.TOGETHER:
            found = found.only(found.slots >= needed.minimum)
        own = np.isin(found.ids, np.array(sorted(needed.own), dtype=np.int64))
        rooms = found.only(own).rooms(demand, None)
        if needed.own:
            yield rooms
        others = found.only(~own)
        limit = self._limit(needed, taken)
        yield [*rooms, *others.rooms(demand, limit)]
        if len(others) > limit:
            yield [*rooms, *others.rooms(demand, None)]

    def every_room(self, needed: Requirements) -> list[Room]:
        """Return the free amounts of all resources that match and have some."""
        return self._parts(needed).rooms(used_classes(needed.search.demand), None)

    def rooms_of(self, needed: Requirements, ids: Collection[int]) -> list[Room]:
        """Return the free amounts of some resources that match, however small.

        They need not be open to new bookings, or in service.
        """
        those, found = np.array(sorted(ids), dtype=np.int64), list[Room]()
        demand, gone = used_classes(needed.search.demand), self._gone()
        for block in self._every(needed):
            rows = np.flatnonzero(np.isin(block.ids, those))
            if len(rows):
                mine = extracts.without(extracts.extract(block, rows), gone)
                mine = dataclasses.replace(
                    mine,
                    bookable=np.ones(len(mine), dtype=np.bool_),
                    out=StepFunctions.of(len(mine), Uses.of([])),
                )
                (mine,) = self._matching(needed, [mine])
                found += selection.rooms(mine, demand, needed.bounds)
        return found

    def _parts(self, needed: Requirements) -> RankedResources:
        """Return the resources with room that match."""
        demand = used_classes(needed.search.demand)

        def find() -> RankedResources:
            return selection.parts(self._with_parts(needed), demand, needed.bounds, self._rng)

        return self._once((needed.match, needed.only, demand, needed.period, needed.padded), find)

    # -- refusals

    def reasons(
        self, needed: Requirements, fit: Callable[[Room], int], reduced: Collection[int]
    ) -> Reasons:
        """Explain why there are too few slots.

        What the reservation has counts, and no resource is left out.

        :param fit: returns how many slots fit into a room
        :param reduced: ids of the resources where that differs from what is free, because
            other reservations of the lease take some of it
        """
        demand, bounds = used_classes(needed.search.demand), needed.bounds
        needed = dataclasses.replace(needed, only=None)
        if not demand:
            return _reasons_of_wholes(self._matching(needed, self._every(needed)), bounds)
        blocks = self._with_parts(needed)
        sizes = [block.sizes(demand) for block in blocks]
        matched = _total(needed.search.spread, np.concatenate([_NONE, *sizes]).tolist())
        ends = (
            block.first_end(size > 0, demand, bounds.clear_start, bounds.clear_end)
            for block, size in zip(blocks, sizes, strict=True)
        )
        free = self._free_slots(blocks, demand, bounds, fit, reduced)
        return Reasons(
            matched=matched,
            free=_total(needed.search.spread, free),
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

    # -- timelines

    def _once(self, key: Any, find: Callable[[], RankedResources]) -> RankedResources:
        """Return what was found for a key, or find it."""
        for asked, answer in self._found:
            if asked == key:
                return answer
        found = find()
        self._found.append((key, found))
        return found

    def _every(self, needed: Requirements) -> list[Block]:
        """Return all resources of the type as they are now."""
        # The row of a thing may be new, and vanish if the lease is not booked.
        passing = _has_things(needed)
        key = needed.search.resource_type, needed.padded.end, passing
        if key not in self._timelines:
            read = self._tx.passing_timeline if passing else self._tx.timeline
            self._timelines[key] = read(needed.search.resource_type, needed.padded.end)
        return self._timelines[key]

    def _with_parts(self, needed: Requirements) -> list[Block]:
        """Return the resources that match, without what the changing reservations have."""
        blocks = self._every(needed)
        if self._changing:
            blocks = extracts.vacated(blocks, self._gone())
        return self._matching(needed, blocks)

    def _gone(self) -> Mapping[str, Bookings]:
        if not self._changing:
            return {}
        return extracts.bookings(self._tx.allocations.live_of(self._changing))

    def _matching(self, needed: Requirements, blocks: Sequence[Block]) -> list[Block]:
        """Return blocks with all resources closed to bookings that do not match."""
        if needed.only is not None:
            only = np.array(sorted(needed.only), dtype=np.int64)
            blocks = [block.limited_to(only) for block in blocks]
        match = needed.match
        if match.is_any:
            return [*blocks]
        hidden = matching.hidden(self._tx, match)
        return [block.only(matching.rows(block, match, hidden)) for block in blocks]


def _has_things(needed: Requirements) -> bool:
    """Whether existing things are required, whose rows the transaction may have inserted."""
    return bool(needed.plugin.things(needed.request))


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


def _total(spread: Spread, slots: Collection[int]) -> int:
    """Return the number of usable slots, of those that fit on each resource."""
    match spread:
        case Spread.TOGETHER:
            return max(slots, default=0)
        case Spread.APART:
            return sum(count > 0 for count in slots)
        case Spread.ANY:
            return sum(slots)


def _end(times: Iterable[int]) -> datetime.datetime | None:
    first = min(times, default=LATEST)
    return None if first == LATEST else instant(first)
