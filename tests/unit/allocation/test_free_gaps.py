# SPDX-License-Identifier: Apache-2.0

"""Gaps of resources, against a search and against gaps that are found again."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

import hypothesis
import numpy as np
from hypothesis import strategies as st

from climate.allocation import earliest
from climate.allocation import extracts
from climate.allocation import joint
from climate.allocation.blocks import Block
from climate.allocation.blocks import BlockFacts
from climate.allocation.blocks import Bookings
from climate.allocation.blocks import Bounds
from climate.allocation.free_gaps import FreeGaps
from climate.allocation.free_gaps import Need
from climate.allocation.free_gaps import Slot
from climate.allocation.gaps import Gaps
from climate.allocation.steps import instant
from climate.domain.leases import Allocation
from climate.domain.periods import Period
from climate.domain.resources import Inventory
from climate.domain.resources import Spread
from tests import base

COUNT, LAST, CPU = 4, 40, 'cpu'
# Some steps are not at whole minutes.
UNIT = joint.MINUTE // 2
NOW = 50 * UNIT
_EACH = np.arange(1, COUNT + 1)

# Later than 1970, by more than a time for cleaning.
FIRST = 100
_PERIODS = st.tuples(st.integers(FIRST, FIRST + LAST), st.integers(1, LAST)).map(
    lambda p: (p[0], sum(p))
)
_USES = st.tuples(st.integers(1, COUNT), _PERIODS, st.integers(1, 2))
# Of a resource and a period, as a whole or one or two units of it; what overlaps is overbooked,
# which gaps have to bear.
_LISTS = st.lists(_USES, max_size=8)
_SLOTS = st.builds(
    Slot,
    demand=st.sampled_from([{}, {CPU: 1}, {CPU: 2}]),
    pause=st.sampled_from([0, 3 * UNIT]),
    most=st.just(8),
)


def bookings(uses: Sequence[tuple[int, tuple[int, int], int]], *, one: bool = False) -> Bookings:
    """Return uses as arrays; *one*: with an amount of 1."""
    return Bookings(
        resource_ids=np.array([use[0] for use in uses], dtype=np.int64),
        starts=np.array([use[1][0] * UNIT for use in uses], dtype=np.int64),
        ends=np.array([use[1][1] * UNIT for use in uses], dtype=np.int64),
        amounts=np.array([1 if one else use[2] for use in uses], dtype=np.int64),
    )


def block(
    whole: Sequence[tuple[int, tuple[int, int], int]],
    parts: Sequence[tuple[int, tuple[int, int], int]],
    out: Sequence[tuple[int, tuple[int, int], int]],
    returned: Sequence[int],
) -> Block:
    """Return four resources with four units each; the last is closed to bookings."""
    four = Inventory(resource_class=CPU, total=4, max_unit=4)
    return Block.of(
        BlockFacts(
            ids=_EACH,
            names=[f'r{number}' for number in _EACH],
            generations=_EACH,
            bookable=_EACH < COUNT,
            returned=np.array(returned) * UNIT,
            returned_whole=np.array(returned) * UNIT,
            inventories={CPU: dict.fromkeys(_EACH.tolist(), four)},
            whole=bookings(whole, one=True),
            parts={CPU: bookings(parts)},
            out=bookings(out, one=True),
        )
    )


_BLOCKS = st.builds(
    block,
    whole=_LISTS,
    parts=_LISTS,
    out=st.lists(_USES, max_size=2),
    returned=st.lists(st.integers(FIRST, FIRST + LAST), min_size=COUNT, max_size=COUNT),
)


def of_uses(uses: Sequence[tuple[int, tuple[int, int], int]], slot: Slot) -> list[Allocation]:
    """Return uses as allocations of what a slot takes."""
    return [
        Allocation(
            reservation_id='r',
            resource_id=resource_id,
            resource_name='',
            resource_class=CPU if slot.demand else None,
            amount=amount if slot.demand else 1,
            period=Period(start=instant(start * UNIT), end=instant(end * UNIT)),
        )
        for resource_id, (start, end), amount in uses
    ]


def found_by_search(blocks: Sequence[Block], slot: Slot, need: Need) -> int | None:
    """Return what a search finds, one start after the other."""
    question = earliest.Question(
        demand=slot.demand,
        count=need.count,
        spread=need.spread,
        length=need.length,
        pause=slot.pause,
        earliest=need.first,
        latest=need.before - 1,
    )
    starts = range(-(-(need.first + 1) // joint.MINUTE) * joint.MINUTE, need.before, joint.MINUTE)
    for start in itertools.chain([need.first], starts):
        bounds = question.bounds(start)
        free = np.concatenate([one.slots(slot.demand, bounds) for one in blocks])
        if question.total(free.reshape(-1, 1)).sum() >= need.count:
            return start
    return None


@st.composite
def needs(draw: st.DrawFn) -> Need:
    """Return how many slots are to be free, and when."""
    first = draw(st.integers(FIRST, FIRST + LAST)) * UNIT
    return Need(
        count=draw(st.integers(1, 6)),
        spread=draw(st.sampled_from(Spread)),
        places=None,
        length=draw(st.integers(1, LAST // 2)) * UNIT,
        first=first,
        before=first + draw(st.integers(1, 3 * LAST)) * UNIT,
    )


Row = tuple[int, int, int, int]


def rows(gaps: Gaps) -> list[Row]:
    """Return gaps as place, level, start and end."""
    columns = (gaps.places, gaps.levels, gaps.starts, gaps.ends)
    return [*zip(*(column.tolist() for column in columns), strict=True)]


def within(row: Row, others: Sequence[Row]) -> bool:
    """Whether a gap is part of one of some others, of the same resource and level."""
    return any(
        row[:2] == other[:2] and other[2] <= row[2] and row[3] <= other[3] for other in others
    )


def apart(blocks: Sequence[Block]) -> list[Block]:
    """Return blocks of different resources."""
    return [
        dataclasses.replace(one, ids=one.ids + number * COUNT) for number, one in enumerate(blocks)
    ]


class TestFreeGaps(base.TestCase):
    """What gaps say is what a search finds, whatever has happened to the gaps before."""

    @hypothesis.given(blocks=st.lists(_BLOCKS, min_size=1, max_size=2), slot=_SLOTS, need=needs())
    def test_first_start(self, blocks: list[Block], slot: Slot, need: Need) -> None:
        blocks = apart(blocks)
        found = FreeGaps(blocks, slot, NOW)
        self.assertEqual(found_by_search(blocks, slot, need), found.first_start(need))

    @hypothesis.given(
        before=_BLOCKS, period=_PERIODS, slot=_SLOTS, need=needs(), ahead=st.integers(1, LAST)
    )
    def test_bookings_that_are_left_out(
        self, before: Block, period: tuple[int, int], slot: Slot, need: Need, ahead: int
    ) -> None:
        start, end = (time * UNIT for time in period)
        bounds = Bounds(
            start=start, end=end, clear_start=start - slot.pause, clear_end=end + slot.pause
        )
        free = np.flatnonzero(before.slots(slot.demand, bounds)) + 1
        units = slot.demand.get(CPU, 1)
        uses = [(resource_id, period, units) for resource_id in free.tolist()]
        if not uses:
            return
        mine = extracts.bookings(of_uses(uses, slot))
        found = FreeGaps([extracts.extended(before, mine)], slot, NOW)
        instead = found.without(mine, NOW)
        # Later, more may be free than a lease looks for that begins then.
        need = dataclasses.replace(need, first=start - ahead * UNIT, before=start)
        expected = found_by_search([before], slot, need)
        self.assertEqual(expected, found.first_start(need, instead))

    @hypothesis.given(before=_BLOCKS, uses=_LISTS, slot=_SLOTS)
    def test_changes_are_followed(
        self, before: Block, uses: list[tuple[int, tuple[int, int], int]], slot: Slot
    ) -> None:
        more = extracts.bookings(of_uses(uses, slot))
        after = extracts.extended(before, more)
        for one, other in ((before, after), (after, before)):
            found = FreeGaps([one], slot, NOW)
            old = found.gaps
            grown = found.rearrange([other], {use[0] for use in uses}, NOW)
            expected = FreeGaps([other], slot, NOW).gaps
            self.assertEqual(sorted(rows(expected)), sorted(rows(found.gaps)))
            self.assertEqual(found.gaps.lengths.tolist(), sorted(found.gaps.lengths.tolist()))
            self.assertEqual(
                {row for row in rows(expected) if not within(row, rows(old))}, {*rows(grown)}
            )

    @hypothesis.given(before=_BLOCKS, uses=_LISTS, slot=_SLOTS)
    def test_what_was_not_written_is_found_out(
        self, before: Block, uses: list[tuple[int, tuple[int, int], int]], slot: Slot
    ) -> None:
        found = FreeGaps([before], slot, NOW)
        after = extracts.extended(before, extracts.bookings(of_uses(uses, slot)))
        found.rearrange([after], {use[0] for use in uses}, NOW)
        found.follow([before], NOW)
        self.assertEqual(sorted(rows(FreeGaps([before], slot, NOW).gaps)), sorted(rows(found.gaps)))
