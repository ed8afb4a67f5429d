# SPDX-License-Identifier: Apache-2.0

"""Tells which flexible leases may begin earlier, or at all, as free time comes and goes.

What it has found out once stays true until more becomes free, so a lease is looked at again only
if one of the gaps that have grown since is long enough for it.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import defaultdict
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

import numpy as np

from climate.allocation.blocks import Block
from climate.allocation.free_gaps import FreeGaps
from climate.allocation.free_gaps import Instead
from climate.allocation.free_gaps import Need
from climate.allocation.free_gaps import Slot
from climate.allocation.free_totals import FreeTotals
from climate.allocation.gaps import Gaps
from climate.allocation.steps import Bools
from climate.allocation.steps import Ints
from climate.allocation.steps import microseconds
from climate.booking.choosing import matching
from climate.booking.planning.seekers import Condition
from climate.booking.planning.seekers import Seeker
from climate.booking.planning.seekers import SlotKind
from climate.db.transactions.store import Transaction
from climate.domain.resources import Spread

# More gaps than this are not compared with each lease: all of them are looked at.
_MOST_GAPS: Final = 500
# Masks of so many different requirements are kept.
_MOST_MASKS: Final = 1_000
_MOST_KINDS: Final = 64


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Alike:
    """Leases that look for the same slots, whatever their number; arrays of one length.

    :ivar condition: that of one of them
    :ivar places: of the leases in their order
    :ivar firsts: the first start of each, in microseconds since 1970
    :ivar lengths: in microseconds
    """

    condition: Condition
    places: Ints
    firsts: Ints
    lengths: Ints

    def fit(self, gaps: Gaps, befores: Ints, pause: int) -> Ints:
        """Return the places of the leases that one of some gaps is long enough for.

        One that lasts until a lease begins is longer for this lease, as it is followed by what
        the lease has.

        :param befores: when each of all leases has to begin
        :param pause: that a gap may leave to the lease
        """
        befores = befores[self.places]
        found = np.zeros(len(self.places), dtype=np.bool_)
        times = {*zip(gaps.starts.tolist(), gaps.ends.tolist(), strict=True)}
        if len(times) > _MOST_GAPS:
            return self.places
        for start, end in times:
            starts = np.maximum(self.firsts, start)
            fits = (starts + self.lengths <= end) | (befores <= end + pause)
            found |= (starts < befores) & fits
        return self.places[found]


class Gains:
    """What is free for the leases of a plan, kept from one plan to the next.

    :param pause: the time for cleaning before and after an allocation of a whole resource, in
        microseconds
    """

    def __init__(self, pause: int) -> None:
        self._pause = pause
        self._free: dict[SlotKind, FreeGaps] = {}
        self._masks: dict[str, tuple[Sequence[Block], Bools]] = {}
        self._alike: list[_Alike] = []
        self._seekers: Sequence[Seeker] = ()
        self._places: Mapping[str, int] = {}
        self._pending = np.zeros(0, dtype=np.bool_)
        self._decided = np.zeros(0, dtype=np.bool_)
        self._befores = np.zeros(0, dtype=np.int64)
        self._tx: Transaction | None = None
        self._now = 0
        self._totals: dict[tuple[SlotKind, str], FreeTotals] = {}

    def follow(self, tx: Transaction, seekers: Sequence[Seeker], new: Collection[str]) -> None:
        """Take over what has changed.

        :param tx: which has rearranged nothing yet
        :param seekers: all leases, in the order in which they are to gain
        :param new: ids of those that may gain even if nothing has become free
        """
        self._tx, self._now, self._seekers, self._totals = tx, microseconds(tx.now), seekers, {}
        self._pending = np.array([one.lease.id in new for one in seekers], dtype=np.bool_)
        self._decided = np.zeros(len(seekers), dtype=np.bool_)
        self._befores = np.array([one.until for one in seekers], dtype=np.int64)
        self._places = {one.lease.id: place for place, one in enumerate(seekers)}
        self._alike = _alike(seekers, self._now)
        most: dict[SlotKind, int] = defaultdict(int)
        for condition in (one for each in seekers for one in each.conditions):
            most[condition.kind] = max(most[condition.kind], condition.count)
        if len(most) > _MOST_KINDS or len(self._masks) > _MOST_MASKS:
            self._free, self._masks = {}, {}
        self._free = {kind: found for kind, found in self._free.items() if kind in most}
        for kind, count in most.items():
            self._follow(kind, tx.timeline(kind.resource_type), count)

    def _follow(self, kind: SlotKind, blocks: Sequence[Block], most: int) -> None:
        known = self._free.get(kind)
        grown = None
        if known is not None and known.slot.most >= most:
            grown = known.follow(blocks, self._now)
        if grown is None:
            slot = Slot(
                demand=dict(kind.demand), pause=self._pause, most=1 << (most - 1).bit_length()
            )
            self._free[kind] = FreeGaps(blocks, slot, self._now)
            grown = self._free[kind].gaps
        self._mark(kind, grown)

    def decided(self, one: Seeker, start: int, ids: Mapping[str, Collection[int]]) -> None:
        """Take over a move that has been decided. Only another plan moves the lease again.

        :param start: of the lease, in microseconds since 1970
        :param ids: of the resources that it concerns, by resource type
        """
        place = self._places[one.lease.id]
        self._decided[place] = True
        self._befores[place] = start
        for kind, free in self._free.items():
            if ids.get(kind.resource_type):
                blocks = self._transaction.timeline(kind.resource_type)
                self._mark(kind, free.rearrange(blocks, ids[kind.resource_type], self._now))

    def _mark(self, kind: SlotKind, grown: Gaps) -> None:
        """Have the leases looked at that may gain."""
        self._totals = {key: found for key, found in self._totals.items() if key[0] != kind}
        changed = self._free[kind].changed
        if self._pause and changed:
            # What is free for less than two times of cleaning before a lease is no gap.
            for place, each in enumerate(self._seekers):
                if not each.own.isdisjoint(changed):
                    self._pending[place] = True
        if not len(grown):
            return
        for one in self._alike:
            if one.condition.kind == kind:
                mask = self._mask(one.condition)
                some = grown if mask is None else grown.where(mask[grown.places])
                self._pending[one.fit(some, self._befores, self._pause)] = True

    @property
    def _transaction(self) -> Transaction:
        if self._tx is None:
            raise ValueError('nothing has been read yet')
        return self._tx

    def oldest(self) -> Seeker | None:
        """Return the first lease that has to be looked at, once; None if none has."""
        waits = self._pending & ~self._decided
        place = int(waits.argmax()) if len(waits) else 0
        if not len(waits) or not waits[place]:
            return None
        self._pending[place] = False
        return self._seekers[place]

    @property
    def left(self) -> list[str]:
        """The ids of the leases that have to be looked at."""
        places = np.flatnonzero(self._pending).tolist()
        return [self._seekers[place].lease.id for place in places]

    def start(self, one: Seeker, since: int = 0) -> int | None:
        """Return the soonest start that a lease may have, before its present one; None if none.

        Its reservations may compete for the same resources then, which only a choice finds out.

        :param since: no start before this, in microseconds since 1970
        """
        first = max(one.first, self._now, since)
        found = self._agreed(one, first, {})
        if not one.own or (found is not None and found + one.length + self._pause <= one.before):
            return found
        if not self._may_be_sooner(one, first, one.before if found is None else found):
            return found
        # Its own resources are free then, too, as far as they are before it.
        own = self._own(one)
        return self._agreed(one, first, own) if own else found

    def _may_be_sooner(self, one: Seeker, first: int, before: int) -> bool:
        """Whether enough is free at each instant with what a lease has, in microseconds."""
        for condition in one.conditions:
            if condition.kind.demand or condition.spread is not Spread.ANY:
                continue
            totals = self._totals_of(condition)
            # More than what is free then: what is needed for cleaning is not.
            for (start, end), number in one.slices.items():
                totals = totals.with_more(start - 2 * self._pause, end + 2 * self._pause, number)
            if totals.first_start(condition.count, one.length, first, before) is None:
                return False
        return True

    def _totals_of(self, condition: Condition) -> FreeTotals:
        key = condition.kind, condition.name
        if key not in self._totals:
            free = self._free[condition.kind]
            self._totals[key] = free.totals(self._mask(condition), self._now)
        return self._totals[key]

    def _own(self, one: Seeker) -> Mapping[SlotKind, Instead]:
        """Return what would be free on the resources that a lease has."""
        return {
            kind: instead
            for kind in {condition.kind for condition in one.conditions}
            if (bookings := one.bookings(kind.resource_type))
            and (instead := self._free[kind].without(bookings, self._now)) is not None
        }

    def _agreed(self, one: Seeker, first: int, instead: Mapping[SlotKind, Instead]) -> int | None:
        """Return the first start at which each condition is met on its own."""
        if first >= one.before:
            return None
        agreed = 0
        for condition in itertools.cycle(one.conditions):
            kind, need = condition.kind, self._need(one, condition, first)
            found = self._free[kind].first_start(need, instead.get(kind))
            if found is None:
                return None
            agreed = agreed + 1 if found == first else 1
            first = found
            if agreed == len(one.conditions):
                break
        return first

    def _need(self, one: Seeker, condition: Condition, first: int) -> Need:
        return Need(
            count=condition.count,
            spread=condition.spread,
            places=self._mask(condition),
            length=one.length,
            first=first,
            before=one.before,
        )

    def after(self, one: Seeker, start: int) -> int | None:
        """Return the next time after a start at which more may be free; None if there is none."""
        every = [self._free[condition.kind].gaps for condition in one.conditions]
        every += [instead.gaps for instead in self._own(one).values()]
        found = [int(times.min()) for gaps in every if len(times := gaps.after(start))]
        return min(found, default=None)

    def _mask(self, condition: Condition) -> Bools | None:
        """Return whether each resource matches; None if all do that are open to bookings."""
        match = condition.match
        if match.is_any:
            return None
        blocks = self._free[condition.kind].blocks
        known = self._masks.get(condition.name)
        if known is not None and _same_columns(known[0], blocks):
            return known[1]
        hidden = matching.hidden(self._transaction, match)
        found = np.concatenate(
            [np.zeros(0, np.bool_), *(matching.rows(one, match, hidden) for one in blocks)]
        )
        self._masks[condition.name] = blocks, found
        return found


def _same_columns(some: Sequence[Block], others: Sequence[Block]) -> bool:
    return len(some) == len(others) and all(
        one is other or (one.columns is other.columns and one.names == other.names)
        for one, other in zip(some, others, strict=True)
    )


def _alike(seekers: Iterable[Seeker], now: int) -> list[_Alike]:
    found: dict[tuple[SlotKind, str], list[tuple[int, Seeker, Condition]]] = defaultdict(list)
    for place, one in enumerate(seekers):
        for condition in one.conditions:
            found[condition.kind, condition.name].append((place, one, condition))
    return [
        _Alike(
            condition=some[0][2],
            places=np.array([place for place, _, _ in some]),
            firsts=np.array([max(one.first, now) for _, one, _ in some]),
            lengths=np.array([one.length for _, one, _ in some]),
        )
        for some in found.values()
    ]
