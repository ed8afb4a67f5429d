# SPDX-License-Identifier: Apache-2.0

"""Connections on which the server is silent: whether it still works, or is gone.

A server that vanishes, or a network that drops everything, leaves a connection that looks
as if a statement took long. A limit for statements would also end those that take long
because the server has much to do, and their repetition would give it more. So after a while
without a response, a new connection asks the server whether it still executes the statement.
"""

from __future__ import annotations

import contextlib
import functools
import io
import logging
import select
import socket
import time
from collections.abc import Callable
from collections.abc import Generator
from collections.abc import Iterator
from typing import Any
from typing import Final

import sqlalchemy as sa
from sqlalchemy import event

from climate import exceptions
from climate.db.engine import error_codes
from climate.db.engine import error_log
from climate.exceptions.outages import Cause

LOG = logging.getLogger(__name__)

KEEPALIVE: Final = {'idle': 4, 'interval': 1, 'count': 4}
"""Seconds until the first keepalive probe of TCP and between two, and how many are sent."""

# A session that writes to a client that does not read is silent as well.
_WORKS_POSTGRESQL: Final = (
    'SELECT 1 FROM pg_stat_activity WHERE pid = %s'
    " AND state = 'active' AND wait_event IS DISTINCT FROM 'ClientWrite'"
)
_WORKS_MARIADB: Final = (
    'SELECT 1 FROM information_schema.processlist WHERE id = %s'
    " AND command NOT IN ('Sleep', 'Killed') AND coalesce(state, '') NOT LIKE 'Writing to net%%'"
)

# Whether the server still works on the statement of a session, by the id of the session.
_Works = Callable[[int], bool]


def watch(engine: sa.Engine, seconds: float) -> None:
    """Give up connections whose server does not respond.

    Call it after all other listeners for ``do_connect``: it connects.

    :param seconds: how long a connection may be silent before the server is asked
    """
    if engine.dialect.driver == 'psycopg':
        _watch_psycopg(engine, seconds)
    elif engine.dialect.driver == 'pymysql':
        _watch_pymysql(engine, seconds)
    else:
        _explain(engine)


def _asks(connect: Callable[[], Any], question: str, session: int) -> bool:
    """Ask the server on a new connection whether it works on a statement of *session*."""
    try:
        connection = connect()
        try:
            with connection.cursor() as cursor:
                cursor.execute(question, (session,))
                works = cursor.fetchone() is not None
        finally:
            connection.close()
    except Exception as error:
        LOG.debug('The server does not respond on a new connection either: %s', error)
        return False
    if not works:
        LOG.warning('The connection %s to the database is frozen, and given up', session)
    return works


def _watch_psycopg(engine: sa.Engine, seconds: float) -> None:
    driver: Any = engine.dialect.loaded_dbapi

    class WatchedConnection(driver.Connection):
        """A connection that does not wait for a server that is gone."""

        works: _Works | None = None

        def wait(self, steps: Any, *arguments: Any, **named: Any) -> Any:
            """Take the steps of a statement, unless the server is silent for too long."""
            return super().wait(self.limited(steps), *arguments, **named)

        def limited(self, steps: Any) -> Generator[Any, Any, Any]:
            """Yield the steps of a statement while the server responds or works."""
            try:
                state = next(steps)
                since = time.monotonic()
                while True:
                    ready: Any = yield state
                    if ready:
                        since = time.monotonic()
                    elif time.monotonic() - since >= seconds:
                        self.check()
                        since = time.monotonic()
                    state = steps.send(ready)
            except StopIteration as over:
                return over.value

        def check(self) -> None:
            """Close the connection and raise an error, unless the server still works."""
            if self.works is None or not self.works(self.pgconn.backend_pid):
                self.pgconn.finish()
                raise driver.OperationalError('the server does not respond')

    @event.listens_for(engine, 'do_connect')
    def _connect(_dialect: Any, _record: Any, arguments: Any, params: Any) -> Any:
        connect = functools.partial(WatchedConnection.connect, *arguments, **params)
        with _explained(driver):
            connection = connect()
        connection.works = functools.partial(_asks, connect, _WORKS_POSTGRESQL)
        return connection


def _explain(engine: sa.Engine) -> None:
    driver: Any = engine.dialect.loaded_dbapi

    @event.listens_for(engine, 'do_connect')
    def _connect(_dialect: Any, _record: Any, arguments: Any, params: Any) -> Any:
        with _explained(driver):
            return driver.connect(*arguments, **params)


@contextlib.contextmanager
def _explained(driver: Any) -> Iterator[None]:
    """Turn what a driver says about parameters that it does not know into a sentence.

    :raises climate.exceptions.DatabaseRefused: if a parameter is unknown or wrong
    """
    try:
        yield
    except (TypeError, driver.ProgrammingError) as error:
        # Parameters of the URL are arguments of the driver.
        if error_codes.cause(error) is not None:
            raise
        reason = f'[database] connection: {error_log.sentence(error)}'
        raise exceptions.DatabaseRefused(cause=Cause.REFUSED, reason=reason) from error


def _watch_pymysql(engine: sa.Engine, seconds: float) -> None:
    plain = engine.dialect.loaded_dbapi

    @event.listens_for(engine, 'do_connect')
    def _connect(_dialect: Any, _record: Any, arguments: Any, params: Any) -> Any:
        # While it connects. Afterwards, what reads from the socket waits before.
        params.setdefault('read_timeout', seconds)
        params.setdefault('write_timeout', seconds)
        connect = functools.partial(plain.connect, *arguments, **params)
        with _explained(plain):
            connection: Any = connect()
        works = functools.partial(_asks, connect, _WORKS_MARIADB, connection.thread_id())
        _keep_alive(connection._sock, seconds)
        # PyMySQL has no other way to wait longer: a time-out closes the connection.
        connection._rfile = io.BufferedReader(
            _WatchedReader(connection._rfile.detach(), connection._sock, seconds, works)
        )
        return connection


def _keep_alive(connected: socket.socket, seconds: float) -> None:
    if connected.family == socket.AF_UNIX:
        return
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        ('TCP_KEEPIDLE', KEEPALIVE['idle']),
        ('TCP_KEEPINTVL', KEEPALIVE['interval']),
        ('TCP_KEEPCNT', KEEPALIVE['count']),
        ('TCP_USER_TIMEOUT', int(seconds * 1000)),
    ):
        # Not every system has all of them.
        if hasattr(socket, name):
            connected.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


class _WatchedReader(io.RawIOBase):
    """Reads from a socket while the server responds or works."""

    def __init__(self, raw: Any, connected: Any, seconds: float, works: Callable[[], bool]) -> None:
        super().__init__()
        self._raw = raw
        self._connected = connected
        self._works = works
        self._milliseconds = seconds * 1000
        self._poll = select.poll()
        self._poll.register(connected.fileno(), select.POLLIN)
        # With TLS, bytes that have arrived are not in the socket any more.
        self._pending: Callable[[], int] = getattr(connected, 'pending', int)

    def readable(self) -> bool:
        """Whether it can be read."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read some bytes.

        :raises TimeoutError: if the server does not respond
        """
        while not self._pending() and not self._poll.poll(self._milliseconds):
            if not self._works():
                raise TimeoutError('the server does not respond')
        count: int | None = self._raw.readinto(buffer)
        return count

    def close(self) -> None:
        """Close what it reads from."""
        self._raw.close()
        super().close()
