# SPDX-License-Identifier: Apache-2.0

"""Queries for repair: rows that contradict the state of their lease."""

from __future__ import annotations

import dataclasses

import sqlalchemy as sa

from climate.db.schema.tables import ALLOCATIONS
from climate.db.schema.tables import EVENTS
from climate.db.schema.tables import LEASES
from climate.db.schema.tables import OFFERS
from climate.db.schema.tables import RESERVATIONS
from climate.db.schema.tables import RESOURCES
from climate.db.statements.repository import Repository
from climate.domain import events
from climate.domain.lifecycles import LeaseStatus

OVER = sa.or_(LEASES.c.deleted_at.is_not(None), LEASES.c.status == LeaseStatus.TERMINATED)

# A lease that users cannot see, which holds the later slices of another one.
IS_REST: sa.ColumnElement[bool] = sa.and_(
    LEASES.c.status == LeaseStatus.PENDING,
    LEASES.c.deleted_at.is_not(None),
    # It is among the options of few leases.
    sa.cast(LEASES.c.options, sa.Text).contains('"rest_of"'),
)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Stray:
    """A resource that an ended lease still has."""

    lease_id: str
    reservation_id: str
    resource_type: str
    resource_name: str


class Inconsistencies(Repository):
    """Read-only queries across tables."""

    def active(self) -> list[str]:
        """Return the ids of the active leases."""
        query = sa.select(LEASES.c.id).where(
            LEASES.c.status == LeaseStatus.ACTIVE, LEASES.c.deleted_at.is_(None)
        )
        return list(self._session.scalars(query.order_by(LEASES.c.id)))

    def reservations(self) -> tuple[frozenset[str], frozenset[str]]:
        """Return ids of reservations: of leases that have not ended, and of others."""
        query = sa.select(RESERVATIONS.c.id, OVER).join(
            LEASES, LEASES.c.id == RESERVATIONS.c.lease_id
        )
        alive: set[str] = set()
        over: set[str] = set()
        for reservation_id, is_over in self._session.execute(query):
            (over if is_over else alive).add(reservation_id)
        return frozenset(alive), frozenset(over)

    def strays(self, lease_id: str | None = None) -> list[Stray]:
        """Return the resources that ended leases still have.

        ::

            SELECT … FROM allocations JOIN reservations … JOIN leases …
            WHERE allocations.live = 1
              AND (leases.deleted_at IS NOT NULL OR leases.status = 'TERMINATED')
              AND NOT EXISTS (SELECT … FROM offers WHERE offers.id = leases.id
                              AND offers.held_until IS NOT NULL)
              AND NOT … -- holds the rest of another lease
        """
        is_hold = sa.exists().where(OFFERS.c.id == LEASES.c.id, OFFERS.c.held_until.is_not(None))
        query = (
            sa.select(LEASES.c.id, RESERVATIONS.c.id, RESOURCES.c.resource_type, RESOURCES.c.name)
            .select_from(ALLOCATIONS)
            .join(RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id)
            .join(LEASES, LEASES.c.id == RESERVATIONS.c.lease_id)
            .join(RESOURCES, RESOURCES.c.id == ALLOCATIONS.c.resource_id)
            .where(ALLOCATIONS.c.live == 1, OVER, ~is_hold, ~IS_REST)
            .order_by(LEASES.c.id, ALLOCATIONS.c.id)
        )
        if lease_id is not None:
            query = query.where(LEASES.c.id == lease_id)
        return [
            Stray(
                lease_id=row[0], reservation_id=row[1], resource_type=row[2], resource_name=row[3]
            )
            for row in self._session.execute(query)
        ]

    def forgotten(self, lease_id: str | None = None) -> list[str]:
        """Return the ids of the leases whose ``next_due`` is later than an open event.

        Leases with a claim are excluded: a manager works on them.
        """
        query = (
            sa.select(LEASES.c.id)
            .join(EVENTS, EVENTS.c.lease_id == LEASES.c.id)
            .where(
                LEASES.c.deleted_at.is_(None),
                sa.or_(LEASES.c.claim_until.is_(None), LEASES.c.claim_until < self._now),
                EVENTS.c.state.in_(events.OPEN),
                sa.or_(LEASES.c.next_due.is_(None), LEASES.c.next_due > EVENTS.c.due),
            )
            .distinct()
            .order_by(LEASES.c.id)
        )
        if lease_id is not None:
            query = query.where(LEASES.c.id == lease_id)
        return list(self._session.scalars(query))
