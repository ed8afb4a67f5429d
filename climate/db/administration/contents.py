# SPDX-License-Identifier: Apache-2.0

"""Reads all rows of a database, for tests that compare them before and after."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from climate.db.schema.tables import METADATA
from climate.db.transactions.store import Store


def rows(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of each table, in the order of primary keys.

    Skips the conversion of values: tests only compare them, and do so often.
    """
    contents = {}
    with store.engine.connect() as connection:
        for table in METADATA.sorted_tables:
            query = sa.select(table).order_by(*table.primary_key.columns)
            result = connection.exec_driver_sql(str(query.compile(connection)))
            contents[table.name] = [tuple(row) for row in result]
    return contents
