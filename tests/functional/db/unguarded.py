# SPDX-License-Identifier: Apache-2.0
"""A database without the rules that it keeps by itself.

For tests that draw what the service never books, for loads that are right and
have to be written fast, and to measure what the rules cost.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import sqlalchemy as sa

from climate.db.schema import guards

_TRIGGERS = {
    'sqlite': "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'",
    'postgresql': (
        'SELECT t.tgname, c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid'
        ' WHERE NOT t.tgisinternal'
    ),
}
_MARIADB = (
    'SELECT trigger_name, event_object_table FROM information_schema.triggers'
    ' WHERE trigger_schema = database()'
)
_EXCLUSIONS = "SELECT conname FROM pg_constraint WHERE contype = 'x'"


def installed(connection: sa.Connection) -> set[str]:
    """Return the names of the rules that the database keeps now."""
    names = set(_triggers(connection))
    if connection.dialect.name == 'postgresql':
        names.update(connection.exec_driver_sql(_EXCLUSIONS).scalars())
    return names


def remove(connection: sa.Connection) -> None:
    """Have the database take everything."""
    of_table = connection.dialect.name == 'postgresql'
    for name, table in _triggers(connection).items():
        on = f' ON {table}' if of_table else ''
        connection.exec_driver_sql(f'DROP TRIGGER {name}{on}')
    if of_table:
        for name in list(connection.exec_driver_sql(_EXCLUSIONS).scalars()):
            connection.exec_driver_sql(f'ALTER TABLE allocations DROP CONSTRAINT {name}')


@contextlib.contextmanager
def unguarded(engine: sa.Engine) -> Iterator[None]:
    """Have the database take everything for a while."""
    with engine.begin() as connection:
        remove(connection)
    try:
        yield
    finally:
        with engine.begin() as connection:
            guards.install(connection)


def _triggers(connection: sa.Connection) -> dict[str, str]:
    query = _TRIGGERS.get(connection.dialect.name, _MARIADB)
    return {row[0]: row[1] for row in connection.exec_driver_sql(query)}
