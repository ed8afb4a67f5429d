# SPDX-License-Identifier: Apache-2.0

"""The state of the simulated cloud: an SQLite file that processes share.

Every verb is one transaction, begun with IMMEDIATE, so a process that is killed at any
instant leaves a state from before or after a verb, never one from the middle.
``synchronous`` is off: data that SQLite has passed to the operating system survives the
process, but may be lost if the machine loses power.

Verbs wait for two locks before that of SQLite: one in the process, and a lock file next
to the state. SQLite alone would poll with growing pauses, which slows down many threads,
some of them extremely. When a process dies, the kernel releases its lock.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import functools
import os
import pathlib
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Literal

MEMORY = ':memory:'
FILE_NAME = 'cloud.sqlite3'
LOCK_NAME = 'cloud.lock'
BUSY_TIMEOUT = 30.0
# The project of the cloud's service user.
SERVICE_PROJECT = 'service'
OrElse = Literal['ABORT', 'IGNORE', 'REPLACE']

SCHEMA = """
CREATE TABLE IF NOT EXISTS settings (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    reachable INTEGER NOT NULL DEFAULT 1,
    keep_journal INTEGER NOT NULL DEFAULT 0
);
INSERT OR IGNORE INTO settings (id) VALUES (1);
CREATE TABLE IF NOT EXISTS durations (what TEXT PRIMARY KEY, seconds REAL NOT NULL) WITHOUT ROWID;
"""
_COLUMNS = 'SELECT name, type, "notnull", dflt_value FROM pragma_table_info(?)'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class VerbCaller:
    """Who calls a verb; by default the service user, who sees objects of all projects.

    :ivar trust_id: the trust with which the service user acts for another user
    """

    project_id: str = SERVICE_PROJECT
    sees_all: bool = True
    trust_id: str | None = None


class Db:
    """The state within one transaction.

    :ivar now: the time of the verb, in seconds since the epoch
    """

    caller = VerbCaller()

    def __init__(self, connection: sqlite3.Connection, now: float) -> None:
        self._connection = connection
        self.now = now

    def rows(self, sql: str, *values: object) -> list[sqlite3.Row]:
        """Return all rows that *sql* finds."""
        return self._connection.execute(sql, values).fetchall()

    def row(self, sql: str, *values: object) -> sqlite3.Row | None:
        """Return the first row that *sql* finds."""
        first: sqlite3.Row | None = self._connection.execute(sql, values).fetchone()
        return first

    def run(self, sql: str, *values: object) -> int:
        """Run a statement and return the number of rows that it changed."""
        return self._connection.execute(sql, values).rowcount

    def find(self, table: str, **keys: object) -> sqlite3.Row | None:
        """Return the row of a table that has these values."""
        sql = f'SELECT * FROM {table} WHERE {_equal(keys)}'  # noqa: S608  names of the schema
        return self.row(sql, *keys.values())

    def has(self, table: str, **keys: object) -> bool:
        """Return whether a table has a row with these values."""
        return self.find(table, **keys) is not None

    def delete(self, table: str, **keys: object) -> int:
        """Delete the rows of a table that have these values, and return their number."""
        sql = f'DELETE FROM {table} WHERE {_equal(keys)}'  # noqa: S608  names of the schema
        return self.run(sql, *keys.values())

    def update(self, table: str, row_id: object, *, key: str = 'id', **values: object) -> int:
        """Change values of a row, and return the number of rows that have its id.

        :param key: the column with the id
        """
        columns = ', '.join(f'{name} = ?' for name in values)
        sql = f'UPDATE {table} SET {columns} WHERE {key} = ?'  # noqa: S608  names of the schema
        return self.run(sql, *values.values(), row_id)

    def insert(self, table: str, *, or_else: OrElse = 'ABORT', **values: object) -> int:
        """Insert a row and return its rowid.

        :param or_else: what to do if there is a row with the same key
        """
        columns, marks = ', '.join(values), ', '.join('?' * len(values))
        sql = f'INSERT OR {or_else} INTO {table} ({columns}) VALUES ({marks})'  # noqa: S608  names of the schema
        number = self._connection.execute(sql, tuple(values.values())).lastrowid
        assert number is not None
        return number

    def seconds(self, what: str) -> float:
        """Return the duration of an operation, such as ``server_deletion``; by default 0."""
        row = self.row('SELECT seconds FROM durations WHERE what = ?', what)
        return 0.0 if row is None else float(row['seconds'])

    def set_seconds(self, what: str, seconds: float) -> None:
        """Set the duration of an operation from now on."""
        self.run('INSERT OR REPLACE INTO durations (what, seconds) VALUES (?, ?)', what, seconds)


def _equal(keys: Mapping[str, object]) -> str:
    return ' AND '.join(f'{name} = ?' for name in keys)


def _opened(state: bytes) -> sqlite3.Connection:
    connection = sqlite3.connect(MEMORY)
    # Bytes 18 and 19 of a file say that it uses a write-ahead log, which is not possible
    # in memory.
    connection.deserialize(state[:18] + b'\x01\x01' + state[20:])
    return connection


# The stores of this process, which must be closed when it forks.
_stores: weakref.WeakSet[SimulatorStore] = weakref.WeakSet()
_forking: list[SimulatorStore] = []


def _before_fork() -> None:
    _forking.extend(_stores)
    for store in _forking:
        store.before_fork()


def _after_fork(*, child: bool) -> None:
    while _forking:
        _forking.pop().after_fork(child=child)


os.register_at_fork(
    before=_before_fork,
    after_in_parent=functools.partial(_after_fork, child=False),
    after_in_child=functools.partial(_after_fork, child=True),
)


class SimulatorStore:
    """The state of a simulated cloud, in a file or in memory. Thread-safe.

    One connection per process is enough, because writers wait for each other anyway.

    :param state_dir: the directory of the file, which is created if missing;
        ``:memory:`` for a state of only this object
    :param schemas: SQL that creates the tables of the services, if they do not exist
    """

    def __init__(self, state_dir: str | os.PathLike[str], *schemas: str) -> None:
        self._schema = ''.join((SCHEMA, *schemas))
        self._directory = None if state_dir == MEMORY else pathlib.Path(state_dir)
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._lock_fd: int | None = None
        _stores.add(self)
        with self._lock, self._locked():
            pass

    def before_fork(self) -> None:
        """Wait for the verb in progress, and close the file.

        A forked process must not inherit a connection: SQLite keeps the state of its
        locks in memory.
        """
        self._lock.acquire()
        if self._directory is not None and self._connection is not None:
            self._connection.close()
            self._connection = None

    def after_fork(self, *, child: bool) -> None:
        """Continue after a fork; the *child* opens its own lock file later."""
        if child and self._lock_fd is not None:
            os.close(self._lock_fd)
            self._lock_fd = None
        self._lock.release()

    def close(self) -> None:
        """Close the file; a state in memory is lost."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            if self._lock_fd is not None:
                os.close(self._lock_fd)
            self._connection = self._lock_fd = None

    @contextlib.contextmanager
    def transaction(self, now: float) -> Iterator[Db]:
        """Run the body as one transaction, which an exception rolls back.

        :param now: the time of the verb, in seconds since the epoch
        """
        with self._lock, self._locked() as connection:
            connection.execute('BEGIN IMMEDIATE')
            try:
                yield Db(connection, now)
            except BaseException:
                connection.execute('ROLLBACK')
                raise
            connection.execute('COMMIT')

    def dump(self) -> bytes:
        """Return the whole state, for :meth:`load`."""
        with self._lock, self._locked() as connection:
            return connection.serialize()

    def load(self, state: bytes) -> None:
        """Restore a state that :meth:`dump` returned."""
        with self._lock, self._locked() as connection, contextlib.closing(_opened(state)) as old:
            old.backup(connection)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[sqlite3.Connection]:
        if self._directory is not None and self._lock_fd is None:
            self._lock_fd = self._open_lock(self._directory)
        if self._lock_fd is not None:
            fcntl.flock(self._lock_fd, fcntl.LOCK_EX)
        try:
            if self._connection is None:
                self._connection = self._connect()
            yield self._connection
        finally:
            if self._lock_fd is not None:
                fcntl.flock(self._lock_fd, fcntl.LOCK_UN)

    @staticmethod
    def _open_lock(directory: pathlib.Path) -> int:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        # SQLite gives the files that it adds the same mode.
        (directory / FILE_NAME).touch(mode=0o600)
        return os.open(directory / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def _connect(self) -> sqlite3.Connection:
        place = MEMORY if self._directory is None else str(self._directory / FILE_NAME)
        connection = sqlite3.connect(
            place, isolation_level=None, check_same_thread=False, timeout=BUSY_TIMEOUT
        )
        connection.row_factory = sqlite3.Row
        for pragma in ('journal_mode = WAL', 'synchronous = OFF', 'foreign_keys = ON'):
            connection.execute(f'PRAGMA {pragma}')
        connection.executescript(f'BEGIN IMMEDIATE; {self._schema} COMMIT;')
        if self._directory is not None:
            self._add_columns(connection)
        return connection

    def _add_columns(self, connection: sqlite3.Connection) -> None:
        """Add the columns that a state of an earlier version lacks."""
        wanted = sqlite3.connect(MEMORY)
        wanted.executescript(self._schema)
        for (table,) in wanted.execute("SELECT name FROM sqlite_schema WHERE type = 'table'"):
            present = {row[0] for row in connection.execute(_COLUMNS, (table,))}
            for name, kind, required, default in wanted.execute(_COLUMNS, (table,)).fetchall():
                if name not in present:
                    rest = f'{" NOT NULL" * required} DEFAULT {default or "NULL"}'
                    connection.execute(f'ALTER TABLE {table} ADD COLUMN {name} {kind}{rest}')
        wanted.close()
