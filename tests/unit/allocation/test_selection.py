# SPDX-License-Identifier: Apache-2.0

"""The choice: never an overlap, the tightest first, the same for the same seed."""

from __future__ import annotations

import datetime
import itertools
import random

from hypothesis import given
from hypothesis import strategies as st

from climate.allocation import shares
from climate.domain.periods import Period
from climate.domain.resources import Candidate
from tests import base
from tests.unit.allocation import strategies
from tests.unit.allocation.strategies import at


def candidate(number: int, before: int | None = None, after: int | None = None) -> Candidate:
    """Return a host that is busy until one hour and from another one on."""
    return Candidate(
        resource_id=number,
        name=f'compute-{number}',
        generation=0,
        busy_until=None if before is None else at(before),
        busy_from=None if after is None else at(after),
    )


def free_for(window: Period, booked: dict[int, list[Period]]) -> list[Candidate]:
    """Return the hosts that have nothing in *window*, with what is around it."""
    return [
        Candidate(
            resource_id=number,
            name=f'compute-{number}',
            generation=0,
            busy_until=max((p.end for p in busy if p.end <= window.start), default=None),
            busy_from=min((p.start for p in busy if p.start >= window.end), default=None),
        )
        for number, busy in booked.items()
        if not any(p.overlaps(window) for p in busy)
    ]


def choose(candidates: list[Candidate], minimum: int, maximum: int, seed: int = 0) -> list[int]:
    """Choose for the hours 10 to 12 and return ids."""
    chosen = shares.choose(candidates, at(10), at(12), minimum, maximum, random.Random(seed))
    return [share.candidate.resource_id for share in chosen]


neighbours = st.lists(
    st.tuples(st.none() | st.integers(0, 10), st.none() | st.integers(12, 22)), max_size=12
).map(lambda pairs: [candidate(number, *pair) for number, pair in enumerate(pairs)])


class ChooseTest(base.TestCase):
    @given(
        st.lists(st.tuples(strategies.periods, st.integers(1, 3)), max_size=25),
        st.integers(1, 4),
        st.integers(0, 9),
    )
    def test_no_selection_ever_overlaps(
        self, wishes: list[tuple[Period, int]], hosts: int, seed: int
    ) -> None:
        rng = random.Random(seed)
        booked: dict[int, list[Period]] = {number: [] for number in range(hosts)}
        for window, wanted in wishes:
            candidates = free_for(window, booked)
            try:
                chosen = shares.choose(candidates, window.start, window.end, 1, wanted, rng)
            except shares.TooFew:
                self.assertEqual([], candidates)
                continue
            self.assertEqual(min(wanted, len(candidates)), len(chosen))
            for one in chosen:
                booked[one.candidate.resource_id].append(window)
        for busy in booked.values():
            for one, other in itertools.combinations(busy, 2):
                self.assertFalse(one.overlaps(other))

    @given(neighbours, st.integers(0, 5), st.integers(0, 5), st.integers(0, 9))
    def test_as_many_as_possible_and_each_once(
        self, candidates: list[Candidate], minimum: int, extra: int, seed: int
    ) -> None:
        if len(candidates) < minimum:
            self.assertRaises(shares.TooFew, choose, candidates, minimum, minimum + extra, seed)
            return
        ids = choose([*candidates, *candidates], minimum, minimum + extra, seed)
        self.assertEqual(min(len(candidates), minimum + extra), len(ids))
        self.assertEqual(len(set(ids)), len(ids))

    @given(neighbours, st.integers(0, 12), st.integers(0, 99))
    def test_nothing_tighter_is_left_over(
        self, candidates: list[Candidate], maximum: int, seed: int
    ) -> None:
        def hole(one: Candidate) -> datetime.timedelta:
            # The brute way: what has no bound is a very large hole.
            far = datetime.timedelta(days=365)
            before = far if one.busy_until is None else at(10) - one.busy_until
            return before + (far if one.busy_from is None else one.busy_from - at(12))

        chosen = set(choose(candidates, 0, maximum, seed))
        taken = [hole(one) for one in candidates if one.resource_id in chosen]
        rest = [hole(one) for one in candidates if one.resource_id not in chosen]
        if taken and rest:
            self.assertLessEqual(max(taken), min(rest))

    def test_order(self) -> None:
        in_order = [
            candidate(1, 10, 12),  # fits perfectly
            candidate(2, 9, 12),
            candidate(3, 8, 13),
            candidate(4, 0, 22),
            candidate(5, 10, None),  # busy on one side only
            candidate(6, None, 13),
            candidate(7, None, None),  # never used
        ]
        for seed in range(20):
            shuffled = random.Random(seed).sample(in_order, len(in_order))
            self.assertEqual([1, 2, 3, 4, 5, 6, 7], choose(shuffled, 1, 7, seed))

    @given(neighbours, st.integers(0, 99))
    def test_same_seed_same_choice(self, candidates: list[Candidate], seed: int) -> None:
        self.assertEqual(choose(candidates, 0, 5, seed), choose(candidates, 0, 5, seed))

    def test_ties_are_broken_by_chance(self) -> None:
        equals = [candidate(number) for number in range(5)]
        self.assertEqual({0, 1, 2, 3, 4}, {choose(equals, 1, 1, seed)[0] for seed in range(200)})

    def test_what_is_busy_after_all_is_passed_over(self) -> None:
        busy = [candidate(1, 11, None), candidate(2, None, 11), candidate(3, 10, 12)]
        self.assertEqual([3], choose(busy, 1, 3))

    def test_too_few_says_how_many(self) -> None:
        error = self.assertRaises(shares.TooFew, choose, [candidate(1)], 2, 3)
        self.assertEqual((1, 2), (error.free, error.minimum))
        self.assertIsInstance(error, ValueError)

    def test_bounds_that_make_no_sense(self) -> None:
        for minimum, maximum in ((-1, 2), (3, 2)):
            self.assertRaises(ValueError, choose, [candidate(1)], minimum, maximum)
