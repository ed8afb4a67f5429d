# SPDX-License-Identifier: Apache-2.0

"""Bookings of whole resources are distributed over resources."""

from __future__ import annotations

import hypothesis
import numpy as np
from hypothesis import strategies as st

from climate.allocation.blocks import Block
from climate.allocation.blocks import BlockFacts
from climate.allocation.blocks import Bookings
from climate.allocation.blocks import Bounds
from climate.allocation.packing import PackedBooking
from climate.allocation.packing import Packing
from tests import base

ROWS = 5
_NOTHING = np.zeros(0, dtype=np.int64)
_NONE = Bookings(resource_ids=_NOTHING, starts=_NOTHING, ends=_NOTHING, amounts=_NOTHING)
Wanted = tuple[int, int, int]

_WANTED = st.lists(
    st.tuples(st.integers(0, 30), st.integers(1, 9), st.integers(1, ROWS)), max_size=12
)


def bounds(start: int, length: int, pause: int = 0) -> Bounds:
    """Return a period."""
    end = start + length
    return Bounds(start=start, end=end, clear_start=start - pause, clear_end=end + pause)


def booking(one: Wanted, suits: list[bool] | None = None, pause: int = 0) -> PackedBooking:
    """Return a booking."""
    start, length, count = one
    return PackedBooking(
        bounds=bounds(start, length, pause),
        count=count,
        suits=np.array([True] * ROWS if suits is None else suits),
        has=np.zeros(0, dtype=np.int64),
    )


def fits(wanted: list[Wanted]) -> bool:
    """Whether enough resources are free at each instant."""
    return all(
        sum(count for start, length, count in wanted if start <= time < start + length) <= ROWS
        for time in range(40)
    )


def block() -> Block:
    """Return resources without bookings."""
    ids = np.arange(1, ROWS + 1)
    return Block.of(
        BlockFacts(
            ids=ids,
            names=[f'node-{number}' for number in ids],
            generations=ids,
            bookable=ids > 0,
            returned=ids * 0 - 100,
            returned_whole=ids * 0 - 100,
            inventories={},
            whole=_NONE,
            parts={},
            out=_NONE,
        )
    )


class TestPacking(base.TestCase):
    @hypothesis.given(wanted=_WANTED)
    def test_it_finds_room_exactly_if_counts_do(self, wanted: list[Wanted]) -> None:
        hypothesis.assume(wanted)
        rows = Packing([block()], [booking(one) for one in wanted]).rows()
        self.assertEqual(fits(wanted), rows is not None)

    @hypothesis.given(
        wanted=_WANTED,
        suits=st.lists(st.lists(st.booleans(), min_size=ROWS, max_size=ROWS), min_size=12),
        pause=st.integers(0, 2),
    )
    def test_no_row_is_given_twice(
        self, wanted: list[Wanted], suits: list[list[bool]], pause: int
    ) -> None:
        hypothesis.assume(wanted)
        bookings = [booking(one, some, pause) for one, some in zip(wanted, suits, strict=False)]
        rows = Packing([block()], bookings).rows()
        if rows is None:
            return
        taken: list[tuple[int, Bounds]] = []
        for one, mine in zip(bookings, rows, strict=True):
            self.assertEqual(one.count, len({*mine.tolist()}))
            for row in mine.tolist():
                self.assertTrue(one.suits[row])
                for other, there in taken:
                    apart = (
                        there.end <= one.bounds.clear_start or there.start >= one.bounds.clear_end
                    )
                    self.assertTrue(other != row or apart)
            taken += [(row, one.bounds) for row in mine.tolist()]

    @hypothesis.given(wanted=_WANTED)
    def test_what_has_enough_stays(self, wanted: list[Wanted]) -> None:
        hypothesis.assume(wanted)
        bookings = [booking(one) for one in wanted]
        rows = Packing([block()], bookings).rows()
        if rows is None:
            return
        there = [
            PackedBooking(bounds=one.bounds, count=one.count, suits=one.suits, has=mine)
            for one, mine in zip(bookings, rows, strict=True)
        ]
        again = Packing([block()], there).rows()
        assert again is not None
        self.assertEqual([mine.tolist() for mine in rows], [mine.tolist() for mine in again])

    def test_what_only_one_can_have_is_left_to_it(self) -> None:
        any_one = booking((0, 2, ROWS - 1))
        picky = booking((1, 2, 1), [True] + [False] * (ROWS - 1))
        rows = Packing([block()], [any_one, picky]).rows()
        assert rows is not None
        self.assertEqual([[1, 2, 3, 4], [0]], [mine.tolist() for mine in rows])
