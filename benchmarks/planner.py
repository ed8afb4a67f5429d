# SPDX-License-Identifier: Apache-2.0

"""Replays a workload of leases that begin as soon as possible, and measures the planner.

Each request comes through the API at its time, for the time that it asks for. Its lease ends
when it has run as long as it did, and the planner moves others forward. The clock is stepped:
it does not matter how long that takes. Prints what the replay finds, and with further options
whether cases with windows have the known fates, and the processor time of plans.
"""

from __future__ import annotations

import argparse
import functools
import pathlib
import sys
from collections.abc import Iterator
from typing import Final

from benchmarks import engines
from benchmarks import planner_binding
from benchmarks import planner_cases
from benchmarks import planner_inputs
from benchmarks import planner_plans
from benchmarks.figures import Figure
from benchmarks.figures import quantile
from benchmarks.planner_replay import Replay
from benchmarks.planner_replay import ReplayResult
from benchmarks.planner_service import NODES
from benchmarks.planner_service import PlannedService
from tests import services

DATA: Final = pathlib.Path(__file__).parent / 'data'
LAST_END: Final = 2_674_265
"""When the whole workload ends without leases that have a fixed start, in seconds."""

_HOUR: Final = 3600


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark; return the exit status."""
    parser = engines.parser(__doc__)
    parser.add_argument(
        '--requests',
        type=pathlib.Path,
        help='workload in the Standard Workload Format (default: an extract of 120,000 s, with '
        'leases that have a fixed start)',
    )
    parser.add_argument('--first', type=int, help='replay only so many of its requests')
    parser.add_argument('--fixed', type=pathlib.Path, help='leases with a fixed start')
    parser.add_argument('--cases', type=pathlib.Path, help='cases with windows and their fates')
    parser.add_argument(
        '--binding',
        type=int,
        help='instead, take offers for so many requests, and compare the starts with those by '
        'count',
    )
    parser.add_argument('--plans', action='store_true', help='measure plans of many leases, too')
    parser.add_argument(
        '--preemptible',
        action='store_true',
        help='suspend leases without a fixed start between others',
    )
    options = parser.parse_args(arguments)
    if options.requests is None:
        options.requests = DATA / 'blue-horizon-extract.swf'
        options.fixed = options.fixed or DATA / 'fixed-extract.lwf'
    options.engine = options.engine or [services.SQLITE]
    measurements = [functools.partial(_binding if options.binding else _replay, options=options)]
    if options.cases:
        measurements.append(functools.partial(_cases, options=options))
    if options.plans:
        measurements.append(_plans)
    engines.measure(options, *measurements)
    return 0


def _replay(engine: str, *, options: argparse.Namespace) -> Iterator[Figure]:
    requests = planner_inputs.batch_requests(options.requests, NODES)[: options.first]
    fixed = planner_inputs.fixed_requests(options.fixed) if options.fixed else []
    if options.first:
        fixed = [one for one in fixed if one.known <= requests[-1].submitted]
    with PlannedService(engine, NODES) as service:
        found = Replay(service, requests, fixed, preemptible=options.preemptible).run()
    name = engines.NAMES[engine]
    for what, value, unit in _counts(found):
        yield Figure(engine=name, what=what, value=value, unit=unit)


def _binding(engine: str, *, options: argparse.Namespace) -> Iterator[Figure]:
    requests = planner_inputs.batch_requests(options.requests, NODES)
    yield from planner_binding.starts(engine, requests[: options.binding])


def _counts(found: ReplayResult) -> Iterator[tuple[str, float, str]]:
    yield 'flexible leases', len(found.leases), ''
    yield 'flexible leases refused', found.unbooked, ''
    yield 'fixed leases accepted', found.accepted, ''
    yield 'fixed leases refused', found.refused, ''
    yield 'mean wait', found.mean_wait / 1000, '1,000 s'
    yield 'bounded slowdown', found.slowdown, ''
    yield 'last end', found.last_end, 's'
    yield 'last end, compared', (found.last_end / LAST_END - 1) * 100, '%'
    yield 'moves', found.moved, ''
    yield 'displaced', found.displaced, ''
    yield 'yielded', found.yielded, ''
    yield 'median error of the forecast at the request', found.error(), 's'
    yield 'median error of the forecast an hour before', found.error(_HOUR), 's'
    yield 'processor time', found.processor, 's'
    yield 'processor time of plans', sum(found.rounds), 's'
    yield 'processor time of a plan, p95', quantile(found.rounds, 0.95) * 1000, 'ms'
    yield 'processor time of a request', quantile(found.creates, 0.5) * 1000, 'ms'
    if found.displacements:
        longest = quantile(found.displacements, 1) * 1000
        yield 'processor time of a request that displaces, at most', longest, 'ms'


def _cases(engine: str, *, options: argparse.Namespace) -> Iterator[Figure]:
    cases, right = planner_inputs.cases(options.cases, preemptible=options.preemptible), 0
    for case in cases:
        fates = planner_cases.fates(engine, case, suspends=options.preemptible)
        right += fates == case.fates
        if fates != case.fates:
            sys.stderr.write(f'{case.name}: {fates}, not {case.fates}\n')
    what = f'right cases of {len(cases)}'
    yield Figure(engine=engines.NAMES[engine], what=what, value=right, unit='')


def _plans(engine: str) -> Iterator[Figure]:
    for hosts, allocations in planner_plans.SIZES:
        yield from planner_plans.plan(engine, hosts, allocations)
    yield from planner_plans.displacement(engine)


if __name__ == '__main__':
    sys.exit(main())
