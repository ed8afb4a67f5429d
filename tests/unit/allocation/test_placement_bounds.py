# SPDX-License-Identifier: Apache-2.0

"""What a placement may cost at most: the sizes of its models, and when it ends."""

from __future__ import annotations

import dataclasses
import itertools
import sys
import threading
from typing import Any

import numpy as np

from climate import exceptions
from climate.allocation import placement
from climate.allocation import placement_program
from climate.allocation import placement_search
from climate.allocation.placement import place
from climate.allocation.placement import Unplaced
from climate.allocation.placement_bins import Bins
from climate.allocation.placement_greedy import greedy
from climate.allocation.placement_problem import EvenSpread
from climate.allocation.placement_problem import Group
from climate.allocation.placement_problem import Placed
from climate.allocation.placement_problem import Problem
from climate.allocation.placement_problem import Same
from climate.domain.budgets import BudgetLimits
from climate.domain.budgets import RequestBudget
from tests import base
from tests.threads import together

ROWS = 300
GROUPS = 20


def apart(place: int) -> frozenset[int]:
    """Return ten other groups."""
    return frozenset((place + step) % GROUPS for step in range(1, 11))


def contested(each: int = 2 * ROWS // GROUPS, **facts: Any) -> Problem:
    """Return groups that need more resources than there are, apart from ten others each."""
    rank, slots = np.arange(ROWS), np.ones(ROWS, dtype=np.int64)
    groups = [
        Group(
            minimum=each,
            maximum=each,
            slots=slots,
            rank=rank,
            demand={'VCPU': 12},
            apart_from=apart(place),
            **facts,
        )
        for place in range(GROUPS)
    ]
    labels = {'rack': np.arange(ROWS, dtype=np.int64)}
    return Problem(groups=groups, free={'VCPU': 16 * slots}, labels=labels)


def spread() -> tuple[EvenSpread, ...]:
    """Return a spread over more values than there are resources."""
    return (EvenSpread(property='rack', max_skew=1, values=frozenset(range(2 * ROWS))),)


class Steps:
    """Processor time that passes with each question for it."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self) -> float:
        self.asked += 1
        return float(self.asked)


def steps(number: int) -> tuple[Steps, RequestBudget]:
    """Return a budget of a number of steps."""
    taken = Steps()
    limits = BudgetLimits(processor_seconds=number)
    return taken, RequestBudget(limits, taken, refusal=exceptions.RequirementsTooSlow)


class TestSizes(base.TestCase):
    """How large the programs are that :func:`place` builds."""

    def setUp(self) -> None:
        super().setUp()
        if placement_program.cp_sat() is None:
            self.skipTest('OR-Tools is not installed')
        self.sizes: list[int] = []

    def search(
        self, bins: Bins, _seconds: float, budget: RequestBudget
    ) -> tuple[Placed | None, bool]:
        """Build the program, and count its variables and constraints."""
        proto = placement_program._Program(bins, budget).model.proto
        self.sizes.append(len(proto.variables) + len(proto.constraints))
        return None, False

    def check(self, problem: Problem) -> None:
        most = 30 * problem.terms()
        self.patch(placement, 'MOST_TERMS', most)
        self.assertIsInstance(place(problem, search=self.search), Unplaced)
        self.assertGreater(max(self.sizes), most // 10)
        self.assertLessEqual(max(self.sizes), most + 10 * GROUPS)

    def test_groups_apart(self) -> None:
        self.check(contested())

    def test_groups_apart_and_spread(self) -> None:
        self.check(contested(spreads=spread()))

    def test_groups_that_share_values(self) -> None:
        problem = contested()
        sames = [
            Same(property='rack', groups=frozenset(pair))
            for pair in itertools.combinations(range(GROUPS), 2)
        ]
        self.check(dataclasses.replace(problem, sames=sames[:60]))

    def test_groups_that_are_all_apart(self) -> None:
        """One constraint for each resource says it, not one for each pair."""
        everyone = frozenset(range(GROUPS))
        groups = [
            Group(
                minimum=1,
                maximum=1,
                slots=np.ones(3, dtype=np.int64),
                rank=np.arange(3),
                demand={'VCPU': 1},
                apart_from=everyone - {place},
            )
            for place in range(GROUPS)
        ]
        self.assertEqual([everyone], Problem(groups=groups).cliques())

    def test_each_pair_is_in_a_clique(self) -> None:
        problem = contested()
        cliques = problem.cliques()
        for one, other in itertools.combinations(range(GROUPS), 2):
            together = any({one, other} <= clique for clique in cliques)
            self.assertEqual(problem.apart(one, other), together)
        for clique in cliques:
            for pair in itertools.combinations(clique, 2):
                self.assertTrue(problem.apart(*pair))


class TestBudget(base.TestCase):
    """A placement ends when the budget of the request is spent, wherever it is."""

    def test_members_one_by_one(self) -> None:
        problem = contested(spreads=spread())
        taken, budget = steps(50)
        self.assertRaises(exceptions.RequirementsTooSlow, greedy, problem, budget)
        self.assertLess(taken.asked, 60)

    def test_bins(self) -> None:
        taken, budget = steps(0)
        bins = Bins(contested(), ROWS, budget)
        self.assertEqual([], bins.found)
        self.assertFalse(bins.complete)
        self.assertLess(taken.asked, 10)

    def test_building_of_a_program(self) -> None:
        if placement_program.cp_sat() is None:
            self.skipTest('OR-Tools is not installed')
        taken, budget = steps(100)
        found = placement_program.solve(Bins(contested(), ROWS), 1.0, budget)
        self.assertEqual((None, False), found)
        self.assertLess(taken.asked, 110)

    def test_trying(self) -> None:
        taken, budget = steps(100)
        found, final = placement_search.search(Bins(contested(), ROWS), budget=budget)
        self.assertEqual((None, False), (found, final))
        self.assertLess(taken.asked, 110)

    def test_the_greedy_answer(self) -> None:
        """What was found before is the answer, though not the best one."""
        weights = np.array([0, 0, 9, 9])
        slots = np.ones(4, dtype=np.int64)
        group = Group(minimum=1, maximum=1, slots=slots, rank=np.arange(4), demand={'VCPU': 1})
        best = Group(
            minimum=1,
            maximum=1,
            slots=np.array([1, 0, 0, 0]),
            rank=np.arange(4),
            demand={'VCPU': 1},
            weights=weights,
            apart_from=frozenset({0}),
        )
        searched = []

        def search(*_: Any) -> tuple[None, bool]:
            searched.append(1)
            return None, False

        problem = Problem(groups=[best, group], free={'VCPU': slots})
        self.patch(Problem, 'bound', lambda _: (3, 0))
        _, budget = steps(3)
        found = place(problem, search=search, budget=budget)
        self.assertEqual(({0: 1}, {1: 1}), found.members if isinstance(found, Placed) else None)
        self.assertEqual([], searched)


class TestTurns(base.TestCase):
    """One thread of a process solves a program at a time."""

    def test_one_at_a_time(self) -> None:
        if placement_program.cp_sat() is None:
            self.skipTest('OR-Tools is not installed')
        inside, most = [], []

        def solved(*_: Any) -> tuple[None, bool]:
            inside.append(1)
            most.append(len(inside))
            threading.Event().wait(0.01)
            inside.pop()
            return None, False

        self.patch(placement_program, '_solved', solved)
        together(lambda seconds: placement_program.solve(None, seconds), [1.0] * 8)
        self.assertEqual([1] * 8, most)

    def test_a_child_of_a_fork_waits_for_no_thread_of_its_parent(self) -> None:
        turns = placement_program._Turns()
        with turns.lock:
            turns.renew()
            self.assertTrue(turns.lock.acquire(blocking=False))

    def test_memory_is_given_back(self) -> None:
        given: list[int] = []
        self.patch(placement_program.memory, 'give_back', lambda: given.append(1))
        self.patch(placement_program, '_solved', lambda *_: (None, False))
        placement_program.solve(Bins(contested(), 1), 1.0)
        self.assertEqual([1], given)
        if sys.platform == 'linux' and placement_program.memory._trim() is not None:
            self.assertIn(placement_program.memory._trim()(0), (0, 1))
