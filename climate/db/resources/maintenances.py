# SPDX-License-Identifier: Apache-2.0

"""Queries of maintenances."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from climate import exceptions
from climate.db.schema.tables import MAINTENANCES
from climate.db.schema.tables import RESOURCES
from climate.db.statements.repository import Repository
from climate.domain import copies
from climate.domain.maintenances import Maintenance
from climate.domain.maintenances import MaintenanceDraft
from climate.domain.periods import Period

_WHOLE = sa.select(
    MAINTENANCES, RESOURCES.c.resource_type, RESOURCES.c.name.label('resource_name')
).join(RESOURCES, RESOURCES.c.id == MAINTENANCES.c.resource_id)


class Maintenances(Repository):
    """Rows of ``maintenances``."""

    def insert(
        self, maintenance_id: str, resource_id: int, draft: MaintenanceDraft, user_id: str
    ) -> None:
        """Insert a maintenance."""
        self._insert_row(
            MAINTENANCES,
            id=maintenance_id,
            resource_id=resource_id,
            start_date=draft.period.start,
            end_date=draft.period.end,
            reason=draft.reason,
            user_id=user_id,
            created_at=self._now,
        )

    def resource_id(self, draft: MaintenanceDraft) -> int:
        """Return the id of the resource that a draft names.

        :raises climate.exceptions.NotFound: if there is no such resource
        """
        named: dict[str, object] = {'resource_id': draft.resource_id}
        condition = RESOURCES.c.id == draft.resource_id
        if draft.resource_id is None:
            named = {'resource_type': draft.resource_type, 'resource_name': draft.resource_name}
            condition = sa.and_(
                RESOURCES.c.resource_type == draft.resource_type,
                RESOURCES.c.name == draft.resource_name,
            )
        query = sa.select(RESOURCES.c.id).where(condition, RESOURCES.c.deleted == 0)
        number = self._session.scalar(query)
        if number is None:
            raise exceptions.NotFound(object={key: str(value) for key, value in named.items()})
        return int(number)

    def all(self) -> list[Maintenance]:
        """Return the maintenances that are not over, in the order of their starts."""
        query = _WHOLE.where(MAINTENANCES.c.end_date > self._now)
        rows = self._session.execute(query.order_by(MAINTENANCES.c.start_date, MAINTENANCES.c.id))
        return [_maintenance(row) for row in rows]

    def get(self, maintenance_id: str) -> Maintenance:
        """Return a maintenance, over or not.

        :raises climate.exceptions.NotFound: if it does not exist
        """
        maintenance = self.find(maintenance_id)
        if maintenance is None:
            raise exceptions.NotFound(object={'maintenance_id': maintenance_id})
        return maintenance

    def find(self, maintenance_id: str) -> Maintenance | None:
        """Return a maintenance, over or not; None if it does not exist."""
        row = self._session.execute(_WHOLE.where(MAINTENANCES.c.id == maintenance_id)).one_or_none()
        return None if row is None else _maintenance(row)

    def within(
        self, resource_ids: Collection[int], periods: Collection[Period]
    ) -> list[Maintenance]:
        """Return maintenances of the resources that overlap a period, by start."""
        if not resource_ids or not periods:
            return []
        overlaps = [
            sa.and_(MAINTENANCES.c.end_date > period.start, MAINTENANCES.c.start_date < period.end)
            for period in periods
        ]
        query = _WHOLE.where(MAINTENANCES.c.resource_id.in_(resource_ids), sa.or_(*overlaps))
        rows = self._session.execute(query.order_by(MAINTENANCES.c.start_date, MAINTENANCES.c.id))
        return [_maintenance(row) for row in rows]

    def update(self, maintenance_id: str, period: Period, reason: str) -> None:
        """Change the period and the reason of a maintenance."""
        values = {'start_date': period.start, 'end_date': period.end, 'reason': reason}
        self._update_rows(MAINTENANCES, MAINTENANCES.c.id == maintenance_id, **values)

    def delete(self, maintenance_id: str) -> None:
        """Delete a maintenance."""
        self._delete_rows(MAINTENANCES, MAINTENANCES.c.id == maintenance_id)


def _maintenance(row: Any) -> Maintenance:
    return copies.converted(Maintenance, row, period=Period(start=row.start_date, end=row.end_date))
