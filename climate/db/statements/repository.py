# SPDX-License-Identifier: Apache-2.0

"""The base class of all repositories."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

import sqlalchemy as sa

UNCLAIMED: Final[Mapping[str, None]] = {'claim_owner': None, 'claim_until': None}
"""The columns of a row that no process has claimed, as arguments of an update."""


@dataclasses.dataclass(eq=False)
class Repository:
    """Statements on one table, inside one transaction.

    :ivar _session: the connection in the transaction
    :ivar _now: the value of ``created_at`` and ``updated_at`` (aware UTC)
    """

    _session: sa.Connection
    _now: datetime.datetime

    def _insert_row(self, table: sa.Table, **values: Any) -> None:
        self._session.execute(sa.insert(table), values)

    def _insert_rows(self, table: sa.Table, rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert rows with the same columns, in one statement; none if there are none."""
        if rows:
            self._session.execute(sa.insert(table), rows)

    def _update_rows(self, table: sa.Table, *conditions: Any, **values: Any) -> int:
        """Set columns of the rows that fulfil all conditions; return the number of rows."""
        return self._session.execute(sa.update(table).where(*conditions).values(values)).rowcount

    def _delete_rows(self, table: sa.Table, *conditions: Any) -> int:
        """Delete the rows that fulfil all conditions; return the number of rows."""
        return self._session.execute(sa.delete(table).where(*conditions)).rowcount

    def _count_rows(self, *conditions: Any) -> int:
        """Return how many rows fulfil all conditions, which are all on the same table."""
        query = sa.select(sa.func.count()).where(*conditions)
        return int(self._session.scalar(query) or 0)
