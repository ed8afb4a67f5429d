# SPDX-License-Identifier: Apache-2.0

"""All that is in a database, as a text to look for what must not be there."""

from __future__ import annotations

import sqlalchemy as sa


def text(engine: sa.Engine) -> str:
    """Return the rows of all tables, as the database has them."""
    with engine.connect() as connection:
        tables = sa.inspect(connection).get_table_names()
        rows = [
            repr(tuple(row))
            for table in tables
            for row in connection.execute(sa.text(f'SELECT * FROM {table}'))
        ]
    return '\n'.join(rows)
