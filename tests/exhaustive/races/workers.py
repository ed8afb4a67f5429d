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

"""Processes that act at the same instant, kept from round to round."""

from __future__ import annotations

import dataclasses
import logging
import multiprocessing
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

import fixtures

from tests.exhaustive.races import defences
from tests.exhaustive.races.desks import Act
from tests.exhaustive.races.desks import Desk
from tests.exhaustive.races.desks import Told
from tests.exhaustive.races.gates import Gate
from tests.exhaustive.races.gates import Shared
from tests.exhaustive.races.gates import Start
from tests.exhaustive.races.gates import Transaction

_SECONDS = 300.0

_context = multiprocessing.get_context('forkserver')


@dataclasses.dataclass(frozen=True, kw_only=True)
class Report:
    """What one process did in a round.

    :ivar first: which of its statements was the first that locked or wrote what
        is fought for; 0 if none did
    """

    told: Told
    transactions: tuple[Transaction, ...]
    statements: int
    first: int


class Workers(fixtures.Fixture):
    """Processes, each with a service of its own; they begin when they are needed first.

    :param place: what a desk is made with
    :param judged: whether they judge what they have booked
    """

    def __init__(self, *place: Any, judged: bool = True) -> None:
        super().__init__()
        self._place = place
        self._judged = judged

    def _setUp(self) -> None:
        # The modules are imported once, and the processes are made of that.
        _context.set_forkserver_preload([__name__])
        self._shared = Shared(_context)
        self._pipes: list[Connection] = []
        self.addCleanup(self._stop)
        self._processes: list[Any] = []

    def _start(self, count: int) -> None:
        """Have so many at work: those that are missing begin, all at once."""
        there = len(self._pipes)
        for _ in range(there, count):
            ours, theirs = _context.Pipe()
            process = _context.Process(
                target=_run, args=(theirs, self._shared, self._place, self._judged), daemon=True
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

    def race(self, acts: Sequence[tuple[Act, Start]]) -> list[Report]:
        """Have as many processes act as there are acts."""
        self._start(len(acts))
        self._shared.reset()
        pipes = self._pipes[: len(acts)]
        for pipe, act in zip(pipes, acts, strict=True):
            pipe.send(act)
        return [self._received(pipe) for pipe in pipes]

    def _received(self, pipe: Connection) -> Any:
        if not pipe.poll(_SECONDS):
            raise AssertionError('a process does not answer')
        return pipe.recv()


def _run(pipe: Connection, shared: Shared, place: Sequence[Any], judged: bool) -> None:
    # What is moved is told in warnings, and what went wrong in reports.
    logging.disable(logging.WARNING)
    if not judged:
        defences.switch_judgement_off()
    desk = Desk(*place)
    gate = Gate(desk.engine, shared)
    desk.pace = gate.step
    pipe.send(None)
    while True:
        try:
            act, start = pipe.recv()
        except EOFError:
            break
        gate.enter(start)
        told = desk.do(act)
        gate.leave()
        pipe.send(
            Report(
                told=told,
                transactions=tuple(gate.transactions),
                statements=gate.statements,
                first=gate.first,
            )
        )
    desk.close()
