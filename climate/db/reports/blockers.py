# SPDX-License-Identifier: Apache-2.0

"""Queries of what keeps a lease from some resources in a period."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from climate.db.schema.tables import ALLOCATIONS
from climate.db.schema.tables import LEASES
from climate.db.schema.tables import MAINTENANCES
from climate.db.schema.tables import RESERVATIONS
from climate.db.schema.tables import RESOURCES
from climate.db.statements.lists import Among
from climate.db.statements.repository import Repository
from climate.domain.periods import Period

_THESE = Among(RESOURCES.c.id, 'ids')


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ResourceBlocker:
    """What has a resource in a period.

    :ivar lease_id: of the lease; None if it is a maintenance
    :ivar status: of the lease; ``maintenance`` if it is one
    :ivar firm_at: when the lease stops moving; None if its start is fixed
    :ivar since: when the lease or the maintenance was requested
    :ivar start: of what it has
    """

    resource: str
    start: datetime.datetime
    end: datetime.datetime
    since: datetime.datetime | None
    lease_id: str | None = None
    project_id: str | None = None
    status: str = 'maintenance'
    firm_at: datetime.datetime | None = None


class Blockers(Repository):
    """What has resources in a period."""

    def of(
        self, resource_ids: Collection[int], period: Period, lease_id: str, limit: int
    ) -> list[ResourceBlocker]:
        """Return the leases and maintenances that have some of the resources in a period.

        :param lease_id: of the lease that does not count
        :param limit: the largest number of each, by resource and start
        """
        if not resource_ids:
            return []
        values = {'ids': list(resource_ids)}
        queries = (_leases(period, lease_id), _maintenances(period))
        return [
            ResourceBlocker(**row._mapping)
            for query in queries
            for row in self._session.execute(query.limit(limit), values)
        ]


def _leases(period: Period, lease_id: str) -> sa.Select[Any]:
    keys = LEASES.c['id', 'project_id', 'status', 'firm_at', 'created_at']
    return (
        sa.select(
            RESOURCES.c.name.label('resource'),
            LEASES.c.id.label('lease_id'),
            *LEASES.c['project_id', 'status', 'firm_at'],
            LEASES.c.created_at.label('since'),
            sa.func.min(ALLOCATIONS.c.start_date).label('start'),
            sa.func.max(ALLOCATIONS.c.end_date).label('end'),
        )
        .join(ALLOCATIONS, ALLOCATIONS.c.resource_id == RESOURCES.c.id)
        .join(RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id)
        .join(LEASES, LEASES.c.id == RESERVATIONS.c.lease_id)
        .where(
            _THESE,
            ALLOCATIONS.c.live == 1,
            ALLOCATIONS.c.start_date < period.end,
            ALLOCATIONS.c.end_date > period.start,
            LEASES.c.id != lease_id,
        )
        .group_by(RESOURCES.c.name, *keys)
        .order_by(RESOURCES.c.name, sa.func.min(ALLOCATIONS.c.start_date))
    )


def _maintenances(period: Period) -> sa.Select[Any]:
    return (
        sa.select(
            RESOURCES.c.name.label('resource'),
            MAINTENANCES.c.start_date.label('start'),
            MAINTENANCES.c.end_date.label('end'),
            MAINTENANCES.c.created_at.label('since'),
        )
        .join(MAINTENANCES, MAINTENANCES.c.resource_id == RESOURCES.c.id)
        .where(
            _THESE, MAINTENANCES.c.start_date < period.end, MAINTENANCES.c.end_date > period.start
        )
        .order_by(RESOURCES.c.name, MAINTENANCES.c.start_date)
    )
