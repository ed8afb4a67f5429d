# SPDX-License-Identifier: Apache-2.0

"""Queries of the leases that may still move or wait for a booking."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from climate.db.leases import lease_queries
from climate.db.leases.leases import COLUMNS
from climate.db.leases.leases import Leases
from climate.db.schema.tables import ALLOCATIONS
from climate.db.schema.tables import LEASES
from climate.db.schema.tables import RESERVATIONS
from climate.db.schema.tables import RESOURCES
from climate.db.statements.repository import Repository
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.lifecycles import LeaseStatus
from climate.domain.periods import Period
from climate.domain.queue import MOST_AHEAD
from climate.domain.queue import MOST_MOVABLE
from climate.domain.queue import QueuedReservation
from climate.domain.queue import QueueQuery
from climate.domain.requests import LeaseQuery

_ORDER: Final = (('priority', 'desc'), ('created_at', 'asc'))


class LeaseQueue(Repository):
    """Flexible leases that are not firm, in the order of their priorities and requests."""

    def page(self, query: QueueQuery) -> list[Lease]:
        """Return the leases of a page; one more than its limit if there is another page.

        :raises climate.exceptions.InvalidInput: if the marker does not exist

        ::

            SELECT … FROM leases WHERE deleted_at IS NULL
              AND (status = 'PENDING' AND firm_at > :now OR status = 'WAITING')
              AND project_id = :project … ORDER BY priority DESC, created_at, id LIMIT :limit
        """
        listed = LeaseQuery(
            project_id=query.project_id,
            resource_type=query.resource_type,
            marker=query.marker,
            sort=_ORDER,
        )
        wanted = lease_queries.conditions(self._session, listed, None)
        if query.lease_id is not None:
            wanted.append(LEASES.c.id == query.lease_id)
        found = sa.select(*COLUMNS).where(*wanted, self._queued()).limit(query.limit + 1)
        rows = self._session.execute(found.order_by(*lease_queries.order(listed))).all()
        return Leases(self._session, self._now).of_rows(rows)

    def ahead(self, last: Lease) -> list[QueuedReservation]:
        """Return the reservations of the leases that come before a lease.

        They have only ids, types and requests, and are in the order of their leases: those that
        are nearest to it, and no more than :data:`climate.domain.queue.MOST_AHEAD`.
        """
        columns = (RESERVATIONS.c.lease_id, RESERVATIONS.c.resource_type, RESERVATIONS.c.request)
        query = (
            sa.select(RESERVATIONS.c.id, *columns, *LEASES.c['created_at', 'priority'])
            .join(LEASES, LEASES.c.id == RESERVATIONS.c.lease_id)
            .where(LEASES.c.deleted_at.is_(None), self._queued(), _before(last))
            .order_by(LEASES.c.priority, LEASES.c.created_at.desc(), LEASES.c.id.desc())
            .limit(MOST_AHEAD)
        )
        found = [
            QueuedReservation(
                turn=(-row.priority, row.created_at, row.lease_id),
                reservation=Reservation(
                    id=row.id,
                    lease_id=row.lease_id,
                    resource_type=row.resource_type,
                    request=row.request,
                ),
            )
            for row in self._session.execute(query)
        ]
        return found[::-1]

    def allocations(self, resource_type: str, period: Period) -> list[Allocation]:
        """Return what leases that may still move have of resources of a type in a period.

        The first ones, and no more than :data:`climate.domain.queue.MOST_MOVABLE`.
        """
        query = (
            sa.select(ALLOCATIONS)
            .join(RESOURCES, RESOURCES.c.id == ALLOCATIONS.c.resource_id)
            .join(RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id)
            .join(LEASES, LEASES.c.id == RESERVATIONS.c.lease_id)
            .where(
                LEASES.c.firm_at > self._now,
                LEASES.c.status == LeaseStatus.PENDING,
                LEASES.c.deleted_at.is_(None),
                LEASES.c.start_date < period.end,
                RESOURCES.c.resource_type == resource_type,
                ALLOCATIONS.c.live == 1,
                ALLOCATIONS.c.end_date > period.start,
            )
            .order_by(ALLOCATIONS.c.start_date, ALLOCATIONS.c.id)
            .limit(MOST_MOVABLE)
        )
        return [
            Allocation(
                id=row.id,
                reservation_id=row.reservation_id,
                resource_id=row.resource_id,
                resource_class=row.resource_class,
                amount=row.amount,
                period=Period(start=row.start_date, end=row.end_date),
            )
            for row in self._session.execute(query)
        ]

    def _queued(self) -> sa.ColumnElement[bool]:
        booked = sa.and_(LEASES.c.status == LeaseStatus.PENDING, LEASES.c.firm_at > self._now)
        waits = sa.and_(LEASES.c.status == LeaseStatus.WAITING, LEASES.c.next_due.is_(None))
        return booked | waits


def _before(last: Lease) -> sa.ColumnElement[bool]:
    at_once = sa.and_(LEASES.c.created_at == last.created_at, LEASES.c.id < last.id)
    earlier = sa.or_(LEASES.c.created_at < last.created_at, at_once)
    same = sa.and_(LEASES.c.priority == last.rank, earlier)
    return sa.or_(LEASES.c.priority > last.rank, same)
