# SPDX-License-Identifier: Apache-2.0

"""How long transactions wait for locks: a request has one limit for all of them.

By default, MariaDB waits 50 seconds for each lock, and PostgreSQL indefinitely. Here each session
has a limit. It is that of a whole request: once a second of it is spent, the next statements
may wait only for what is left.
"""

from __future__ import annotations

import contextlib
import contextvars
import math
import threading
from collections.abc import Callable
from collections.abc import Iterator
from typing import Any
from typing import Final

import sqlalchemy as sa
from sqlalchemy import event

# A limit is set again only if that changes it by so much, in seconds: that takes a statement.
_STEP: Final = 1.0
# MariaDB counts whole seconds, and 0 is no wait at all.
_SHORTEST: Final = 1
BRIEF: Final = 'climate_brief'
"""In the ``info`` of a session whose transaction has a shorter limit of its own."""


class Allowance:
    """How long the transactions of a request have taken, in seconds."""

    def __init__(self) -> None:
        self.spent = 0.0


_current: contextvars.ContextVar[Allowance | None] = contextvars.ContextVar(
    'allowance', default=None
)


@contextlib.contextmanager
def one_request() -> Iterator[None]:
    """Have all transactions of a block share one limit. Otherwise each has its own."""
    token = _current.set(Allowance())
    try:
        yield
    finally:
        _current.reset(token)


class LockWaits:
    """Limits how long the transactions of an engine wait for locks.

    SQLite has one lock for everything, and its own limit.

    :param ticks: returns the seconds since a fixed instant
    :param seconds: what a request may wait in all
    """

    def __init__(self, ticks: Callable[[], float], seconds: int) -> None:
        self._ticks = ticks
        self._seconds = seconds
        # The transaction of this thread, its deadline, and the limit that its session has.
        self._local = threading.local()

    @contextlib.contextmanager
    def deadline(self) -> Iterator[float]:
        """Yield the instant until which the attempts at a transaction may wait."""
        allowance = _current.get() or Allowance()
        began = self._ticks()
        try:
            yield began + self._seconds - allowance.spent
        finally:
            allowance.spent += self._ticks() - began

    @contextlib.contextmanager
    def until(self, session: sa.Connection, deadline: float | None) -> Iterator[None]:
        """Have the statements of a transaction wait until an instant at most."""
        self._local.deadline, self._local.limit = deadline, float(self._seconds)
        self._local.session = session
        try:
            yield
        finally:
            self._local.deadline = self._local.session = None
            if not session.invalidated:
                session.info.pop(BRIEF, None)
            # On PostgreSQL, a limit ends with its transaction.
            changed = self._local.limit != self._seconds
            if changed and _is_mariadb(session.dialect) and not session.invalidated:
                self._restore(session)

    def set_up(self, engine: sa.Engine) -> None:
        """Limit the waits of all sessions of an engine."""
        if engine.dialect.name == 'sqlite':
            return

        @event.listens_for(engine, 'connect')
        def _limit(connection: Any, _record: Any) -> None:
            _set(engine.dialect, connection, self._seconds)

        dialect: Any = engine.dialect
        dialect.do_execute = self._limited(dialect, dialect.do_execute)
        dialect.do_executemany = self._limited(dialect, dialect.do_executemany)

    def _limited(self, dialect: Any, execute: Callable[..., None]) -> Callable[..., None]:
        local, ticks = self._local, self._ticks

        def limited(cursor: Any, statement: str, parameters: Any, context: Any = None) -> None:
            deadline = getattr(local, 'deadline', None)
            if deadline is not None:
                left = max(deadline - ticks(), _SHORTEST)
                if local.limit - left >= _STEP and _is_limited(context, local.session):
                    local.limit = left
                    cursor.execute(_shortened(dialect, left))
            execute(cursor, statement, parameters, context)

        return limited

    def _restore(self, session: sa.Connection) -> None:
        statement = _shortened(session.dialect, self._seconds)
        # A broken connection is not used again.
        with contextlib.suppress(session.dialect.loaded_dbapi.Error):
            with contextlib.closing(session.connection.cursor()) as cursor:
                cursor.execute(statement)


def relax(connection: sa.Connection, seconds: int) -> None:
    """Let a connection that no pool gets back wait longer, for an upgrade of the tables."""
    _set(connection.dialect, connection.connection.dbapi_connection, seconds)


def _set(dialect: sa.Dialect, connection: Any, seconds: int) -> None:
    with connection.cursor() as cursor:
        for statement in _statements(dialect, seconds):
            cursor.execute(statement)
    connection.commit()


def _is_limited(context: Any, session: sa.Connection) -> bool:
    """Whether a statement belongs to a transaction, which has not a shorter limit of its own."""
    return context is not None and context.root_connection is session and BRIEF not in session.info


def _is_mariadb(dialect: sa.Dialect) -> bool:
    return dialect.name in ('mysql', 'mariadb')


def _statements(dialect: sa.Dialect, seconds: int) -> Iterator[str]:
    if _is_mariadb(dialect):
        yield f'SET SESSION innodb_lock_wait_timeout = {seconds}'
        # Of tables, which an upgrade holds; a day by default.
        yield f'SET SESSION lock_wait_timeout = {seconds}'
    else:
        yield f"SET lock_timeout = '{seconds}s'"


def _shortened(dialect: sa.Dialect, seconds: float) -> str:
    if _is_mariadb(dialect):
        return f'SET SESSION innodb_lock_wait_timeout = {math.ceil(seconds)}'
    return f"SET LOCAL lock_timeout = '{math.ceil(seconds * 1000)}ms'"
