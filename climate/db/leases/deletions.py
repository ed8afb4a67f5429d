# SPDX-License-Identifier: Apache-2.0

"""Queries of deletions: objects of users that Climate has deleted, or is about to.

A row is written before the request is sent, because a manager may die after it. It has
no foreign key: a sweep may delete what a lease left behind whose row is gone.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Collection

import sqlalchemy as sa

from climate.db.schema.tables import DELETIONS
from climate.db.schema.tables import RESERVATIONS
from climate.db.statements.repository import Repository
from climate.domain import copies
from climate.domain.history import DeletedObject

MOST = 1000
"""How many deletions are recorded for one lease; more are only logged."""


class Deletions(Repository):
    """Rows of ``deletions``."""

    def add(self, new: DeletedObject) -> bool:
        """Record a deletion; return whether it was not recorded before, and there is room."""
        mine = DELETIONS.c.lease_id == new.lease_id
        known = sa.and_(
            mine, DELETIONS.c.object_type == new.object_type, DELETIONS.c.object_id == new.object_id
        )
        query = sa.select(
            sa.func.count(), sa.func.coalesce(sa.func.sum(sa.case((known, 1), else_=0)), 0)
        ).where(mine)
        total, same = self._session.execute(query).one()
        if same or (new.lease_id and total >= MOST):
            return False
        self._insert_row(DELETIONS, **dataclasses.asdict(new))
        return True

    def of_lease(self, lease_id: str) -> list[DeletedObject]:
        """Return what was deleted for a lease, oldest first."""
        query = sa.select(DELETIONS).where(DELETIONS.c.lease_id == lease_id)
        rows = self._session.execute(query.order_by(DELETIONS.c.seq))
        return [copies.converted(DeletedObject, row) for row in rows]

    def reservation(self, ids: Collection[str]) -> tuple[str, str] | None:
        """Return the first reservation of some ids with its lease; None if none is one."""
        query = sa.select(RESERVATIONS.c.id, RESERVATIONS.c.lease_id).where(
            RESERVATIONS.c.id.in_(list(ids))
        )
        row = self._session.execute(query.order_by(RESERVATIONS.c.id).limit(1)).one_or_none()
        return None if row is None else (row.id, row.lease_id)

    def forget_old(self, before: datetime.datetime) -> None:
        """Delete the records of deletions for no known lease before *before* (aware UTC)."""
        self._delete_rows(DELETIONS, DELETIONS.c.lease_id == '', DELETIONS.c.at < before)
