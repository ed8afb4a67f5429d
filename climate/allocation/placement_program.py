# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.


"""Placement as an integer program, solved by CP-SAT of OR-Tools.

For each group ``g`` and bin ``b``, ``x[g, b]`` members are placed. The program maximizes
their number, and then their value. OR-Tools is an optional requirement, and takes a while
to import: the API imports it before it answers, other processes when they first need it.
"""

from __future__ import annotations

import functools
import importlib
from collections import defaultdict
from typing import Any

from climate.allocation.placement_bins import Bin
from climate.allocation.placement_bins import Bins
from climate.allocation.placement_problem import numbers
from climate.allocation.placement_problem import Placed


@functools.cache
def cp_sat() -> Any:
    """Return the module of CP-SAT; None if OR-Tools is not installed."""
    try:
        return importlib.import_module('ortools.sat.python.cp_model')
    except ImportError:
        return None


def solve(bins: Bins, seconds: float) -> tuple[Placed | None, bool]:
    """Return the best assignment that was found, and whether there is no better one.

    :param seconds: the longest time to search
    """
    program = _Program(bins)
    solver = program.cp.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
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

    def __init__(self, bins: Bins) -> None:
        self.cp = cp_sat()
        self.model = self.cp.CpModel()
        self._bins = bins
        self._problem = bins.problem
        self._of_group: defaultdict[int, list[tuple[int, Bin, Any]]] = defaultdict(list)
        self.members: dict[tuple[int, int], Any] = {}
        for number, one in enumerate(bins.found):
            for place, room in one.room.items():
                most = min(room, self._problem.groups[place].maximum)
                variable = self.model.new_int_var(0, most, '')
                self.members[place, number] = variable
                self._of_group[place].append((number, one, variable))
        self._add_sizes()
        for number, one in enumerate(bins.found):
            if len(one.room) > 1:
                self._add_sharing(number, one)
        self._add_sames()
        self._add_spreads()
        self._add_goal()

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
        for index, place in enumerate(parts):
            for other in parts[index + 1 :]:
                if self._problem.apart(place, other):
                    self._add_either(number, one, place, other)

    def _add_either(self, number: int, one: Bin, place: int, other: int) -> None:
        chosen = self.model.new_bool_var('')
        for user, used in ((place, chosen), (other, 1 - chosen)):
            room = min(one.room[user], self._problem.groups[user].maximum)
            self.model.add(self.members[user, number] <= room * used)

    def _add_sames(self) -> None:
        for same in self._problem.sames:
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
                labels = self._problem.labels[spreading.property]
                counts: dict[int, list[Any]] = {value: [] for value in spreading.values}
                for _, one, variable in self._of_group[place]:
                    counts[int(labels[one.first])].append(variable)
                had = numbers(labels, group.has)
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
