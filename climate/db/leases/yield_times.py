# SPDX-License-Identifier: Apache-2.0

"""Queries of how long preemptible leases took to yield."""

from __future__ import annotations

import datetime
from typing import Final

import sqlalchemy as sa

from climate.db.schema.tables import YIELD_TIMES
from climate.db.statements.repository import Repository
from climate.domain.leases import YieldMode
from climate.domain.yield_times import YieldTime

_INSERT: Final = sa.insert(YIELD_TIMES)


class YieldTimes(Repository):
    """Rows of ``yield_times``."""

    def add(self, resource_type: str, mode: YieldMode, time: YieldTime) -> None:
        """Insert how long a lease took."""
        key = {'resource_type': resource_type, 'mode': mode, 'created_at': self._now}
        self._session.execute(_INSERT, {**key, 'units': time.units, 'seconds': time.seconds})

    def last(self, resource_type: str, mode: YieldMode, number: int) -> list[YieldTime]:
        """Return the last times of a resource type, the latest first.

        ::

            SELECT units, seconds FROM yield_times
            WHERE resource_type = :resource_type AND mode = :mode ORDER BY seq DESC LIMIT :number
        """
        columns = YIELD_TIMES.c
        query = sa.select(columns.units, columns.seconds).where(
            columns.resource_type == resource_type, columns.mode == mode
        )
        rows = self._session.execute(query.order_by(columns.seq.desc()).limit(number))
        return [YieldTime(units=row.units, seconds=row.seconds) for row in rows]

    def known(self) -> list[tuple[str, YieldMode]]:
        """Return for which resource types and modes there are times."""
        query = sa.select(YIELD_TIMES.c.resource_type, YIELD_TIMES.c.mode).distinct()
        return sorted(
            (row.resource_type, YieldMode(row.mode)) for row in self._session.execute(query)
        )

    def forget(self, before: datetime.datetime) -> int:
        """Delete the times from before *before* (aware UTC); return their number."""
        return self._delete_rows(YIELD_TIMES, YIELD_TIMES.c.created_at < before)
