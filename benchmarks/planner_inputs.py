# SPDX-License-Identifier: Apache-2.0

"""Reads the workloads and the cases that the benchmark of the planner replays."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

# The status of a request in the Standard Workload Format that was cancelled.
_CANCELLED: Final = 5


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class BatchRequest:
    """A request for resources as soon as possible; times in seconds from the begin.

    :ivar submitted: when it comes
    :ivar runs: how long its resources are used
    :ivar asked: how long it asks for, at least :attr:`runs`
    :ivar nodes: how many resources it needs
    """

    submitted: int
    runs: int
    asked: int
    nodes: int


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class FixedRequest:
    """A request for resources at a fixed time; times in seconds from the begin."""

    known: int
    start: int
    duration: int
    nodes: int


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class WindowRequest:
    """A request for resources within a window; times in seconds from the begin."""

    name: str
    known: int
    earliest: int
    latest: int
    duration: int
    nodes: int
    preemptible: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PlannerCase:
    """Some requests, and which of them get resources.

    :ivar fates: ``done`` or ``rejected``, by the names of the requests
    """

    name: str
    nodes: int
    requests: tuple[WindowRequest, ...]
    fates: Mapping[str, str]


def batch_requests(path: pathlib.Path, most: int) -> list[BatchRequest]:
    """Return the requests in a file of the Standard Workload Format.

    Those that were cancelled before they ran are left out.

    :param most: how many nodes there are; a request for more is left out
    """
    return [one for one in _batch(path) if one.nodes <= most]


def _batch(path: pathlib.Path) -> Iterator[BatchRequest]:
    for row in _rows(path):
        submitted, runs, nodes, asked, status = (int(row[place]) for place in (1, 3, 7, 8, 10))
        if status == _CANCELLED and runs < 0:
            continue
        # What ran longer than it had asked for was ended.
        yield BatchRequest(
            submitted=submitted, runs=max(min(runs, asked), 0), asked=asked, nodes=nodes
        )


def fixed_requests(path: pathlib.Path) -> list[FixedRequest]:
    """Return the requests in a file of leases with a fixed start."""
    found = []
    for row in _rows(path):
        known, start, duration, nodes = (int(row[place]) for place in (0, 1, 2, 4))
        found.append(FixedRequest(known=known, start=start, duration=duration, nodes=nodes))
    return found


def _rows(path: pathlib.Path) -> Iterator[Sequence[str]]:
    """Yield the columns of the lines that are no comments."""
    for line in path.read_text(encoding='utf-8').splitlines():
        if line.strip() and line[0] not in ';#':
            yield line.split()


def cases(path: pathlib.Path, *, preemptible: bool = False) -> list[PlannerCase]:
    """Return the cases in a file; those without known fates are left out.

    :param preemptible: whether with the fates of leases that can be suspended
    """
    known = 'with_suspension' if preemptible else 'without_suspension'
    found = json.loads(path.read_text(encoding='utf-8'))
    return [
        PlannerCase(
            name=each['case'],
            nodes=each['nodes'],
            requests=tuple(
                WindowRequest(
                    name=one['id'],
                    known=one['arrival'],
                    earliest=one['earliest'],
                    latest=one['deadline'],
                    duration=one['duration'],
                    nodes=one['nodes'],
                    preemptible=one['preemptible'],
                )
                for one in each['requests']
            ),
            fates=each[known],
        )
        for each in found
        if each[known] is not None
    ]
