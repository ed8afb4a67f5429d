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

"""Reads all rows of a database, for tests that compare them before and after."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from climate.db.store import Store
from climate.db.tables import METADATA


def rows(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of each table, in the order of primary keys.

    Skips the conversion of values: tests only compare them, and do so often.
    """
    found = {}
    with store.engine.connect() as connection:
        for table in METADATA.sorted_tables:
            query = sa.select(table).order_by(*table.primary_key.columns)
            result = connection.exec_driver_sql(str(query.compile(connection)))
            found[table.name] = [tuple(row) for row in result]
    return found
