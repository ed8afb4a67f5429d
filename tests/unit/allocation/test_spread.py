# SPDX-License-Identifier: Apache-2.0

"""How slots of parts lie on resources, and which names come first."""

from __future__ import annotations

import dataclasses
import random

from hypothesis import given
from hypothesis import strategies as st

from climate.allocation import shares
from climate.domain.resources import Candidate
from climate.domain.resources import Share
from climate.domain.resources import Spread
from tests import base
from tests.unit.allocation.strategies import at


def room(number: int, slots: int, load: float = 0.0, own: int = 0) -> Candidate:
    """Return a host on which so many slots fit."""
    return Candidate(
        resource_id=number, name=f'compute-{number}', generation=0, slots=slots, load=load, own=own
    )


def choose(
    rooms: list[Candidate],
    minimum: int,
    maximum: int,
    spread: Spread = Spread.ANY,
    seed: int = 0,
    **facts: object,
) -> tuple[Share, ...]:
    """Choose parts for the hours 10 to 12."""
    return shares.choose(
        rooms,
        at(10),
        at(12),
        minimum,
        maximum,
        random.Random(seed),
        spread=spread,
        **{'whole': False, **facts},
    )


def counted(chosen: tuple[Share, ...]) -> dict[int, int]:
    """Return slots by resource id."""
    return {share.candidate.resource_id: share.slots for share in chosen}


rooms = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from([0.0, 0.25, 0.5, 0.75])), max_size=8
).map(lambda items: [room(number, *item) for number, item in enumerate(items)])


def most(found: list[Candidate], maximum: int, spread: Spread) -> int:
    """Return by brute force how many slots can be had."""
    if spread is Spread.TOGETHER:
        return min(maximum, max((item.slots for item in found), default=0))
    each = 1 if spread is Spread.APART else maximum
    return min(maximum, sum(min(item.slots, each) for item in found))


class PartsTest(base.TestCase):
    @given(rooms, st.integers(0, 8), st.integers(0, 8), st.sampled_from(Spread), st.integers(0, 9))
    def test_as_many_as_can_be_had(
        self, found: list[Candidate], minimum: int, extra: int, spread: Spread, seed: int
    ) -> None:
        maximum = minimum + extra
        available = most(found, maximum, spread)
        if available < minimum:
            error = self.assertRaises(shares.TooFew, choose, found, minimum, maximum, spread, seed)
            self.assertEqual((available, minimum), (error.free, error.minimum))
            return
        chosen = choose([*found, *found], minimum, maximum, spread, seed)
        has = counted(chosen)
        self.assertEqual(available, sum(has.values()))
        self.assertEqual(len(has), len(chosen), 'a share for each resource')
        sizes = {item.resource_id: item.slots for item in found}
        self.assertTrue(all(0 < count <= sizes[key] for key, count in has.items()))
        if spread is Spread.TOGETHER:
            self.assertLessEqual(len(has), 1)
        if spread is Spread.APART:
            self.assertTrue(all(count == 1 for count in has.values()))

    @given(rooms, st.integers(1, 8), st.integers(0, 9))
    def test_what_is_used_most_is_filled_first(
        self, found: list[Candidate], maximum: int, seed: int
    ) -> None:
        has = counted(choose(found, 0, maximum, seed=seed))
        for item in found:
            if has.get(item.resource_id, 0) < item.slots:
                # There is room left here: what is used less was left alone.
                emptier = [other for other in found if other.load < item.load]
                self.assertFalse([other for other in emptier if other.resource_id in has])

    @given(rooms, st.integers(1, 5), st.integers(0, 9))
    def test_what_one_has_already_comes_first(
        self, found: list[Candidate], maximum: int, seed: int
    ) -> None:
        found = [*found, room(99, 2, load=0.0, own=2)]
        self.assertEqual(min(2, maximum), counted(choose(found, 0, maximum, seed=seed))[99])

    @given(rooms, st.integers(1, 8), st.integers(0, 9))
    def test_together_leaves_large_room_alone(
        self, found: list[Candidate], maximum: int, seed: int
    ) -> None:
        """Of equally used ones that are large enough, the smallest is taken."""
        alike = [dataclasses.replace(item, load=0.5) for item in found]
        enough = [item.slots for item in alike if item.slots >= maximum]
        chosen = choose(alike, 0, maximum, Spread.TOGETHER, seed)
        if enough:
            self.assertEqual(min(enough), chosen[0].candidate.slots)

    @given(rooms, st.sampled_from(Spread), st.integers(0, 99))
    def test_same_seed_same_choice(self, found: list[Candidate], spread: Spread, seed: int) -> None:
        self.assertEqual(choose(found, 0, 4, spread, seed), choose(found, 0, 4, spread, seed))

    @given(rooms, st.integers(0, 8))
    def test_times_around_say_nothing_of_parts(self, found: list[Candidate], maximum: int) -> None:
        busy = [dataclasses.replace(item, busy_until=at(11)) for item in found]
        self.assertEqual(counted(choose(found, 0, maximum)), counted(choose(busy, 0, maximum)))


class NamesTest(base.TestCase):
    @given(
        st.integers(1, 8),
        st.sets(st.integers(0, 9), max_size=4),
        st.integers(0, 8),
        st.integers(0, 9),
    )
    def test_the_named_are_among_the_chosen(
        self, hosts: int, named: set[int], extra: int, seed: int
    ) -> None:
        found = [room(number, 1) for number in range(hosts)]
        maximum = max(len(named), 1) + extra
        first = [f'compute-{number}' for number in named]
        if not named <= set(range(hosts)):
            with self.assertRaises(shares.TooFew):
                choose(found, 0, maximum, whole=True, first=first, seed=seed)
            return
        chosen = choose(found, 0, maximum, whole=True, first=first, seed=seed)
        self.assertLessEqual(named, set(counted(chosen)))
        self.assertEqual(min(hosts, maximum), len(chosen))

    def test_a_named_one_that_is_busy_is_refused(self) -> None:
        error = self.assertRaises(
            shares.TooFew,
            choose,
            [dataclasses.replace(room(1, 1), busy_until=at(11)), room(2, 1)],
            1,
            1,
            whole=True,
            first=['compute-1'],
        )
        self.assertEqual((0, 1), (error.free, error.minimum))
