# SPDX-License-Identifier: Apache-2.0

"""Pauses a process between two of its statements, and records when transactions are open.

Starting two processes at the same instant is not enough: the result depends on what each
has read when the other one commits. A round runs in one of these modes:

``free``
    All processes start together, and none is paused.
``meet``
    Each process waits before the first statement that locks or writes contested rows,
    until the others have reached theirs, or have ended.
``pause``
    One process waits before one of its statements until the others have ended.
"""

from __future__ import annotations

import dataclasses
import random
import re
import time
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

MODES = ('pause', 'meet', 'pause', 'free', 'pause')
# In seconds. The other processes may be waiting for a lock of this one.
PATIENCE = 2.0
# The last statement of a step before which to pause: most choices are made by then.
_LATEST = 14

_CONTESTED = re.compile(
    r'\s*(?:(?:UPDATE|DELETE FROM|INSERT INTO)\s+(?:allocations|maintenances|inventories)\b'
    r'|UPDATE\s+resources\b|SELECT\b.*\bFROM\s+resources\b.*\bFOR UPDATE)',
    re.IGNORECASE | re.DOTALL,
)
_ALLOCATES = re.compile(
    r'\s*(?:WITH\b.*\)\s*)?(?:UPDATE|INSERT INTO)\s+allocations\b', re.IGNORECASE | re.DOTALL
)
_WRITES = re.compile(r'\s*(?:WITH\b.*\)\s*)?(?:UPDATE|DELETE|INSERT)\b', re.IGNORECASE | re.DOTALL)


@dataclasses.dataclass(kw_only=True)
class Transaction:
    """When a transaction was open, in seconds on a clock that all processes share.

    :ivar sent: when COMMIT was sent; None if it was not
    :ivar done: when it ended
    :ivar allocates: whether it wrote allocations
    :ivar writes: whether it wrote anything
    """

    begun: float
    sent: float | None = None
    done: float = 0.0
    allocates: bool = False
    writes: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class RoundPlan:
    """How a process takes part in a round.

    :ivar count: the number of processes
    :ivar mode: one of :data:`MODES`
    :ivar pause: the number of the statement before which it waits, from 1; 0 for none
    :ivar seed: determines which process is paused in which step of a random workload
    """

    count: int
    mode: str
    pause: int = 0
    seed: str = ''


@dataclasses.dataclass(frozen=True, kw_only=True)
class _PausePoint:
    """The pause in a step.

    :ivar before: the number of the statement; None for the first that locks or writes
        contested rows
    :ivar until: how many processes must have arrived or ended
    """

    before: int | None
    until: int

    def begins(self, statement: int, contests: bool) -> bool:
        return contests if self.before is None else self.before == statement


class SharedCounters:
    """Counters that processes share; created by the parent.

    :param context: the multiprocessing context
    """

    def __init__(self, context: Any) -> None:
        self._changed = context.Condition()
        self._counts = {name: context.RawValue('i', 0) for name in ('ready', 'arrived', 'ended')}

    def reset(self) -> None:
        """Reset all counters, while no process is at work."""
        for value in self._counts.values():
            value.value = 0

    def count(self, name: str) -> None:
        """Increment a counter."""
        with self._changed:
            self._counts[name].value += 1
            self._changed.notify_all()

    def wait(self, names: tuple[str, ...], wanted: int, seconds: float) -> bool:
        """Wait until the sum of the counters is at least *wanted*; return whether it is."""

        def enough() -> bool:
            return sum(self._counts[name].value for name in names) >= wanted

        with self._changed:
            return bool(self._changed.wait_for(enough, seconds))


class StatementGate:
    """Pauses the statements of one process, and records its transactions.

    :ivar transactions: the transactions of this round
    :ivar statements: the number of statements
    :ivar first: the number of the first statement that locked or wrote contested rows; 0
        if none did
    """

    def __init__(self, engine: sa.Engine, shared: SharedCounters) -> None:
        self._shared = shared
        self._plan: RoundPlan | None = None
        self._open: Transaction | None = None
        self._pause_point: _PausePoint | None = None
        self._reset()
        handlers: dict[str, Callable[..., None]] = {
            'begin': self._begin,
            'commit': self._commit,
            'before_cursor_execute': self._statement,
        }
        for name, handler in handlers.items():
            sa.event.listen(engine, name, handler)
        sa.event.listen(engine.pool, 'checkin', self._over)

    def _reset(self) -> None:
        self.transactions: list[Transaction] = []
        self.statements = 0
        self.first = 0

    def enter(self, plan: RoundPlan) -> None:
        """Take part in a round; returns when all processes are ready."""
        self._reset()
        self._shared.count('ready')
        self._shared.wait(('ready',), plan.count, 30.0)
        self._plan = plan

    def leave(self) -> None:
        """End the part in the round."""
        self._plan = None
        self._pause_point = None
        self._shared.count('ended')

    def step(self, number: int, process: int) -> None:
        """Begin a step with the others, one of which is paused until they have finished it.

        :param number: the number of the step, from 1
        :param process: the number of this process, from 0
        """
        plan = self._plan
        assert plan is not None
        self._shared.count('arrived')
        self._shared.wait(('arrived', 'ended'), plan.count * number, PATIENCE)
        rng = random.Random(f'{plan.seed} {number}')
        held = rng.randrange(plan.count)
        # Only the choice of resources can be lost in a race, so mostly wait right after it.
        before = rng.choice((None, None, rng.randint(2, _LATEST)))
        self.first = 0
        self._pause_point = None
        if process == held:
            self._pause_point = _PausePoint(
                before=before and self.statements + before,
                # A process that begins the next step has finished this one.
                until=plan.count * (number + 1) - 1,
            )

    def _begin(self, _connection: Any) -> None:
        if self._plan is not None:
            self._open = Transaction(begun=time.monotonic())
            self.transactions.append(self._open)

    def _commit(self, _connection: Any) -> None:
        if self._open is not None:
            self._open.sent = time.monotonic()

    def _over(self, _connection: Any, _record: Any) -> None:
        if self._open is not None:
            self._open.done = time.monotonic()
            self._open = None

    def _statement(self, _connection: Any, _cursor: Any, statement: str, *_parameters: Any) -> None:
        plan = self._plan
        if plan is None:
            return
        self.statements += 1
        if plan.pause == self.statements:
            self._shared.wait(('ended',), plan.count - 1, PATIENCE)
        contests = not self.first and bool(_CONTESTED.match(statement))
        if (
            self._pause_point
            and not self.first
            and self._pause_point.begins(self.statements, contests)
        ):
            self._shared.wait(('arrived', 'ended'), self._pause_point.until, PATIENCE)
        if contests:
            self.first = self.statements
            if plan.mode == 'meet':
                self._shared.count('arrived')
                self._shared.wait(('arrived', 'ended'), plan.count, PATIENCE)
        if self._open is not None:
            self._open.allocates |= bool(_ALLOCATES.match(statement))
            self._open.writes |= bool(_WRITES.match(statement))
