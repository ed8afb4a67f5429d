# SPDX-License-Identifier: Apache-2.0

"""Queries of what is booked on resources that have failed or are in maintenance."""

from __future__ import annotations

import datetime
from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from climate.db.resources.shortages import SHORT
from climate.db.resources.shortages import Shortages
from climate.db.schema.tables import ALLOCATIONS
from climate.db.schema.tables import LEASES
from climate.db.schema.tables import MAINTENANCES
from climate.db.schema.tables import RESERVATIONS
from climate.db.schema.tables import RESOURCES
from climate.db.statements.repository import Repository
from climate.domain.health import Outage
from climate.domain.lifecycles import LeaseStatus

_MOVABLE = (LeaseStatus.PENDING.value, LeaseStatus.ACTIVE.value)


class AffectedLeases(Repository):
    """Allocations of resources that have failed or are in maintenance."""

    def leases(self, until: datetime.datetime | None) -> list[str]:
        """Return the ids of leases that are degraded or have such resources, by start.

        ::

            SELECT l.id FROM leases l WHERE l.deleted_at IS NULL AND l.status IN (…)
              AND (l.degraded OR l.id IN (SELECT … FROM resources r JOIN allocations a …
                                          WHERE r.failed_at IS NOT NULL …)
                              OR l.id IN (SELECT … FROM maintenances m JOIN allocations a …)
                              OR l.id IN (SELECT … FROM reservations r WHERE r.id IN (…)))

        Of a resource that is short of capacity, only reservations count that no longer fit,
        however late they begin.

        :param until: ignores, for now, allocations on failed resources that begin at
            this instant or later; None ignores none
        """
        booked = ALLOCATIONS.join(RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id)
        lease_id = sa.select(RESERVATIONS.c.lease_id)
        failed = lease_id.select_from(
            booked.join(RESOURCES, RESOURCES.c.id == ALLOCATIONS.c.resource_id)
        ).where(*self._failed(until))
        out = lease_id.select_from(
            booked.join(MAINTENANCES, MAINTENANCES.c.resource_id == ALLOCATIONS.c.resource_id)
        ).where(*self._in_maintenance())
        marked = sa.select(LEASES.c.id).where(LEASES.c.degraded.is_(True))
        short = [reservation_id for reservation_id, _ in self._surplus()]
        crowded = sa.select(RESERVATIONS.c.lease_id).where(RESERVATIONS.c.id.in_(short))
        affected = sa.union(failed, out, marked, *([crowded] if short else [])).subquery()
        query = (
            sa.select(LEASES.c.id)
            .join(affected, affected.c[0] == LEASES.c.id)
            .where(LEASES.c.deleted_at.is_(None), LEASES.c.status.in_(_MOVABLE))
            .order_by(LEASES.c.start_date, LEASES.c.id)
        )
        return list(self._session.scalars(query))

    def of(self, reservation_ids: Collection[str], until: datetime.datetime | None) -> list[Outage]:
        """Return the outages of the resources of the reservations.

        At most one for each reservation and resource; a failure takes precedence over a
        maintenance.

        :param until: as in :meth:`leases`
        """
        columns = (ALLOCATIONS.c.reservation_id, RESOURCES.c.id, RESOURCES.c.name)
        booked = ALLOCATIONS.join(RESOURCES, RESOURCES.c.id == ALLOCATIONS.c.resource_id)
        mine = ALLOCATIONS.c.reservation_id.in_(list(reservation_ids))
        failed = (
            sa.select(*columns, RESOURCES.c.failed_at, RESOURCES.c.unusable, RESOURCES.c.degraded)
            .select_from(booked)
            .where(mine, *self._failed(until))
        )
        out = (
            sa.select(
                *columns, MAINTENANCES.c.start_date, MAINTENANCES.c.end_date, MAINTENANCES.c.reason
            )
            .select_from(booked.join(MAINTENANCES, MAINTENANCES.c.resource_id == RESOURCES.c.id))
            .where(mine, *self._in_maintenance())
            .order_by(MAINTENANCES.c.start_date)
        )
        outages: dict[tuple[str, int], Outage] = {}
        for row in self._session.execute(failed):
            why = f'cannot be used: {row[5]}' if row[4] and row[5] else 'has failed'
            outages[row[0], row[1]] = _outage(row, row[3], why)
        for window in self._session.execute(out):
            period = f'from {_minute(window[3])} to {_minute(window[4])}'
            why = f'is in maintenance {period}' + (f': {window[5]}' if window[5] else '')
            outages.setdefault((window[0], window[1]), _outage(window, window[3], why, closed=True))
        for outage in self._crowded(reservation_ids):
            outages.setdefault((outage.reservation_id, outage.resource_id), outage)
        return [outages[key] for key in sorted(outages)]

    def _surplus(self) -> list[tuple[str, int]]:
        return Shortages(self._session, self._now).surplus()

    def _crowded(self, reservation_ids: Collection[str]) -> list[Outage]:
        """Return what no longer fits, of these reservations."""
        mine = [one for one in self._surplus() if one[0] in reservation_ids]
        if not mine:
            return []
        query = sa.select(RESOURCES.c.id, RESOURCES.c.name, RESOURCES.c.degraded).where(
            RESOURCES.c.id.in_({resource_id for _, resource_id in mine})
        )
        known = {row.id: row for row in self._session.execute(query)}
        return [
            Outage(
                reservation_id=reservation_id,
                resource_id=resource_id,
                name=known[resource_id].name,
                begins=self._now,
                reason=f'{known[resource_id].name} has no room for it: '
                f'{known[resource_id].degraded}',
                crowded=True,
            )
            for reservation_id, resource_id in mine
        ]

    def _failed(self, until: datetime.datetime | None) -> list[Any]:
        conditions = [
            RESOURCES.c.failed_at.is_not(None),
            RESOURCES.c.id.not_in(SHORT),
            RESOURCES.c.deleted == 0,
            ALLOCATIONS.c.live == 1,
            ALLOCATIONS.c.end_date > self._now,
        ]
        if until is not None:
            conditions.append(ALLOCATIONS.c.start_date < until)
        return conditions

    def _in_maintenance(self) -> list[Any]:
        return [
            ALLOCATIONS.c.live == 1,
            MAINTENANCES.c.end_date > self._now,
            MAINTENANCES.c.end_date > ALLOCATIONS.c.start_date,
            MAINTENANCES.c.start_date < ALLOCATIONS.c.end_date,
        ]


def _outage(row: Any, begins: datetime.datetime, why: str, *, closed: bool = False) -> Outage:
    return Outage(
        reservation_id=row[0],
        resource_id=row[1],
        name=row[2],
        begins=begins,
        reason=f'{row[2]} {why}',
        closed=closed,
    )


def _minute(instant: datetime.datetime) -> str:
    return f'{instant:%Y-%m-%d %H:%M} UTC'
