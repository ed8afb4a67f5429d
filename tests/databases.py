# SPDX-License-Identifier: Apache-2.0

"""Databases with empty tables, without creating the tables for each test.

An engine takes longer to create the tables than most tests take. A process therefore
creates them once per kind of engine. For SQLite it copies the file. On a server it
empties a database that a test of the same process has released.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import pathlib
import sqlite3
import tempfile
from collections.abc import Callable
from typing import TypeVar

import fixtures
import sqlalchemy as sa

from climate.db.engine import addresses
from climate.db.migrations import migration
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from tests import services
from tests.narrowing import present

T = TypeVar('T')

# All databases of this process, and those that no test has now, by kind.
_made: list[services.Database] = []
_released: dict[str, list[services.Database]] = {}

_OTHERS = {
    services.MARIADB: (
        'SELECT id FROM information_schema.processlist'
        ' WHERE db = database() AND id <> connection_id()'
    ),
    services.POSTGRESQL: (
        'SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity'
        ' WHERE datname = current_database() AND pid <> pg_backend_pid()'
    ),
}
_COUNTED = {
    services.MARIADB: (
        'SELECT table_name FROM information_schema.tables'
        ' WHERE table_schema = database() AND auto_increment > 1'
    ),
    services.POSTGRESQL: 'SELECT sequencename FROM pg_sequences WHERE last_value IS NOT NULL',
}
_RESTART = {
    services.MARIADB: 'ALTER TABLE {} AUTO_INCREMENT = 1',
    services.POSTGRESQL: 'ALTER SEQUENCE {} RESTART',
}


def fetch(store: Store, query: Callable[[Transaction], T]) -> T:
    """Return what a query finds in a transaction that only reads."""
    with store.reading() as tx:
        return query(tx)


class TabledDatabase(fixtures.Fixture):
    """A database with the tables of the models, all of them empty.

    Not for tests that change the tables: other tests get the same database.

    :ivar url: its URL for SQLAlchemy, including the password
    :cvar has_tables: that it needs no tables
    """

    has_tables = True

    def __init__(self, kind: str = services.SQLITE) -> None:
        """Prepare for a database of *kind*, one of ``services.DATABASES``."""
        super().__init__()
        self.kind = kind
        self.url = ''

    def setUp(self) -> None:
        """Get the database; skip or fail if the server is unavailable."""
        services.require(self.kind)
        super().setUp()

    def _setUp(self) -> None:
        if self.kind == services.SQLITE:
            self.url = self.useFixture(services.Database(self.kind)).url
            pathlib.Path(present(sa.make_url(self.url).database)).write_bytes(_file())
            return
        database = _taken(self.kind)
        self.url = database.url
        self.addCleanup(_released.setdefault(self.kind, []).append, database)


@functools.cache
def _file() -> bytes:
    """Return the contents of a file of SQLite with empty tables."""
    with tempfile.TemporaryDirectory(prefix='climate-') as folder:
        path = pathlib.Path(folder, 'empty.sqlite')
        _create(addresses.of_file(path))
        # As the service sets it for each file; changing it takes a write.
        with sqlite3.connect(path) as connection:
            connection.execute('PRAGMA journal_mode = WAL')
        connection.close()
        return path.read_bytes()


def _taken(kind: str) -> services.Database:
    """Return an empty database that no other test has."""
    while released := _released.get(kind):
        database = released.pop()
        # A test that failed may have left other tables.
        with contextlib.suppress(sa.exc.SQLAlchemyError):
            _empty(database)
            return database
        _made.remove(database)
        database.cleanUp()
    database = services.Database(kind)
    database.setUp()
    if not _made:
        atexit.register(_drop, os.getpid())
    _made.append(database)
    _create(database.url)
    return database


def _create(url: str) -> None:
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    migration.metadata().create_all(engine)
    engine.dispose()


def _drop(owner: int) -> None:
    # A fork inherits the handler, but does not own the databases.
    while os.getpid() == owner and _made:
        _made.pop().cleanUp()


def _empty(database: services.Database) -> None:
    """Remove every row, and everything that keeps one locked.

    :raises sqlalchemy.exc.SQLAlchemyError: if the database has other tables
    """
    engine = sa.create_engine(database.url, poolclass=sa.NullPool)
    with engine.begin() as connection:
        found = connection.exec_driver_sql(_OTHERS[database.kind]).scalars().all()
        if database.kind == services.MARIADB:
            for number in found:
                # It may have ended meanwhile.
                with contextlib.suppress(sa.exc.DBAPIError):
                    connection.exec_driver_sql(f'KILL {number}')
            # InnoDB checks each row: no resource could go before its parts.
            connection.exec_driver_sql('SET foreign_key_checks = 0')
        tables = [table.name for table in reversed(migration.metadata().sorted_tables)]
        quote = connection.dialect.identifier_preparer.quote
        # Most tests write to few tables, and one question costs less than a statement for each.
        rows = (f"(SELECT '{name}' FROM {quote(name)} LIMIT 1)" for name in tables)
        written = set(connection.exec_driver_sql(' UNION ALL '.join(rows)).scalars())
        for name in tables:
            if name in written:
                connection.exec_driver_sql(f'DELETE FROM {quote(name)}')
        for name in connection.exec_driver_sql(_COUNTED[database.kind]).scalars().all():
            connection.exec_driver_sql(_RESTART[database.kind].format(name))
