# SPDX-License-Identifier: Apache-2.0

"""Placement as an integer program, solved by CP-SAT of OR-Tools.

For each group ``g`` and bin ``b``, ``x[g, b]`` members are placed. The program maximizes
their number, and then their value. OR-Tools is an optional requirement, and takes memory and
a while to import: a process imports it when it first needs it.
"""

from __future__ import annotations

import functools
import importlib
import os
import threading
from collections import defaultdict
from typing import Any
from typing import Final

from climate import imports
from climate.allocation import memory
from climate.allocation.placement_bins import Bin
from climate.allocation.placement_bins import Bins
from climate.allocation.placement_problem import numbers
from climate.allocation.placement_problem import Placed
from climate.domain.budgets import RequestBudget
from climate.domain.budgets import UNLIMITED

# How long to wait until other threads have solved their programs, in seconds.
_LONGEST_WAIT: Final = 5.0
_MODULE: Final = 'ortools.sat.python.cp_model'


class _NoTable:
    """A type of which there are no instances."""


class _Spent(Exception):
    """The budget was spent while the program was built."""


class _Turns:
    """Lets one thread at a time solve a program."""

    def __init__(self) -> None:
        self.renew()
        # Another thread may hold the lock when the process forks.
        os.register_at_fork(after_in_child=self.renew)

    def renew(self) -> None:
        self.lock = threading.Lock()


_TURNS: Final = _Turns()


@functools.cache
def cp_sat() -> Any:
    """Return the module of CP-SAT; None if OR-Tools is not installed."""
    try:
        # Of pandas, which takes more memory than OR-Tools, it needs the names of two types.
        with imports.standing_in('pandas', Index=_NoTable, Series=_NoTable):
            return importlib.import_module(_MODULE)
    except ImportError:
        return None
    except AttributeError:
        # Another release may need more of it.
        return importlib.import_module(_MODULE)


def solve(
    bins: Bins, seconds: float, budget: RequestBudget = UNLIMITED
) -> tuple[Placed | None, bool]:
    """Return the best assignment that was found, and whether there is no better one.

    One thread of a process does so at a time, because of the memory that it takes.

    :param seconds: the longest time to search
    :param budget: if it is spent, or if other threads take long, nothing is found
    """
    lock = _TURNS.lock
    if not lock.acquire(timeout=_LONGEST_WAIT):
        return None, False
    try:
        found = _solved(bins, seconds, budget)
    except _Spent:
        found = None, False
    finally:
        lock.release()
    memory.give_back()
    return found


def _solved(bins: Bins, seconds: float, budget: RequestBudget) -> tuple[Placed | None, bool]:
    program = _Program(bins, budget)
    solver = program.cp.CpSolver()
    solver.parameters.max_time_in_seconds = min(seconds, budget.left)
    # Requests are served in parallel already, and one worker always finds the same.
    solver.parameters.num_workers = 1
    status = solver.solve(program.model)
    final = status in (program.cp.OPTIMAL, program.cp.INFEASIBLE)
    if status not in (program.cp.OPTIMAL, program.cp.FEASIBLE):
        return None, final
    counts: list[dict[int, int]] = [{} for _ in bins.problem.groups]
    for (place, number), variable in program.members.items():
        count = solver.value(variable)
        if count:
            counts[place][number] = count
    return bins.placed(counts), final


class _Program:
    """The variables and constraints of a problem.

    :ivar members: how many members are placed, by group and bin
    """

    def __init__(self, bins: Bins, budget: RequestBudget) -> None:
        self.cp = cp_sat()
        self.model = self.cp.CpModel()
        self._bins = bins
        self._problem = bins.problem
        self._of_group: defaultdict[int, list[tuple[int, Bin, Any]]] = defaultdict(list)
        self.members: dict[tuple[int, int], Any] = {}
        self._budget = budget
        self._cliques = self._problem.cliques()
        for number, one in enumerate(bins.found):
            self._check()
            for place, room in one.room.items():
                most = min(room, self._problem.groups[place].maximum)
                variable = self.model.new_int_var(0, most, '')
                self.members[place, number] = variable
                self._of_group[place].append((number, one, variable))
        self._add_sizes()
        for number, one in enumerate(bins.found):
            self._check()
            if len(one.room) > 1:
                self._add_sharing(number, one)
                self._add_apart(number, one)
        self._add_sames()
        self._add_spreads()
        self._add_goal()

    def _check(self) -> None:
        if self._budget.spent:
            raise _Spent

    def _sum(self, variables: Any) -> Any:
        return self.cp.LinearExpr.sum(list(variables))

    def _add_sizes(self) -> None:
        for place, group in enumerate(self._problem.groups):
            found = self._of_group[place]
            total = self._sum(variable for _, _, variable in found)
            self.model.add_linear_constraint(total, group.minimum, group.maximum)
            if group.together:
                chosen = []
                for _, one, variable in found:
                    chosen.append(self.model.new_bool_var(''))
                    self.model.add(variable <= min(one.room[place], group.maximum) * chosen[-1])
                self.model.add_at_most_one(chosen)

    def _add_sharing(self, number: int, one: Bin) -> None:
        """Add the limits of groups that use the same rows."""
        groups = {place: self._problem.groups[place] for place in one.room}
        wholes = [self.members[place, number] for place in groups if not groups[place].demand]
        if wholes:
            self.model.add(self._sum(wholes) <= len(one.rows))
        parts = [place for place in groups if groups[place].demand]
        if wholes and parts:
            is_whole = self._sum(wholes)
            for place in parts:
                room = min(one.room[place], groups[place].maximum)
                self.model.add(self.members[place, number] + room * is_whole <= room)
        for name in {name for place in parts for name in groups[place].demand}:
            users = [place for place in parts if groups[place].demand.get(name)]
            if len(users) > 1:
                used = [self.members[place, number] * groups[place].demand[name] for place in users]
                self.model.add(self._sum(used) <= int(self._problem.free[name][one.first]))

    def _add_apart(self, number: int, one: Bin) -> None:
        """Add that a bin has members of one of the groups that may not share a resource."""
        groups = self._problem.groups
        parts = {place for place in one.room if groups[place].demand}
        used: dict[int, Any] = {}
        for clique in dict.fromkeys(each & parts for each in self._cliques):
            if len(clique) < 2:
                continue
            for place in sorted(clique - used.keys()):
                used[place] = self.model.new_bool_var('')
                room = min(one.room[place], groups[place].maximum)
                self.model.add(self.members[place, number] <= room * used[place])
            self.model.add_at_most_one(used[place] for place in sorted(clique))

    def _add_sames(self) -> None:
        for same in self._problem.sames:
            self._check()
            labels = self._problem.labels[same.property]
            chosen: dict[int, Any] = {}
            for place in sorted(same.groups):
                by_value = defaultdict(list)
                for _, one, variable in self._of_group[place]:
                    by_value[int(labels[one.first])].append(variable)
                for value, variables in by_value.items():
                    if value not in chosen:
                        chosen[value] = self.model.new_bool_var('')
                    most = self._problem.groups[place].maximum
                    self.model.add(self._sum(variables) <= most * chosen[value])
            self.model.add_at_most_one(chosen.values())

    def _add_spreads(self) -> None:
        for place, group in enumerate(self._problem.groups):
            for spreading in group.spreads:
                self._check()
                labels = self._problem.labels[spreading.property]
                counts: defaultdict[int, list[Any]] = defaultdict(list)
                for _, one, variable in self._of_group[place]:
                    counts[int(labels[one.first])].append(variable)
                had = numbers(labels, group.has)
                # One value stands for all that nothing can be added to.
                full = {had[value]: value for value in spreading.values - counts.keys()}
                counts.update((value, []) for value in full.values())
                most = group.maximum + sum(had.values())
                fewest = self.model.new_int_var(0, most, '')
                for value, variables in counts.items():
                    count = self._sum(variables) + had[value]
                    self.model.add(count >= fewest)
                    self.model.add(count <= fewest + spreading.max_skew)

    def _add_goal(self) -> None:
        """Maximize the number of members first, then their value."""
        groups = self._problem.groups
        worth = {key: groups[key[0]].weight(self._bins.found[key[1]].first) for key in self.members}
        most = sum(group.maximum for group in groups) * max(worth.values(), default=0) + 1
        if all(group.minimum == group.maximum for group in groups):
            most = 0
        terms = {key: value + most for key, value in worth.items() if value + most}
        if terms:
            self.model.maximize(
                self.cp.LinearExpr.weighted_sum(
                    [self.members[key] for key in terms], list(terms.values())
                )
            )
