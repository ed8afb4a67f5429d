# SPDX-License-Identifier: Apache-2.0

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


def create_table(table: sa.Table) -> None:
    """Create a table with its indexes, unless it exists.

    :raises climate.exceptions.Conflict: if another program has a table of this name here
    """
    inspector = sa.inspect(op.get_bind())
    if inspector.has_table(table.name):
        present = {column['name'] for column in inspector.get_columns(table.name)}
        missing = [column.name for column in table.columns if column.name not in present]
        if missing:
            raise exceptions.Conflict(
                f'The database already has a table {table.name}, without the columns'
                f' {", ".join(missing)}: it is not a table of Climate'
            )
    else:
        op.execute(sa.schema.CreateTable(table))
    for index in sorted(table.indexes, key=lambda index: str(index.name)):
        create_index(str(index.name), table.name, [column.name for column in index.columns])


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
