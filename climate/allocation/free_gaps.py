# SPDX-License-Identifier: Apache-2.0

"""When slots are free on resources, as intervals that follow changes of a few of them.

A gap is a longest time in which a resource has room for a number of slots, its *level*: one with
room for three has a gap at each of the levels 1, 2 and 3. As many slots are free throughout a
period as there are gaps that contain it. So the soonest of all periods is found in one pass over
the gaps that are long enough, which are few where much is booked.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence

import numpy as np

from climate.allocation import earliest
from climate.allocation import extracts
from climate.allocation import joint
from climate.allocation.blocks import Block
from climate.allocation.blocks import Bookings
from climate.allocation.blocks import WHOLE
from climate.allocation.free_totals import FreeTotals
from climate.allocation.gaps import Gaps
from climate.allocation.gaps import not_within
from climate.allocation.starts import Starts
from climate.allocation.steps import Bools
from climate.allocation.steps import Ints
from climate.allocation.steps import LATEST
from climate.allocation.steps import MOST_ROWS
from climate.domain.resources import Spread


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Slot:
    """What a slot is; times in microseconds.

    :ivar demand: units by resource class; empty for whole resources
    :ivar pause: the time for cleaning before and after an allocation of a whole resource
    :ivar most: so many slots of one resource matter at most
    """

    demand: Mapping[str, int]
    pause: int
    most: int


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Need:
    """How many slots are to be free, throughout which periods; in microseconds since 1970.

    :ivar count: at least 1
    :ivar spread: how the slots may lie on resources
    :ivar places: whether each resource will do; None if all do
    :ivar length: of the period
    :ivar first: the first start
    :ivar before: the start has to be before this
    """

    count: int
    spread: Spread
    places: Bools | None
    length: int
    first: int
    before: int

    def fitting(self, gaps: Gaps) -> Bools:
        """Whether each gap is long enough, at the right time, and of a resource that will do."""
        fits = (gaps.starts < self.before) & (gaps.ends >= self.first + self.length)
        fits &= gaps.lengths >= self.length
        if self.places is not None:
            fits &= self.places[gaps.places]
        match self.spread:
            case Spread.TOGETHER:
                fits &= gaps.levels == self.count
            case Spread.APART:
                fits &= gaps.levels == 1
        return fits


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Instead:
    """Other gaps of some resources than there are.

    :ivar places: whether each resource is one of them
    """

    places: Bools
    gaps: Gaps


class FreeGaps:
    """The gaps of the resources of one type, from an instant on.

    :param blocks: of all resources of the type, in id order
    :param slot: of which the gaps are to have room
    :param now: the first instant of interest, in microseconds since 1970
    :ivar ids: of the resources: their order gives each its place
    :ivar gaps: all of them, the shortest first
    :ivar blocks: that the gaps are those of
    :ivar changed: the ids of the resources that the last changes concerned
    """

    def __init__(self, blocks: Sequence[Block], slot: Slot, now: int) -> None:
        self.slot = slot
        self.blocks = list(blocks)
        self.ids: Ints = np.concatenate([np.zeros(0, np.int64), *(one.ids for one in blocks)])
        self._offsets = np.cumsum([0, *map(len, blocks)])
        self._unsure: set[int] = set()
        self.changed: Collection[int] = ()
        found = [
            self._of(block, now, offset)
            for block, offset in zip(blocks, self._offsets.tolist(), strict=False)
        ]
        self.gaps = Gaps.joined(found).by_length()
        self._lengths = self.gaps.lengths

    def follow(self, blocks: Sequence[Block], now: int) -> Gaps | None:
        """Take over what has changed; return the gaps that have become longer, or are new.

        :returns: None if there are other resources now: another object has to be made
        """
        if len(blocks) != len(self.blocks):
            return None
        changed: set[int] = set(self._unsure)
        for one, before in zip(blocks, self.blocks, strict=True):
            if one is before:
                continue
            if not np.array_equal(one.ids, before.ids):
                return None
            changed.update(one.ids[one.generations != before.generations].tolist())
        self._unsure = set()
        return self._replaced(blocks, changed, now)

    def rearrange(self, blocks: Sequence[Block], ids: Collection[int], now: int) -> Gaps:
        """Take over changes that have not been written; return as :meth:`follow` does.

        :param ids: of the resources that they concern
        """
        self._unsure.update(ids)
        return self._replaced(blocks, ids, now)

    def places(self, ids: Collection[int]) -> Bools:
        """Return whether each resource is one of some."""
        found: Bools = np.isin(self.ids, list(ids))
        return found

    def _replaced(self, blocks: Sequence[Block], ids: Collection[int], now: int) -> Gaps:
        self.blocks, self.changed = list(blocks), ids
        if not ids:
            return Gaps.none()
        places = self.places(ids)
        new = self._of_places(places, now, {})
        mine = places[self.gaps.places]
        old = self.gaps.where(mine)
        self.gaps = self.gaps.where(~mine).with_more(new)
        self._lengths = self.gaps.lengths
        return new.where(not_within(new, old))

    def _of_places(self, places: Bools, now: int, gone: Mapping[str, Bookings]) -> Gaps:
        """Return the gaps of some resources, without some of their allocations."""
        found = [Gaps.none()]
        which = np.flatnonzero(places)
        numbers = np.searchsorted(self._offsets, which, 'right') - 1
        rows = which - self._offsets[numbers]
        each = [
            (self.blocks[number], row)
            for number, row in zip(numbers.tolist(), rows.tolist(), strict=True)
        ]
        for first in range(0, len(each), MOST_ROWS):
            some = extracts.gathered(each[first : first + MOST_ROWS])
            gaps = self._of(extracts.without(some, gone), now, 0)
            found.append(dataclasses.replace(gaps, places=which[first + gaps.places]))
        return Gaps.joined(found)

    def _of(self, block: Block, now: int, offset: int) -> Gaps:
        question = earliest.Question(
            demand=self.slot.demand,
            count=self.slot.most,
            length=1,
            pause=self.slot.pause,
            earliest=now,
            latest=LATEST - self.slot.pause - 1,
        )
        slots = earliest.slots(block, question, question.earliest, question.latest)
        return _gaps(slots, offset)

    def without(self, gone: Mapping[str, Bookings], now: int) -> Instead | None:
        """Return the gaps of some resources as they would be without some allocations.

        :param gone: by resource class; those of whole resources by ``WHOLE``
        :returns: None if nothing else is free then before their starts
        """
        ids = np.unique(np.concatenate([found.resource_ids for found in gone.values()]))
        where = np.searchsorted(self.ids, ids)
        places = np.zeros(len(self.ids), dtype=np.bool_)
        places[where] = True
        if self.slot.demand or self.slot.pause or gone.keys() != {WHOLE}:
            return Instead(places=places, gaps=self._of_places(places, now, gone))
        mine = self.gaps.where(places[self.gaps.places])
        starts = gone[WHOLE].starts
        if not np.isin(mine.ends, starts).any():
            return None
        at = np.searchsorted(self.ids, gone[WHOLE].resource_ids)
        return Instead(places=places, gaps=_joined_by(mine, at, gone[WHOLE]))

    def totals(self, places: Bools | None, now: int) -> FreeTotals:
        """Return how many slots are free at each instant.

        :param places: whether each resource counts; None for all
        :param now: the first instant of interest, in microseconds since 1970
        """
        gaps = self.gaps if places is None else self.gaps.where(places[self.gaps.places])
        some = np.ones(len(gaps), dtype=np.int64)
        times = np.concatenate([[now], np.maximum(gaps.starts, now), gaps.ends])
        return FreeTotals.summed(times, np.concatenate([[0], some, -some]))

    def first_start(self, need: Need, instead: Instead | None = None) -> int | None:
        """Return the first start at which enough slots are free; None if there is none.

        It is a whole minute, like those that searches find, or the first one of interest.

        :param instead: of some resources, other gaps count than there are
        """
        gaps = self.gaps.since(int(np.searchsorted(self._lengths, need.length)))
        gaps = gaps.where(need.fitting(gaps))
        if instead is not None:
            gaps = gaps.where(~instead.places[gaps.places])
            more = instead.gaps
            gaps = Gaps.joined([gaps, more.where(need.fitting(more))])
        count = 1 if need.spread is Spread.TOGETHER else need.count
        if len(gaps) < count:
            return None
        minutes = -(-gaps.starts // joint.MINUTE) * joint.MINUTE
        starts = np.where(gaps.starts <= need.first, need.first, minutes)
        lasts = gaps.ends - need.length
        fits = (starts <= lasts) & (starts < need.before)
        starts, lasts = np.sort(starts[fits]), np.sort(lasts[fits])
        free = np.searchsorted(starts, starts, 'right') - np.searchsorted(lasts, starts, 'left')
        enough = np.flatnonzero(free >= count)
        return int(starts[enough[0]]) if len(enough) else None


def _joined_by(gaps: Gaps, places: Ints, gone: Bookings) -> Gaps:
    """Return the gaps of whole resources that some allocations separate, as one each.

    :param places: of the resource of each allocation
    """
    columns = gaps.places.tolist(), gaps.starts.tolist(), gaps.ends.tolist()
    by_end = {(place, end): start for place, start, end in zip(*columns, strict=True)}
    rows = sorted(zip(places.tolist(), gone.starts.tolist(), gone.ends.tolist(), strict=True))
    by_start = {(place, start): end for (place, end), start in by_end.items()}
    for place, start, end in rows:
        first = by_end.pop((place, start), start)
        last = by_start.pop((place, end), end)
        by_start.pop((place, first), None)
        by_start[place, first], by_end[place, last] = last, first
    joined = [(place, start, end) for (place, start), end in by_start.items()]
    table = np.array(joined, dtype=np.int64).reshape(-1, 3)
    return Gaps(
        places=table[:, 0],
        levels=np.ones(len(joined), dtype=np.int64),
        starts=table[:, 1],
        ends=table[:, 2],
    )


def _gaps(slots: Starts, offset: int) -> Gaps:
    """Return the gaps of some resources.

    :param slots: how many are free at each instant
    :param offset: the place of the first resource
    """
    rows, times, values = slots.rows, slots.times, slots.values
    heads = np.diff(rows, prepend=-1) != 0
    tails = np.append(heads[1:], True)
    found = [Gaps.none()]
    for level in range(1, int(values.max(initial=0)) + 1):
        free = values >= level
        before = np.append(False, free[:-1]) & ~heads
        begins = np.flatnonzero(free & ~before)
        # What ends with the steps of its resource lasts for good.
        ends = np.flatnonzero((before & ~free) | (free & tails))
        found.append(
            Gaps(
                places=rows[begins] + offset,
                levels=np.full(len(begins), level),
                starts=times[begins],
                ends=np.where(free[ends], LATEST, times[ends]),
            )
        )
    return Gaps.joined(found)
