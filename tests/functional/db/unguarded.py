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
"""A database without the rules that it keeps by itself.

For tests that draw what the service never books, for loads that are right and
have to be written fast, and to measure what the rules cost.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import sqlalchemy as sa

from climate.db import guards

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
