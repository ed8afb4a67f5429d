# SPDX-License-Identifier: Apache-2.0

"""Locks of resources for which a transaction with many leases waits only briefly.

A process that hangs while it holds a lock must not hold up all leases of a batch. Those
that need the resource wait for it alone.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any
from typing import Final

import sqlalchemy as sa

from climate.db.engine.lock_waits import BRIEF
from climate.db.resources.allocations import Allocations

_SECONDS: Final = 1


def limit_waits(session: sa.Connection) -> None:
    """Limit how long the transaction waits for each lock, where that takes a statement."""
    if session.dialect.name == 'postgresql':
        session.exec_driver_sql(f"SET LOCAL lock_timeout = '{_SECONDS}s'")
        session.info[BRIEF] = True


@dataclasses.dataclass(eq=False)
class BriefLockAllocations(Allocations):
    """Allocations of a transaction that waits only briefly for resources."""

    def _lock(self, statement: sa.Select[Any], values: Mapping[str, Any]) -> Iterable[int]:
        return self._session.scalars(_brief(statement), values)


@functools.lru_cache
def _brief(statement: sa.Select[Any]) -> sa.Select[Any]:
    """Return a statement that waits briefly on MariaDB: ``SELECT … FOR UPDATE WAIT 1``."""
    for dialect in ('mysql', 'mariadb'):
        statement = statement.suffix_with(f'WAIT {_SECONDS}', dialect=dialect)
    return statement
