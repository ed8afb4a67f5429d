# SPDX-License-Identifier: Apache-2.0

"""Replays a workload through the API, with a manager that plans after each early end."""

from __future__ import annotations

import dataclasses
import heapq
import itertools
import statistics
import sys
from collections.abc import Callable
from collections.abc import Sequence
from typing import Final

from benchmarks import planner_service
from benchmarks.planner_inputs import BatchRequest
from benchmarks.planner_inputs import FixedRequest
from benchmarks.planner_service import PlannedService
from climate.domain.leases import Lease
from climate.domain.lifecycles import LeaseStatus

# The shortest run time in a slowdown, in seconds.
_BOUND: Final = 10
# The share of the requests at the begin, when little waits, that slowdowns leave out.
_FIRST: Final = 0.05
_TOLD: Final = 250


@dataclasses.dataclass(kw_only=True, slots=True)
class ReplayedLease:
    """A flexible lease; times in seconds from the begin.

    :ivar starts: the starts that it has had, each with the time from which on it had it
    :ivar began: when it began; None before
    :ivar slice: when its present time slice began; None before the first one
    """

    request: BatchRequest
    starts: list[tuple[float, float]]
    began: float | None = None
    slice: float | None = None

    @property
    def wait(self) -> float:
        """How long it waited, if it has begun."""
        return 0.0 if self.began is None else self.began - self.request.submitted

    @property
    def slowdown(self) -> float:
        """By which factor it took longer than without a wait."""
        runs = max(self.request.runs, _BOUND)
        return max((self.wait + self.request.runs) / runs, 1.0)

    def error(self, before: float | None) -> float | None:
        """Return how far its start was from the one that was forecast.

        :param before: how long before its start; None for the forecast at its submission
        :returns: None if it was not submitted yet
        """
        if self.began is None:
            return None
        at = self.request.submitted if before is None else self.began - before
        known = [start for since, start in self.starts if since <= at]
        return abs(self.began - known[-1]) if known else None


@dataclasses.dataclass(kw_only=True, slots=True)
class ReplayResult:
    """What a replay has found; times in seconds.

    :ivar accepted: how many leases with a fixed start were accepted
    :ivar refused: how many were not
    :ivar unbooked: how many flexible ones were refused
    :ivar moved: how many moves forward there were
    :ivar yielded: how often a preemptible lease gave up its resources for a while
    :ivar displaced: how often a flexible lease gave its place to a fixed one
    :ivar last_end: when the last lease ended
    :ivar rounds: the processor time of each plan
    :ivar creates: that of each request for a flexible lease
    :ivar displacements: that of each request that displaced some
    :ivar processor: that of all
    """

    leases: list[ReplayedLease] = dataclasses.field(default_factory=list)
    accepted: int = 0
    refused: int = 0
    unbooked: int = 0
    moved: int = 0
    displaced: int = 0
    yielded: int = 0
    last_end: float = 0.0
    rounds: list[float] = dataclasses.field(default_factory=list)
    creates: list[float] = dataclasses.field(default_factory=list)
    displacements: list[float] = dataclasses.field(default_factory=list)
    processor: float = 0.0

    @property
    def mean_wait(self) -> float:
        """The mean wait of the flexible leases."""
        return statistics.fmean(one.wait for one in self.leases)

    @property
    def slowdown(self) -> float:
        """The mean bounded slowdown, without the first requests."""
        first = int(len(self.leases) * _FIRST)
        return statistics.fmean(one.slowdown for one in self.leases[first:])

    def error(self, before: float | None = None) -> float:
        """Return the median error of forecasts.

        :param before: how long before the start; None for those at the submissions
        """
        found = [one.error(before) for one in self.leases]
        known = [error for error in found if error is not None]
        return statistics.median(known) if known else 0.0


class Replay:
    """Replays requests.

    :ivar result: what was found so far
    :param preemptible: whether leases without a fixed start are suspended between others
    """

    def __init__(
        self,
        service: PlannedService,
        requests: Sequence[BatchRequest],
        fixed: Sequence[FixedRequest],
        *,
        preemptible: bool = False,
    ) -> None:
        self._service = service
        self._facts = {'preemptible': True} if preemptible else {}
        self.result = ReplayResult()
        self._flexible: dict[str, ReplayedLease] = {}
        self._count = itertools.count()
        # Ends come before requests of the same time.
        self._next: list[tuple[float, int, int, Callable[[], None]]] = []
        for batch in requests:
            self._at(batch.submitted, 1, lambda one=batch: self._submit(one))
        for one in fixed:
            self._at(one.known, 1, lambda one=one: self._fix(one))

    def run(self) -> ReplayResult:
        """Replay all of it."""
        began = self._service.used()
        while True:
            due, upcoming = self._service.due(), self._next[0][0] if self._next else None
            if due is not None and (upcoming is None or due < upcoming):
                self._service.move_to(max(due, self._service.now()))
                self._work()
            elif upcoming is not None:
                self._service.move_to(max(upcoming, self._service.now()))
                heapq.heappop(self._next)[-1]()
                self._work()
            else:
                break
        self.result.processor = self._service.used() - began
        return self.result

    def _at(self, time: float, rank: int, what: Callable[[], None]) -> None:
        heapq.heappush(self._next, (time, rank, next(self._count), what))

    def _work(self) -> None:
        yielded = 0
        for lease in self._service.work():
            self._observe(lease)
            yielded += lease.status is LeaseStatus.WAITING
        if yielded:
            self.result.yielded += yielded
            self._plan()

    def _observe(self, lease: Lease) -> None:
        """Take note of a lease that has begun or ended."""
        if lease.status is LeaseStatus.TERMINATED:
            self.result.last_end = max(
                self.result.last_end, planner_service.seconds(lease.period.end)
            )
        mine = self._flexible.get(lease.id)
        start = planner_service.seconds(lease.period.start)
        if mine is None or mine.slice == start or lease.status is not LeaseStatus.ACTIVE:
            return
        mine.slice = start
        mine.began = start if mine.began is None else mine.began
        left = mine.request.runs - (lease.ran or 0)
        if left < lease.period.length.total_seconds():
            self._at(start + left, 0, lambda: self._end(lease.id))

    def _submit(self, request: BatchRequest) -> None:
        began = self._service.used()
        booked = self._service.book(
            request.nodes, earliest='now', duration=request.asked, **self._facts
        )
        self.result.creates.append(self._service.used() - began)
        if booked is None:
            self.result.unbooked += 1
            return
        start = planner_service.read(booked['start_date'])
        mine = ReplayedLease(request=request, starts=[(request.submitted, start)])
        self._flexible[booked['id']] = mine
        self.result.leases.append(mine)
        if len(self.result.leases) % _TOLD == 0:
            self._tell()

    def _fix(self, request: FixedRequest) -> None:
        began = self._service.used()
        booked = self._service.book(
            request.nodes,
            start_date=planner_service.written(request.start),
            end_date=planner_service.written(request.start + request.duration),
        )
        spent = self._service.used() - began
        if booked is None:
            self.result.refused += 1
            return
        self.result.accepted += 1
        displaced = self._follow()
        if displaced:
            self.result.displaced += displaced
            self.result.displacements.append(spent)
            # What they left may do for others.
            self._plan()

    def _end(self, lease_id: str) -> None:
        self._service.end(lease_id)
        self._work()
        self._plan()

    def _plan(self) -> None:
        """Plan until nothing moves any more, as managers do within seconds."""
        moved = 1
        while moved:
            began = self._service.used()
            moved = self._service.planner.round()
            self.result.rounds.append(self._service.used() - began)
            self.result.moved += moved
        self._follow()

    def _follow(self) -> int:
        """Take note of the leases that have moved; return how many begin later."""
        later, now = 0, self._service.now()
        for lease_id, start in self._service.waiting().items():
            if self._flexible[lease_id].began is not None:
                continue
            known = self._flexible[lease_id].starts
            before = known[-1][1]
            if start != before:
                known.append((now, start))
                later += start > before
        return later

    def _tell(self) -> None:
        found = self.result
        waiting = len(self._service.waiting())
        sys.stderr.write(
            f'{len(found.leases)} requests, {self._service.now():.0f} s: {waiting} wait,'
            f' {found.mean_wait / 1000:.2f} thousand seconds on average so far,'
            f' {found.moved} moves, {found.displaced} displaced, {found.refused} refused,'
            f' {found.yielded} yielded,'
            f' {sum(found.rounds):.1f} s in {len(found.rounds)} plans,'
            f' {sum(found.creates):.1f} s in requests\n'
        )
