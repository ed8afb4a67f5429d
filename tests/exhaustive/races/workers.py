# SPDX-License-Identifier: Apache-2.0

"""Processes that make calls at the same instant, and stay alive between rounds."""

from __future__ import annotations

import dataclasses
import itertools
import logging
import multiprocessing
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

import fixtures

from tests.exhaustive.races import defences
from tests.exhaustive.races.gates import RoundPlan
from tests.exhaustive.races.gates import SharedCounters
from tests.exhaustive.races.gates import StatementGate
from tests.exhaustive.races.gates import Transaction
from tests.exhaustive.races.in_process import Call
from tests.exhaustive.races.in_process import InProcessService
from tests.exhaustive.races.in_process import Outcome

_SECONDS = 300.0

_context = multiprocessing.get_context('forkserver')


@dataclasses.dataclass(frozen=True, kw_only=True)
class Report:
    """The actions of one process in a round.

    :ivar first: the number of its first statement that locked or wrote contested rows; 0
        if none did
    """

    outcome: Outcome
    transactions: tuple[Transaction, ...]
    statements: int
    first: int

    def met(self, other: Report) -> bool:
        """Whether transactions of both overlapped, one of which wrote."""
        return any(
            (one.writes or two.writes) and one.begun < two.done and two.begun < one.done
            for one, two in itertools.product(self.transactions, other.transactions)
        )


class Workers(fixtures.Fixture):
    """Processes with their own services, started when they are first needed.

    :param place: the arguments of :class:`InProcessService`
    :param verified: whether their transactions verify their bookings
    """

    def __init__(self, *place: Any, verified: bool = True) -> None:
        super().__init__()
        self._place = place
        self._verified = verified

    def _setUp(self) -> None:
        # The server imports the modules once, and forks the processes.
        _context.set_forkserver_preload([__name__])
        self._shared = SharedCounters(_context)
        self._pipes: list[Connection] = []
        self.addCleanup(self._stop)
        self._processes: list[Any] = []

    def _start(self, count: int) -> None:
        """Start processes up to a number of *count*, all at once."""
        there = len(self._pipes)
        for _ in range(there, count):
            ours, theirs = _context.Pipe()
            process = _context.Process(
                target=_run, args=(theirs, self._shared, self._place, self._verified), daemon=True
            )
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)
        for pipe in self._pipes[there:]:
            self._received(pipe)

    def _stop(self) -> None:
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.join(5)

    def race(self, calls: Sequence[tuple[Call, RoundPlan]]) -> list[Report]:
        """Make each call in its own process, at the same time."""
        self._start(len(calls))
        self._shared.reset()
        pipes = self._pipes[: len(calls)]
        for pipe, call in zip(pipes, calls, strict=True):
            pipe.send(call)
        return [self._received(pipe) for pipe in pipes]

    def _received(self, pipe: Connection) -> Any:
        if not pipe.poll(_SECONDS):
            raise AssertionError('a process does not answer')
        return pipe.recv()


def _run(pipe: Connection, shared: SharedCounters, place: Sequence[Any], verified: bool) -> None:
    # Moves are logged as warnings, and failures are in the reports.
    logging.disable(logging.WARNING)
    if not verified:
        defences.switch_verification_off()
    service = InProcessService(*place)
    gate = StatementGate(service.engine, shared)
    service.pace = gate.step
    pipe.send(None)
    while True:
        try:
            call, plan = pipe.recv()
        except EOFError:
            break
        gate.enter(plan)
        outcome = service.do(call)
        gate.leave()
        pipe.send(
            Report(
                outcome=outcome,
                transactions=tuple(gate.transactions),
                statements=gate.statements,
                first=gate.first,
            )
        )
    service.close()
