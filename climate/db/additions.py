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

"""The statements of migrations, each of which can be repeated.

MariaDB commits each of these statements at once, whatever the transaction. A migration
that was killed begins again with its first statement, so each of them adds only what is
missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

from climate import exceptions

_OPTIONS = {'mysql_engine': 'InnoDB', 'mysql_charset': 'utf8mb4'}


def create_table(name: str, *parts: Any, **options: Any) -> None:
    """Create a table with columns and constraints, unless it exists.

    :raises climate.exceptions.Conflict: if another program has a table of this name here
    """
    inspector = sa.inspect(op.get_bind())
    if not inspector.has_table(name):
        op.create_table(name, *parts, **{**_OPTIONS, **options})
        return
    present = {column['name'] for column in inspector.get_columns(name)}
    missing = [
        part.name for part in parts if isinstance(part, sa.Column) and part.name not in present
    ]
    if missing:
        raise exceptions.Conflict(
            f'The database already has a table {name}, without the columns'
            f' {", ".join(missing)}: it is not a table of Climate'
        )


def add_column(table: str, column: sa.Column[Any]) -> None:
    """Add a column, unless the table has one of this name."""
    columns = sa.inspect(op.get_bind()).get_columns(table)
    if column.name not in {found['name'] for found in columns}:
        op.add_column(table, column)


def create_index(name: str, table: str, columns: Sequence[str], **options: Any) -> None:
    """Create an index, unless the table has one of this name."""
    indexes = sa.inspect(op.get_bind()).get_indexes(table)
    if name not in {found['name'] for found in indexes}:
        op.create_index(name, table, list(columns), **options)


def recreate_on_sqlite(table: str, **options: Any) -> None:
    """Create a table again with other options, and its rows; does nothing on other engines.

    SQLite cannot change a table in place, but undoes all of this if it is interrupted.
    """
    if op.get_bind().dialect.name == 'sqlite':
        with op.batch_alter_table(table, recreate='always', table_kwargs=options):
            pass
