# SPDX-License-Identifier: Apache-2.0

"""Queries of things of projects: resources that need no registration.

An existing server, volume or stack becomes a row of ``resources`` when a lease of it is
booked, with its project in ``project_id``. The row is needed as long as an allocation
refers to it.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from climate.db.resources import conditions
from climate.db.resources.resources import Resources
from climate.db.schema.tables import ALLOCATIONS
from climate.db.schema.tables import MAINTENANCES
from climate.db.schema.tables import PROPERTIES
from climate.db.schema.tables import RESOURCES
from climate.db.statements.repository import Repository
from climate.domain.resources import Resource

_BATCH = 200


def visible(project_id: str | None) -> Any:
    """Return the condition that a project can see a row of ``resources``.

    :param project_id: None for callers that see every project
    """
    if project_id is None:
        return sa.true()
    return sa.or_(RESOURCES.c.project_id.is_(None), RESOURCES.c.project_id == project_id)


def _unused() -> Any:
    return sa.and_(
        RESOURCES.c.project_id.is_not(None),
        ~sa.exists().where(ALLOCATIONS.c.resource_id == RESOURCES.c.id),
        ~sa.exists().where(MAINTENANCES.c.resource_id == RESOURCES.c.id),
    )


class Things(Repository):
    """Rows of ``resources`` that belong to a project."""

    def ensure(self, resource_type: str, name: str, project_id: str) -> None:
        """Insert the row of a thing if it has none, and update its project.

        :raises oslo_db.exception.DBDuplicateEntry: if another booking is first;
            :meth:`climate.db.transactions.store.Store.run` repeats the transaction. A savepoint
            instead would hide a deadlock: MariaDB then rolls back the whole transaction.
        """
        query = sa.select(RESOURCES.c.id, RESOURCES.c.project_id).where(
            *conditions.of_type(resource_type), RESOURCES.c.name == name
        )
        row = self._session.execute(query).one_or_none()
        if row is None:
            thing = Resource(resource_type=resource_type, name=name, project_id=project_id)
            Resources(self._session, self._now).insert(thing)
        elif row.project_id != project_id:
            # Users can transfer a volume to another project.
            self._update_rows(RESOURCES, RESOURCES.c.id == row.id, project_id=project_id)

    def forget(self, things: Iterable[tuple[str, str]]) -> None:
        """Delete the rows of the things that nothing refers to.

        :param things: pairs of type and name
        """
        wanted = [
            sa.and_(RESOURCES.c.resource_type == resource_type, RESOURCES.c.name == name)
            for resource_type, name in things
        ]
        query = sa.select(RESOURCES.c.id).where(_unused(), sa.or_(*wanted))
        self._remove(list(self._session.scalars(query)))

    def forget_unused(self, before: datetime.datetime) -> int:
        """Delete rows that nothing refers to any more, one batch at a time.

        :param before: only rows that were created before this (aware UTC)
        :returns: the number of rows; 0 if none is left
        """
        query = sa.select(RESOURCES.c.id).where(_unused(), RESOURCES.c.created_at < before)
        ids = list(self._session.scalars(query.order_by(RESOURCES.c.id).limit(_BATCH)))
        self._remove(ids)
        return len(ids)

    def _remove(self, ids: Collection[int]) -> None:
        if not ids:
            return
        # A booking locks the row first: once this transaction has the lock, a booking has
        # either written its allocation, or does not find the row and starts over.
        locked = sa.select(RESOURCES.c.id).where(RESOURCES.c.id.in_(ids)).order_by(RESOURCES.c.id)
        self._session.execute(locked.with_for_update()).all()
        still = sa.select(RESOURCES.c.id).where(RESOURCES.c.id.in_(ids), _unused())
        going = list(self._session.scalars(still))
        if going:
            mine = PROPERTIES.c.resource_id.in_(going)
            self._delete_rows(PROPERTIES, mine)
            self._delete_rows(RESOURCES, RESOURCES.c.id.in_(going))
