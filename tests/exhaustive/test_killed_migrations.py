# SPDX-License-Identifier: Apache-2.0

"""An upgrade of the tables that is killed between any two of its statements, and repeated.

Covers every migration there is, with rows in each table that one has created.
"""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from alembic import autogenerate
from alembic import migration as alembic_migration

from climate import exceptions
from climate.db.migrations import current
from climate.db.migrations import migration
from tests import base
from tests import services
from tests.functional.db import cases
from tests.functional.db import unguarded

_READS = ('SELECT', 'SHOW', 'DESC', 'PRAGMA', 'SET', 'EXPLAIN')
_NOW = cases.NOW.replace(tzinfo=None)
_ROWS = 2
# What a migration reads or the rules of booking check.
_VALUES = {('allocations', 'state'): 'released'}

Rows = dict[str, list[tuple[Any, ...]]]


@services.on_each_engine(base.TestCase, 'TestKilled')
class _Killed:
    """Databases that are upgraded revision by revision.

    MariaDB commits each statement that changes a table; the others, a whole revision.
    """

    def test_killed_after_each_statement(self) -> None:
        wanted = self.uninterrupted()
        self.assertTrue(all(wanted['resources'][0]), 'the rows have something in every column')
        database = self.useFixture(services.Database(self.kind))
        store = self.closing(cases.connect(database.url))
        filled: set[str] = set()
        places = 0
        for revision in migration.revisions():
            places += self.killed_until_done(database.url, revision)
            self.assertEqual(revision, current.version(store.engine))
            _fill(store.engine, filled)
        # Each revision writes its own number, and something else.
        self.assertGreaterEqual(places, 2 * len(migration.revisions()))
        self.assertEqual(wanted, _rows(store.engine))
        self.assertEqual([], self.differences(database.url))

    def killed_until_done(self, url: str, revision: str) -> int:
        """Repeat the upgrade to *revision*, killed a statement later each time, until it is done.

        A statement that was committed is not written again. The next upgrade is then killed
        after its first statement, so that each state that a kill can leave is one from which
        an upgrade begins.

        :returns: how often it was killed
        """
        kills, place, first = 0, 1, ''
        while True:
            killed, statements = _killed(url, revision, place)
            if not killed:
                return kills
            kills += 1
            place = place + 1 if statements[0] == first else 1
            first = statements[0]

    def test_two_upgrade_at_once(self) -> None:
        database = self.useFixture(services.Database(self.kind))
        children = [_forked(_upgrade_until, database.url, 'head', 0) for _ in range(3)]
        self.assertEqual([0] * 3, [os.waitpid(child, 0)[1] for child in children])
        self.assertEqual([], self.differences(database.url))

    def test_a_table_of_another_program(self) -> None:
        store = self.closing(cases.connect(self.useFixture(services.Database(self.kind)).url))
        with store.engine.begin() as connection:
            connection.exec_driver_sql('CREATE TABLE leases (id INTEGER, tenant INTEGER)')
        error = self.assertRaises(exceptions.Conflict, migration.sync, store.engine)
        self.assertIn('already has a table leases, without the columns name', error.message)

    def uninterrupted(self) -> Rows:
        """Return the rows after an upgrade that nothing has interrupted."""
        store = self.closing(cases.connect(self.useFixture(services.Database(self.kind)).url))
        filled: set[str] = set()
        for revision in migration.revisions():
            migration.sync(store.engine, revision)
            _fill(store.engine, filled)
        return _rows(store.engine)

    def differences(self, url: str) -> list[Any]:
        """Return how the tables differ from those of the models."""
        store = cases.connect(url)
        try:
            with store.engine.connect() as connection:
                context = alembic_migration.MigrationContext.configure(
                    connection, opts={'compare_type': True}
                )
                found = autogenerate.compare_metadata(context, migration.metadata())
                if not unguarded.installed(connection):
                    found.append('no rules')
                return found
        finally:
            store.close()


def _killed(url: str, revision: str, place: int) -> tuple[bool, list[str]]:
    """Upgrade in another process, which is killed after *place* statements that write.

    :returns: whether it was killed, or the upgrade has fewer statements; and those it ran
    """
    reader, writer = os.pipe()
    child = _forked(_upgrade_until, url, revision, place, writer)
    os.close(writer)
    with open(reader, encoding='utf-8') as pipe:
        statements = pipe.read().split('\0')[:-1]
    _, status = os.waitpid(child, 0)
    if status and not os.WIFSIGNALED(status):
        raise RuntimeError(f'the upgrade to {revision} failed after {statements}')
    return os.WIFSIGNALED(status), statements


def _forked(work: Callable[..., None], *arguments: Any) -> int:
    """Run *work* in another process, and return its number."""
    child = os.fork()
    if not child:
        try:
            work(*arguments)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    return child


def _upgrade_until(url: str, revision: str, place: int, writer: int | None = None) -> None:
    """Upgrade, and kill this process after *place* statements that write.

    :param writer: a pipe for these statements
    """
    engine = cases.connect(url).engine
    written = 0

    def count(
        _connection: Any, _cursor: Any, statement: str, values: Any, _context: Any, _many: bool
    ) -> None:
        nonlocal written
        if writer is None or statement.lstrip().upper().startswith(_READS):
            return
        os.write(writer, f'{statement} {values}\0'.encode())
        written += 1
        if written == place:
            os.kill(os.getpid(), signal.SIGKILL)

    sa.event.listen(engine, 'after_cursor_execute', count)
    migration.sync(engine, revision)


def _fill(engine: sa.Engine, filled: set[str]) -> None:
    """Write rows to every table that is new, without the models, which are newer."""
    found = sa.MetaData()
    with engine.begin() as connection:
        names = set(sa.inspect(connection).get_table_names()) - filled - {'alembic_version'}
        if names:
            found.reflect(connection, only=sorted(names))
        for table in found.sorted_tables:
            if table.name in names:
                rows = [_row(table, number) for number in range(1, _ROWS + 1)]
                connection.execute(sa.insert(table), rows)
        filled |= names


def _row(table: sa.Table, number: int) -> dict[str, Any]:
    return {
        column.name: _value(column, number) for column in table.columns if column.computed is None
    }


def _value(column: sa.Column[Any], number: int) -> Any:
    if (column.table.name, column.name) in _VALUES:
        return _VALUES[column.table.name, column.name]
    for key in column.foreign_keys:
        return _value(key.column, number)
    kind = column.type
    if isinstance(kind, sa.DateTime):
        return _NOW
    if isinstance(kind, sa.Date):
        return _NOW.date()
    if isinstance(kind, sa.Boolean):
        return True
    if isinstance(kind, (sa.Integer, sa.Numeric, sa.Float)):
        return number
    if isinstance(kind, sa.JSON):
        return {}
    length = getattr(kind, 'length', None)
    return f'{column.name}-{number}'[-length:] if length and length < 1000 else '{}'


def _rows(engine: sa.Engine) -> Rows:
    """Return every row of every table, except those that the upgrade may write by itself."""
    found = sa.MetaData()
    with engine.connect() as connection:
        found.reflect(connection)
        return {
            table.name: sorted(
                (tuple(map(str, row)) for row in connection.execute(sa.select(table))), key=repr
            )
            for table in found.sorted_tables
        }
