# SPDX-License-Identifier: Apache-2.0

"""Placements against all assignments there are, at small sizes."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import HealthCheck
from hypothesis import settings
from hypothesis import strategies as st

from climate.allocation import placement_program
from climate.allocation.placement import by_trying
from climate.allocation.placement import place
from climate.allocation.placement import Unplaced
from climate.allocation.placement_greedy import greedy
from climate.allocation.placement_problem import EvenSpread
from climate.allocation.placement_problem import Group
from climate.allocation.placement_problem import Placed
from climate.allocation.placement_problem import Problem
from climate.allocation.placement_problem import Same
from tests import base
from tests import waiting

QUICK = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def wholes(count: int, minimum: int, maximum: int | None = None, **more: object) -> Group:
    """Return a group of whole resources, of which all *count* are free."""
    rows = np.arange(count)
    most = minimum if maximum is None else maximum
    return Group(minimum=minimum, maximum=most, slots=np.ones_like(rows), rank=rows, **more)  # type: ignore[arg-type]  # any options of a group


def spread(name: str, *values: int, skew: int = 1) -> EvenSpread:
    return EvenSpread(property=name, max_skew=skew, values=frozenset(values))


class TestPlace(base.TestCase):
    """What a caller gets."""

    def placed(self, problem: Problem) -> Placed:
        found = place(problem)
        assert isinstance(found, Placed)
        return found

    def test_the_first_in_rank_without_conditions(self) -> None:
        self.assertEqual(({0: 1, 1: 1},), self.placed(Problem(groups=[wholes(5, 2)])).members)

    def test_the_rack_with_room_for_all(self) -> None:
        racks = {'rack': ints(0, 1, 0, 1, 1)}
        same = Same(property='rack', groups=frozenset({0}))
        found = self.placed(Problem(groups=[wholes(5, 3)], labels=racks, sames=[same]))
        self.assertEqual(({1: 1, 3: 1, 4: 1},), found.members)

    def test_a_resource_without_the_property_is_left_out(self) -> None:
        racks = {'rack': ints(-1, -1, 0)}
        same = Same(property='rack', groups=frozenset({0}))
        found = place(Problem(groups=[wholes(3, 2)], labels=racks, sames=[same]))
        self.assertEqual(Unplaced(place=0, proven=True), found)

    def test_a_zone_that_is_full_counts(self) -> None:
        zones = {'zone': ints(0, 0, 0)}
        groups = [wholes(3, 2, spreads=(spread('zone', 0, 1),))]
        found = place(Problem(groups=groups, labels=zones))
        self.assertEqual(Unplaced(place=0, proven=True), found)

    def test_a_group_has_to_leave_the_only_rack_to_another(self) -> None:
        # Greedy gives rack 0 to the first group, which could use rack 1.
        racks = {'rack': ints(0, 0, 1, 1)}
        only_first = Group(
            minimum=2, maximum=2, slots=ints(1, 1, 0, 0), rank=np.arange(4), demand={}
        )
        sames = [Same(property='rack', groups=frozenset({place})) for place in (0, 1)]
        found = self.placed(Problem(groups=[wholes(4, 2), only_first], labels=racks, sames=sames))
        self.assertEqual(({2: 1, 3: 1}, {0: 1, 1: 1}), found.members)

    def test_groups_share_a_value(self) -> None:
        racks = {'rack': ints(0, 0, 0, 1, 1)}
        first = Group(minimum=1, maximum=1, slots=ints(1, 1, 1, 0, 0), rank=np.arange(5))
        second = Group(minimum=2, maximum=2, slots=ints(0, 1, 1, 1, 1), rank=np.arange(5))
        same = Same(property='rack', groups=frozenset({0, 1}))
        found = self.placed(Problem(groups=[first, second], labels=racks, sames=[same]))
        self.assertEqual(({0: 1}, {1: 1, 2: 1}), found.members)

    def test_the_preferred_come_first_within_the_conditions(self) -> None:
        zones = {'zone': ints(0, 0, 1, 1)}
        group = wholes(4, 2, spreads=(spread('zone', 0, 1),), weights=ints(0, 2, 0, 1))
        found = self.placed(Problem(groups=[group], labels=zones))
        self.assert_has(found, members=({1: 1, 3: 1},), score=3)

    def test_members_that_are_there_bind_the_others(self) -> None:
        labels = {'rack': ints(0, 1, 1, 0)}
        same = Same(property='rack', groups=frozenset({0}))
        group = Group(minimum=1, maximum=1, slots=ints(1, 0, 1, 1), rank=np.arange(4), has={1: 1})
        found = self.placed(Problem(groups=[group], labels=labels, sames=[same]))
        self.assertEqual(({2: 1},), found.members)

    def test_nothing_fits_contradictory_members(self) -> None:
        labels = {'rack': ints(0, 1, 1)}
        same = Same(property='rack', groups=frozenset({0}))
        group = Group(
            minimum=1, maximum=1, slots=ints(0, 0, 1), rank=np.arange(3), has={0: 1, 1: 1}
        )
        self.assertIsInstance(place(Problem(groups=[group], labels=labels, sames=[same])), Unplaced)

    def test_many_conditions_of_many_groups_come_to_an_end(self) -> None:
        # Each group has as many pairs of values to try as there are resources.
        count, size = 200, 12
        rows = np.arange(count)
        labels = {'rack': rows // 4, 'row': rows % 97, 'zone': rows % 3}
        sames = [
            Same(property=name, groups=frozenset({number, (number + 1) % size}))
            for number in range(size)
            for name in labels
        ]
        problem = Problem(groups=[wholes(count, 4)] * size, labels=labels, sames=sames)
        with waiting.coming_back(60):
            found = place(problem)
        self.assertIsInstance(found, Unplaced)


# -- against all assignments


def rows_of(count: int, elements: st.SearchStrategy[int]) -> st.SearchStrategy[np.ndarray]:
    found = st.lists(elements, min_size=count, max_size=count)
    return found.map(lambda values: np.array(values, dtype=np.int64))


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Draw up to three groups on up to five resources."""
    count = draw(st.integers(2, 5))
    labels = {name: draw(rows_of(count, st.integers(-1, 2))) for name in ('rack', 'zone')}
    free = {'VCPU': draw(rows_of(count, st.integers(0, 4)))}
    size = draw(st.integers(1, 3))
    groups = [draw(groups_on(count, place, size, free, labels)) for place in range(size)]
    sames = draw(
        st.lists(
            st.builds(
                Same,
                property=st.sampled_from(('rack', 'zone')),
                groups=st.frozensets(st.integers(0, size - 1), min_size=1),
            ),
            max_size=2,
        )
    )
    return Problem(groups=groups, free=free, labels=labels, sames=sames)


@st.composite
def groups_on(
    draw: st.DrawFn,
    count: int,
    place: int,
    size: int,
    free: Mapping[str, np.ndarray],
    labels: Mapping[str, np.ndarray],
) -> Group:
    units = draw(st.integers(0, 2))
    slots = draw(rows_of(count, st.integers(0, 1))) * (free['VCPU'] // units if units else 1)
    maximum = draw(st.integers(1, 3))
    spreads = draw(
        st.lists(
            st.builds(
                EvenSpread,
                property=st.sampled_from(('rack', 'zone')),
                max_skew=st.integers(1, 2),
                values=st.frozensets(st.integers(0, 2), min_size=1),
            ),
            max_size=1,
        )
    )
    kind = draw(st.sampled_from(('any', 'any', 'apart', 'together')))
    return Group(
        minimum=draw(st.integers(1, maximum)),
        maximum=maximum,
        slots=slots.astype(np.int64),
        rank=draw(rows_of(count, st.integers(0, 9))),
        demand={'VCPU': units} if units else {},
        weights=draw(st.none() | rows_of(count, st.integers(0, 3))),
        apart=kind == 'apart',
        together=kind == 'together' and units > 0,
        spreads=tuple(spreads),
        apart_from=draw(st.frozensets(st.integers(0, size - 1))) - {place},
    )


Everyone = Sequence[Mapping[int, int]]


def is_allowed(problem: Problem, members: Everyone) -> bool:
    """Whether an assignment meets all conditions; as simple as possible."""
    places = range(len(problem.groups))
    return (
        all(is_sized(problem.groups[place_], members[place_]) for place_ in places)
        and all(is_alone(problem, members, place_) for place_ in places)
        and all(
            is_even(problem, one, members[place_])
            for place_ in places
            for one in problem.groups[place_].spreads
        )
        and all(is_shared(problem, members, same) for same in problem.sames)
        and all(fits(problem, members, row) for row in range(len(problem.free['VCPU'])))
    )


def is_sized(group: Group, mine: Mapping[int, int]) -> bool:
    return (
        group.minimum <= sum(mine.values()) <= group.maximum
        and all(number <= group.slots[row] for row, number in mine.items())
        and not (group.apart and max(mine.values()) > 1)
        and not (group.together and len(mine) > 1)
    )


def is_alone(problem: Problem, members: Everyone, place_: int) -> bool:
    group = problem.groups[place_]
    strangers = group.apart_from if group.demand else set(range(len(members))) - {place_}
    return not any(members[place_].keys() & members[other].keys() for other in strangers)


def is_even(problem: Problem, one: EvenSpread, mine: Mapping[int, int]) -> bool:
    counts: Counter[int] = Counter()
    for row, number in mine.items():
        counts[int(problem.labels[one.property][row])] += number
    most, fewest = max(counts.values()), min(counts[value] for value in one.values)
    return counts.keys() <= one.values and most - fewest <= one.max_skew


def is_shared(problem: Problem, members: Everyone, same: Same) -> bool:
    labels = problem.labels[same.property]
    values = {int(labels[row]) for place_ in same.groups for row in members[place_]}
    return len(values) == 1 and -1 not in values


def fits(problem: Problem, members: Everyone, row: int) -> bool:
    used = sum(
        mine.get(row, 0) * group.demand.get('VCPU', 0)
        for group, mine in zip(problem.groups, members, strict=True)
    )
    return used <= problem.free['VCPU'][row]


def all_of(problem: Problem) -> Iterator[list[dict[int, int]]]:
    """Yield every assignment, allowed or not."""
    rows = range(len(problem.free['VCPU']))
    ways = []
    for group in problem.groups:
        usable = [row for row in rows if group.slots[row] > 0]
        ways.append(
            [
                dict(Counter(chosen))
                for count in range(group.minimum, group.maximum + 1)
                for chosen in itertools.combinations_with_replacement(usable, count)
            ]
        )
    for members in itertools.product(*ways):
        yield list(members)


def best_of(problem: Problem) -> tuple[int, int] | None:
    found = (
        problem.placed(members).quality
        for members in all_of(problem)
        if is_allowed(problem, members)
    )
    return max(found, default=None)


class TestAgainstAll(base.TestCase):
    """The property tests."""

    def check(self, problem: Problem, **options: Any) -> None:
        """Check that what is found is the best, and no worse than the greedy choice."""
        best, found, first = best_of(problem), place(problem, **options), greedy(problem)
        quality = None
        if isinstance(found, Placed):
            quality = found.quality
            self.assertTrue(is_allowed(problem, found.members), found)
            self.assertEqual(problem.placed(found.members), found)
            self.assertLessEqual(quality, problem.bound())
        self.assertEqual(best, quality)
        if not isinstance(first, int):
            self.assertTrue(is_allowed(problem, first.members), first)

    @QUICK
    @given(problem=problems())
    def test_the_best_with_a_program(self, problem: Problem) -> None:
        self.check(problem, search=placement_program.solve)

    @QUICK
    @given(problem=problems())
    def test_the_best_without_it(self, problem: Problem) -> None:
        # At this size, the search comes to its end.
        self.check(problem, search=by_trying)

    @QUICK
    @given(problem=problems())
    def test_few_rows_are_enough_or_the_rest_is_added(self, problem: Problem) -> None:
        found = place(problem, few=1)
        if isinstance(found, Placed):
            self.assertTrue(is_allowed(problem, found.members), found)
        self.assertEqual(best_of(problem) is None, isinstance(found, Unplaced))
