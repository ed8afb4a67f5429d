# SPDX-License-Identifier: Apache-2.0

"""Compares the starts of offers that are taken with those that a profile by count gives.

As nothing names its resources, and nothing ends early, a profile that only counts them is what a
cloud can offer at best. Offers are later where bookings lie badly.
"""

from __future__ import annotations

import bisect
import sys
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Final

from benchmarks import planner_service
from benchmarks.engines import NAMES
from benchmarks.figures import Figure
from benchmarks.planner_inputs import BatchRequest
from benchmarks.planner_service import PlannedService

_MINUTE: Final = 60
_HOUR: Final = 3600
_TOLD: Final = 100


class CountProfile:
    """How many of some nodes are free, from each of some times on."""

    def __init__(self, nodes: int) -> None:
        self._times = [0.0]
        self._free = [nodes]

    def first_start(self, earliest: float, duration: float, nodes: int) -> float:
        """Return the first time, a whole minute or *earliest*, from which on nodes are free."""
        start = earliest
        place = bisect.bisect_right(self._times, start) - 1
        while place < len(self._times) and self._times[place] < start + duration:
            place += 1
            if self._free[place - 1] < nodes:
                start = -(-self._times[place] // _MINUTE) * _MINUTE
                place = bisect.bisect_right(self._times, start) - 1
        return start

    def book(self, start: float, end: float, nodes: int) -> None:
        """Take nodes."""
        for place in range(self._step(start), self._step(end)):
            self._free[place] -= nodes

    def _step(self, time: float) -> int:
        place = bisect.bisect_left(self._times, time)
        if place == len(self._times) or self._times[place] != time:
            self._times.insert(place, time)
            self._free.insert(place, self._free[place - 1])
        return place


def starts(engine: str, requests: Sequence[BatchRequest]) -> Iterator[Figure]:
    """Take the soonest offer for each request, and compare its start."""
    profile, same, late = CountProfile(planner_service.NODES), 0, 0.0
    with PlannedService(engine, planner_service.NODES) as service:
        for number, request in enumerate(requests, 1):
            service.move_to(request.submitted)
            earliest = request.submitted + _MINUTE
            start = service.take_soonest(request.nodes, request.asked, earliest)
            best = profile.first_start(earliest, request.asked, request.nodes)
            profile.book(start, start + request.asked, request.nodes)
            same += start == best
            late = max(late, start - best)
            if number % _TOLD == 0:
                sys.stderr.write(f'{number} offers, {same} at the start by count\n')
    what = f'offers of {len(requests):,} at the start by count'
    name = NAMES[engine]
    yield Figure(engine=name, what=what, value=same, unit='')
    yield Figure(engine=name, what='latest of the others', value=late / _HOUR, unit='h')
