# SPDX-License-Identifier: Apache-2.0

"""Connections to database servers: how they are set up, and checked before use."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import os
import weakref
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event

from climate import exceptions
from climate.clock import Clock
from climate.db.engine import error_log
from climate.db.engine import errors
from climate.db.engine import files
from climate.db.engine import mariadb_hosts
from climate.db.engine import prepared
from climate.db.engine import prerequisites_mariadb
from climate.db.engine import read_only
from climate.db.engine import session_limits
from climate.db.engine import silence
from climate.exceptions.outages import Cause
from climate.metrics import catalogue
from climate.metrics import recording

_CONNECT_SECONDS = 5
_IDLE_SECONDS = 1.0
# pymysql.constants.FIELD_TYPE.DATETIME; the driver is installed only where it is used.
_DATETIME = 12
# In bytes; far more than the parts of one lease take.
_LONGEST_TEXT = 1 << 26
_RETURNED = 'climate_returned'
# Attribute of a driver's connection: whether its transaction was committed or rolled back.
_OVER = 'climate_over'
_SQLITE_BUSY_SECONDS = 30


@dataclasses.dataclass(frozen=True, kw_only=True)
class Patience:
    """How long the two ends of a connection wait for each other, in seconds.

    :ivar response: how long a connection may be silent before the server is asked whether it
        still works; 0 waits indefinitely
    :ivar idle: how long the server waits for the next statement of a transaction; 0 for as long
        as it is configured
    """

    response: float = 0
    idle: int = 0

    @classmethod
    def of(cls, conf: Any) -> Patience:
        """Return what the group ``[database]`` says."""
        return cls(response=conf.response_timeout, idle=conf.idle_transaction_timeout)


def tune(
    clock: Clock, engine: sa.Engine, *, prepares: bool = True, patience: Patience | None = None
) -> None:
    """Set up an engine that oslo.db has made.

    :param clock: measures how long a connection was idle
    :param prepares: whether PostgreSQL keeps the plans of some statements
    :param patience: None for that of driver and server
    """
    errors.leave_connections(engine)
    limits = patience or Patience()
    if engine.dialect.name == 'sqlite':
        _tune_sqlite(engine)
    else:
        if engine.dialect.name == 'postgresql':
            _tune_postgresql(engine, prepares)
        else:
            _tune_mysql(engine)
        if limits.idle:
            session_limits.limit(engine, limits.idle)
        if limits.response:
            silence.watch(engine, limits.response)
        _check_idle(clock, engine)
        _leave_to_parent(engine)
    if recording.enabled():
        _measure(engine)
    # With listeners, SQLAlchemy looks for them five times for each statement, which takes
    # a twentieth of a small transaction. Those of oslo.db only explain an error after a
    # savepoint, which nothing here sets. Without its own mark, an engine has that of its
    # class. Listeners that are added later are called.
    vars(engine).pop('_has_events', None)


def _measure(engine: sa.Engine) -> None:
    """Record how many connections are in use, whenever that changes."""

    def note(change: int = 0) -> None:
        # Not a variable: the engine gets another pool when it is disposed of.
        pool = engine.pool
        if isinstance(pool, sa.QueuePool):
            recording.assign(catalogue.CONNECTIONS, pool.checkedout() + change)

    @event.listens_for(engine, 'checkout')
    def _taken(_connection: Any, _record: Any, _proxy: Any) -> None:
        note()

    @event.listens_for(engine, 'checkin')
    def _returned(_connection: Any, _record: Any) -> None:
        # The pool counts the connection until the listeners have run.
        note(-1)


def _tune_sqlite(engine: sa.Engine) -> None:
    # oslo.db's pool opens the file for each transaction, which takes longer than most
    # transactions. Its listeners move to the new pool.
    engine.pool = sa.QueuePool(
        engine.pool._creator,
        max_overflow=-1,
        dialect=engine.dialect,
        _dispatch=engine.pool.dispatch,
    )
    # Instead of oslo.db's listener, whose transactions cannot become ones that write.
    for listener in list(engine.dispatch.begin):
        event.remove(engine, 'begin', listener)

    files.create_for_owner(engine)

    @event.listens_for(engine, 'connect')
    def _prepare(dbapi_connection: Any, _record: Any) -> None:
        dbapi_connection.execute(f'PRAGMA busy_timeout = {_SQLITE_BUSY_SECONDS * 1000}')
        dbapi_connection.execute('PRAGMA journal_mode = WAL')
        # In WAL mode, NORMAL loses nothing if a process dies, and the last commits if
        # the machine does; FULL costs an fsync per commit.
        dbapi_connection.execute('PRAGMA synchronous = NORMAL')


def _leave_to_parent(engine: sa.Engine) -> None:
    """Give the child of a fork connections of its own.

    Otherwise the child drops those that it inherits when it first uses them, and PostgreSQL
    ends the session of the parent.
    """
    reference = weakref.ref(engine)

    def forget() -> None:
        forked = reference()
        if forked is not None:
            forked.dispose(close=False)

    os.register_at_fork(after_in_child=forget)


def _check_idle(clock: Clock, engine: sa.Engine) -> None:
    """Ping a connection before use only if it was idle for a while.

    oslo.db pings each time, which takes as long as a small statement. A connection that
    has just served can only be broken if the server goes away at that moment, which the
    ping would not notice in time either.
    """
    engine.pool._pre_ping = False

    @event.listens_for(engine, 'checkin')
    def _note(_connection: Any, record: Any) -> None:
        record.info[_RETURNED] = clock.ticks()

    @event.listens_for(engine, 'checkout')
    def _check(connection: Any, record: Any, _proxy: Any) -> None:
        # A new connection has not been returned yet.
        returned = record.info.pop(_RETURNED, None)
        if returned is not None and clock.ticks() - returned >= _IDLE_SECONDS:
            _ping(engine.dialect, connection)


def _ping(dialect: Any, connection: Any) -> None:
    """Check that the server answers, and that it is not read-only since a failover.

    :raises sqlalchemy.exc.InvalidatePoolError: if the connection is broken; the pool
        then replaces it, and all others that are as old
    """
    try:
        dialect.do_ping(connection)
        if read_only.is_read_only(dialect, connection):
            raise sa.exc.InvalidatePoolError
    except dialect.loaded_dbapi.Error as error:
        if dialect.is_disconnect(error, connection, None):
            raise sa.exc.InvalidatePoolError from error
        raise


def _tune_postgresql(engine: sa.Engine, prepares: bool) -> None:
    """Limit the time to connect, and do without JIT. READ COMMITTED is the default."""
    event.listen(engine, 'do_connect', functools.partial(_limit_connect, 'connect_timeout'))
    if engine.dialect.driver == 'psycopg':
        prepared.set_up(engine, prepares)
        # Several rows in one statement, rather than a statement for each.
        engine.dialect.use_insertmanyvalues_wo_returning = True

    @event.listens_for(engine, 'connect')
    def _interpret(dbapi_connection: Any, _record: Any) -> None:
        # Searches look expensive to the planner, which then compiles them each time:
        # half of their duration. Not as a parameter of the connection: connection
        # poolers refuse parameters that they do not know.
        with dbapi_connection.cursor() as cursor:
            cursor.execute('SET jit = off')
        dbapi_connection.commit()


def _tune_mysql(engine: sa.Engine) -> None:
    event.listen(engine, 'do_connect', functools.partial(_limit_connect, 'connect_timeout'))
    mariadb_hosts.HostAddresses().set_up(engine)
    _roll_back_once(engine.dialect)

    # Before all others, whose statements other servers do not understand.
    @event.listens_for(engine, 'connect', insert=True)
    def _check(dbapi_connection: Any, _record: Any) -> None:
        refused = prerequisites_mariadb.refusal(str(dbapi_connection.get_server_info()))
        if refused is not None:
            error_log.note(Cause.REFUSED, refused)
            raise exceptions.DatabaseRefused(cause=Cause.REFUSED, reason=refused)

    @event.listens_for(engine, 'connect')
    def _isolate(dbapi_connection: Any, _record: Any) -> None:
        # At InnoDB's default level, a transaction that has lost a race would keep
        # reading its old snapshot.
        with dbapi_connection.cursor() as cursor:
            cursor.execute('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED')
            # Longer texts are cut off: see lease_lists.py.
            cursor.execute(f'SET SESSION group_concat_max_len = {_LONGEST_TEXT}')
        if engine.dialect.driver == 'pymysql':
            # Not PyMySQL's own function, a regular expression in Python.
            dbapi_connection.decoders[_DATETIME] = _parsed_datetime


def _roll_back_once(dialect: Any) -> None:
    """Send no ROLLBACK for a connection that returns to the pool after a COMMIT.

    The pool rolls back each connection that returns. PyMySQL sends that to the server,
    which takes as long as a small statement.
    """
    begin, commit, rollback = dialect.do_begin, dialect.do_commit, dialect.do_rollback

    def do_begin(connection: Any) -> None:
        setattr(connection.dbapi_connection, _OVER, False)
        begin(connection)

    def do_commit(connection: Any) -> None:
        commit(connection)
        setattr(connection.dbapi_connection, _OVER, True)

    def do_rollback(connection: Any) -> None:
        if not getattr(connection.dbapi_connection, _OVER, False):
            rollback(connection)
            setattr(connection.dbapi_connection, _OVER, True)

    dialect.do_begin, dialect.do_commit, dialect.do_rollback = do_begin, do_commit, do_rollback


@functools.lru_cache(8192)
def _parsed_datetime(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text)


def _limit_connect(name: str, _dialect: Any, _record: Any, _args: Any, params: Any) -> None:
    params.setdefault(name, _CONNECT_SECONDS)
