# SPDX-License-Identifier: Apache-2.0

"""Places the members of groups on resources: :func:`place`.

Greedy first, which is enough for most requests. If that fails, or if a better assignment
is possible, an integer program is solved, or assignments are tried if OR-Tools is not
installed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Final

from climate.allocation import placement_program
from climate.allocation import placement_search
from climate.allocation.placement_bins import Bins
from climate.allocation.placement_greedy import greedy
from climate.allocation.placement_problem import Placed
from climate.allocation.placement_problem import Problem
from climate.domain.budgets import RequestBudget
from climate.domain.budgets import UNLIMITED

SHARES: Final = (0.3, 0.5)
"""The shares of the time that is left for an assignment: on few resources, and on all."""

LONGEST: Final = 1.0
"""The longest time of which these are shares, in seconds."""

FEW_ROWS: Final = 400
"""How many rows are enough in most cases."""

MOST_TERMS: Final = 100_000
"""How many variables and constraints a search may have: about 600 bytes each."""

Search = Callable[[Bins, float, RequestBudget], tuple[Placed | None, bool]]
"""Returns the best assignment to bins that it found within some seconds, and whether there
is no better one."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Unplaced:
    """No assignment was found.

    :ivar place: of the first group that could not be placed
    :ivar proven: whether there is none; otherwise the search was given up
    """

    place: int
    proven: bool


def place(
    problem: Problem,
    *,
    search: Search | None = None,
    few: int = FEW_ROWS,
    budget: RequestBudget = UNLIMITED,
) -> Placed | Unplaced:
    """Return an assignment: as many members as possible, and among those of the highest score.

    It is never worse than what :func:`climate.allocation.placement_greedy.greedy` finds,
    and optimal unless the search takes too long.

    :param search: None for an integer program, if OR-Tools is installed
    :param few: how many rows to consider at first
    :param budget: what is left for the request; when it is spent, the best assignment that
        was found until then is the answer
    :raises climate.exceptions.RequirementsTooSlow: if it is spent before there was any
    """
    if search is None:
        search = by_trying if placement_program.cp_sat() is None else placement_program.solve
    first = greedy(problem, budget)
    best = None if isinstance(first, int) else first
    bound = problem.bound()
    if best is not None and best.quality >= bound:
        return best
    final = False
    # Few rows are usually enough; the others are added if they are not.
    many = max(MOST_TERMS // problem.terms(), 1)
    for rows, share in zip((min(few, many), many), SHARES, strict=True):
        if budget.spent:
            break
        bins = Bins(problem, rows, budget)
        found, final = search(bins, min(budget.left, LONGEST) * share, budget)
        final = final and bins.complete
        if found is not None and (best is None or found.quality > best.quality):
            best = found
        if bins.complete or (best is not None and best.quality >= bound):
            break
    if best is not None:
        return best
    budget.check()
    assert isinstance(first, int)
    return Unplaced(place=first, proven=final)


def by_trying(bins: Bins, _seconds: float, budget: RequestBudget) -> tuple[Placed | None, bool]:
    """Search without OR-Tools, for a limited number of steps."""
    return placement_search.search(bins, budget=budget)
