# SPDX-License-Identifier: Apache-2.0

"""Queries of intents: objects about to be created in the cloud for unbooked leases.

A row is written before the call to the cloud, and deleted by the transaction that
books. An old row means that the object may exist although its lease was never booked.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Collection
from collections.abc import Iterable

import sqlalchemy as sa

from climate.db.schema.tables import INTENTS
from climate.db.statements.repository import Repository


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Intent:
    """An object that is about to be created for a reservation."""

    reservation_id: str
    resource_type: str
    project_id: str


class Intents(Repository):
    """Rows of ``intents``."""

    def add(self, new: Iterable[Intent]) -> None:
        """Record objects that are about to be created."""
        values = [{**dataclasses.asdict(one), 'written_at': self._now} for one in new]
        self._insert_rows(INTENTS, values)

    def forget(self, reservation_ids: Collection[str]) -> None:
        """Delete the records of reservations that are booked, or left nothing."""
        self._delete_rows(INTENTS, INTENTS.c.reservation_id.in_(list(reservation_ids)))

    def left(self, before: datetime.datetime) -> list[Intent]:
        """Return what was recorded before *before* (aware UTC) and never booked."""
        query = (
            sa.select(INTENTS.c.reservation_id, INTENTS.c.resource_type, INTENTS.c.project_id)
            .where(INTENTS.c.written_at < before)
            .order_by(INTENTS.c.written_at, INTENTS.c.reservation_id)
        )
        return [Intent(**row) for row in self._session.execute(query).mappings()]
