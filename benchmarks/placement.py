# SPDX-License-Identifier: Apache-2.0

"""Measures :func:`climate.allocation.placement.place` on hosts of which a third is free.

It needs no database. Greedy fails, or finds less than the best, in the cases with a star.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import statistics
import sys
import time
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any

import numpy as np

from climate.allocation import placement
from climate.allocation import placement_program
from climate.allocation.placement_greedy import greedy
from climate.allocation.placement_problem import EvenSpread
from climate.allocation.placement_problem import Group
from climate.allocation.placement_problem import Placed
from climate.allocation.placement_problem import Problem
from climate.allocation.placement_problem import Same
from climate.allocation.steps import Ints

SIZES = ((50, 1_000, 50), (100, 10_000, 500))
"""Members, hosts, and the aim in milliseconds."""
RACK_SIZE = 40
ZONES = 4

Case = Callable[[int, int], Problem]


def main() -> int:
    """Print a row for each case; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('--times', type=int, default=7, help='number of repetitions')
    parser.add_argument('--without-solver', action='store_true', help='as without OR-Tools')
    options = parser.parse_args()
    start = time.perf_counter()
    solver = not options.without_solver and placement_program.cp_sat() is not None
    loaded = 1000 * (time.perf_counter() - start)
    print(f'with OR-Tools, imported in {loaded:.0f} ms' if solver else 'without OR-Tools')
    print(f'{"case":46}{"members":>8}{"hosts":>7}{"median ms":>11}{"worst":>8}{"aim":>6}')
    for members, hosts, aim in SIZES:
        for name, case in CASES.items():
            problem = case(members, hosts)
            found, taken = _timed(problem, options.times, None if solver else placement.by_trying)
            median = statistics.median(taken)
            name += ' *' if _beats_greedy(problem, found) else ''
            end = '' if isinstance(found, Placed) else f'  refused, proven: {found.proven}'
            print(
                f'{name:46}{members:8}{hosts:7}{median:11.1f}{max(taken):8.1f}{aim:6}'
                f'{" !" if median > aim else ""}{end}'
            )
    return 0


def _timed(problem: Problem, times: int, search: placement.Search | None) -> Any:
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        found = placement.place(problem, search=search)
        taken.append(1000 * (time.perf_counter() - start))
    return found, taken


def _beats_greedy(problem: Problem, found: Placed | placement.Unplaced) -> bool:
    first = greedy(problem)
    return isinstance(first, int) or (isinstance(found, Placed) and found.quality > first.quality)


def _labels(hosts: int) -> dict[str, Ints]:
    rows = np.arange(hosts, dtype=np.int64)
    return {'rack': rows // RACK_SIZE, 'zone': rows * ZONES // hosts}


def _free(hosts: int) -> Ints:
    return (np.random.default_rng(1).random(hosts) < 1 / 3).astype(np.int64)


def _group(count: int, slots: Ints, **more: Any) -> Group:
    rank = np.arange(len(slots), dtype=np.int64)
    return Group(minimum=count, maximum=count, slots=slots, rank=rank, **more)


def _plain(members: int, hosts: int, *, spread: bool = False, weighted: bool = False) -> Problem:
    labels = _labels(hosts)
    zones = EvenSpread(property='zone', max_skew=1, values=frozenset(range(ZONES)))
    group = _group(
        members,
        _free(hosts),
        spreads=(zones,) if spread else (),
        weights=np.random.default_rng(2).integers(0, 3, hosts) if weighted else None,
    )
    return Problem(groups=[group], labels=labels)


def _racks(members: int, hosts: int, *, tight: bool = False) -> Problem:
    """Return groups of ten that are in one rack each.

    :param tight: whether they fit only if the first groups leave a rack to each of the others
    """
    count = members // 10
    labels, slots = _labels(hosts), np.zeros(hosts, dtype=np.int64)
    # There are as many racks with room for ten as there are groups.
    for rack in range(count if tight else hosts // RACK_SIZE):
        slots[rack * RACK_SIZE : rack * RACK_SIZE + 10] = 1
    groups = []
    for number in range(count):
        open_ = slots.copy()
        if tight:
            # Each group may use those of the groups before it, and one more.
            open_[labels['rack'] > count - 1 - number] = 0
        groups.append(_group(10, open_))
    sames = [Same(property='rack', groups=frozenset({number})) for number in range(count)]
    return Problem(groups=groups, labels=labels, sames=sames)


def _slots(members: int, hosts: int, *, scarce: bool = False) -> Problem:
    """Return two groups of slots that share no host, one of larger slots.

    :param scarce: whether only so many hosts are left that each has to be used well
    """
    rng = np.random.default_rng(3)
    units = rng.integers(1, 9, hosts)
    if scarce:
        units[members // 4 :] = 0
        units[: members // 4] = np.where(np.arange(members // 4) % 2, 4, 6)
    demands: list[Mapping[str, int]] = [{'VCPU': 2}, {'VCPU': 3}]
    half = members // 4
    groups = [
        _group(half, units // demand['VCPU'], demand=demand, apart_from=frozenset({1 - place}))
        for place, demand in enumerate(demands)
    ]
    return Problem(groups=groups, free={'VCPU': units}, labels=_labels(hosts))


def _impossible(members: int, hosts: int) -> Problem:
    problem = _plain(members, hosts, spread=True)
    group = problem.groups[0]
    slots = np.where(problem.labels['zone'] == 0, 0, group.slots)
    return dataclasses.replace(problem, groups=[dataclasses.replace(group, slots=slots)])


CASES: Mapping[str, Case] = {
    'whole hosts, no condition': _plain,
    'whole hosts, spread over zones': functools.partial(_plain, spread=True),
    'whole hosts, spread, preferences': functools.partial(_plain, spread=True, weighted=True),
    'groups of ten, one rack each': _racks,
    'groups of ten, one rack each, one way only': functools.partial(_racks, tight=True),
    'two groups of slots apart': _slots,
    'two groups of slots apart, few hosts': functools.partial(_slots, scarce=True),
    'spread, and one zone is full': _impossible,
}


if __name__ == '__main__':
    sys.exit(main())
