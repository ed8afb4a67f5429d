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

"""Holds a process up between two of its statements, and notes when its transactions were open.

That two processes begin at the same instant says little: what matters is what
each has read when the other one commits. A round is run in one of these ways:

``free``
    All begin together, and nothing holds them up.
``meet``
    Each waits before the first statement that locks or writes what is fought
    for, until the others have come as far, or have ended.
``pause``
    One waits before one of its statements, whichever that is, until the others
    have ended.
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
# Nobody can wait for a process that waits for a lock of this one.
PATIENCE = 2.0
# In a step: most choices have been made by then.
_LATEST = 14

_FOUGHT_FOR = re.compile(
    r'\s*(?:(?:UPDATE|DELETE FROM|INSERT INTO)\s+(?:allocations|maintenances|inventories)\b'
    r'|UPDATE\s+resources\b|SELECT\b.*\bFROM\s+resources\b.*\bFOR UPDATE)',
    re.IGNORECASE | re.DOTALL,
)
_BOOKS = re.compile(r'\s*(?:UPDATE|INSERT INTO)\s+allocations\b', re.IGNORECASE)
_WRITES = re.compile(r'\s*(?:UPDATE|DELETE|INSERT)\b', re.IGNORECASE)


@dataclasses.dataclass(kw_only=True)
class Transaction:
    """When a transaction was open, in seconds of a clock that all processes share.

    :ivar sent: when COMMIT was sent; None if it was not
    :ivar done: when it was over
    :ivar books: whether it wrote allocations
    :ivar writes: whether it wrote anything
    """

    begun: float
    sent: float | None = None
    done: float = 0.0
    books: bool = False
    writes: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class Start:
    """How a process takes part in a round.

    :ivar count: how many take part
    :ivar mode: one of :data:`MODES`
    :ivar pause: before which of its statements it waits, from 1; 0 for none
    :ivar seed: draws who is held up in which step, where there are any
    """

    count: int
    mode: str
    pause: int = 0
    seed: str = ''


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Hold:
    """When to wait in a step, and for how many.

    :ivar before: which statement; None for the first that locks or writes what is
        fought for
    """

    before: int | None
    until: int

    def begins(self, statement: int, fights: bool) -> bool:
        return fights if self.before is None else self.before == statement


class Shared:
    """What processes count together; made by the parent.

    :param context: of multiprocessing
    """

    def __init__(self, context: Any) -> None:
        self._changed = context.Condition()
        self._counts = {name: context.RawValue('i', 0) for name in ('ready', 'arrived', 'ended')}

    def reset(self) -> None:
        """Count from zero; nobody may be at work."""
        for value in self._counts.values():
            value.value = 0

    def count(self, name: str) -> None:
        """Count one more."""
        with self._changed:
            self._counts[name].value += 1
            self._changed.notify_all()

    def wait(self, names: tuple[str, ...], wanted: int, seconds: float) -> bool:
        """Wait until there are so many, all of *names* together; say whether there are."""

        def enough() -> bool:
            return sum(self._counts[name].value for name in names) >= wanted

        with self._changed:
            return bool(self._changed.wait_for(enough, seconds))


class Gate:
    """The statements of one process.

    :ivar transactions: of this round
    :ivar statements: how many there were
    :ivar first: which of them was the first that locked or wrote what is fought
        for; 0 if none did
    """

    def __init__(self, engine: sa.Engine, shared: Shared) -> None:
        self._shared = shared
        self._start: Start | None = None
        self._open: Transaction | None = None
        self._hold: _Hold | None = None
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

    def enter(self, start: Start) -> None:
        """Take part in a round: return when all are ready."""
        self._reset()
        self._shared.count('ready')
        self._shared.wait(('ready',), start.count, 30.0)
        self._start = start

    def leave(self) -> None:
        """Be done with it."""
        self._start = None
        self._hold = None
        self._shared.count('ended')

    def step(self, number: int, process: int) -> None:
        """Begin a step together with the others; one of them is held up in it until they are done.

        :param number: of the step, from 1
        :param process: which of them this is, from 0
        """
        start = self._start
        assert start is not None
        self._shared.count('arrived')
        self._shared.wait(('arrived', 'ended'), start.count * number, PATIENCE)
        rng = random.Random(f'{start.seed} {number}')
        held = rng.randrange(start.count)
        # What is chosen is all there is to lose: mostly it waits with that in its hands.
        before = rng.choice((None, None, rng.randint(2, _LATEST)))
        self.first = 0
        self._hold = None
        if process == held:
            self._hold = _Hold(
                before=before and self.statements + before,
                # Who begins the next step is done with this one.
                until=start.count * (number + 1) - 1,
            )

    def _begin(self, _connection: Any) -> None:
        if self._start is not None:
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
        start = self._start
        if start is None:
            return
        self.statements += 1
        if start.pause == self.statements:
            self._shared.wait(('ended',), start.count - 1, PATIENCE)
        fights = not self.first and bool(_FOUGHT_FOR.match(statement))
        if self._hold and not self.first and self._hold.begins(self.statements, fights):
            self._shared.wait(('arrived', 'ended'), self._hold.until, PATIENCE)
        if fights:
            self.first = self.statements
            if start.mode == 'meet':
                self._shared.count('arrived')
                self._shared.wait(('arrived', 'ended'), start.count, PATIENCE)
        if self._open is not None:
            self._open.books |= bool(_BOOKS.match(statement))
            self._open.writes |= bool(_WRITES.match(statement))
