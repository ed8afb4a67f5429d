# SPDX-License-Identifier: Apache-2.0

"""Queries of earlier leases that keep a lease from its resources when it starts."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from climate.db.schema.tables import ALLOCATIONS
from climate.db.schema.tables import LEASES
from climate.db.schema.tables import RESERVATIONS
from climate.db.schema.tables import RESOURCES
from climate.db.statements.repository import Repository
from climate.domain.leases import AllocationState

_MINE, _THEIRS = ALLOCATIONS.alias('mine'), ALLOCATIONS.alias('theirs')
_ANY_WHOLE = sa.or_(_MINE.c.resource_class.is_(None), _THEIRS.c.resource_class.is_(None))


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Blocker:
    """An earlier lease that still holds a resource, or has just released it.

    :ivar reservation_id: reservation of the lease that starts
    :ivar lease_id: the earlier lease
    :ivar holder_id: reservation of the earlier lease
    :ivar project_id: project of the earlier lease
    :ivar released_at: when the resource was released (aware UTC); None while the
        earlier lease holds it
    """

    reservation_id: str
    resource_id: int
    resource_name: str
    lease_id: str
    holder_id: str
    project_id: str
    released_at: datetime.datetime | None = None


class Handovers(Repository):
    """Pairs of rows of ``allocations``: of a lease that starts, and of earlier ones."""

    def holders(self, reservation_ids: Collection[str], crowded: Collection[int]) -> list[Blocker]:
        """Return the leases that hold resources of the reservations.

        ::

            SELECT … FROM allocations mine
            JOIN allocations theirs ON theirs.resource_id = mine.resource_id JOIN …
            WHERE mine.reservation_id IN (:ids) AND mine.live = 1
              AND theirs.reservation_id NOT IN (:ids)
              AND theirs.live = 1 AND theirs.state = held
              AND (mine.resource_class IS NULL OR theirs.resource_class IS NULL
                   OR (theirs.resource_class = mine.resource_class
                       AND theirs.end_date <= :now AND theirs.resource_id IN (:crowded)))

        :param crowded: ids of the resources on which overdue leases leave too little
            capacity, see :meth:`Allocations.crowds`
        """
        overdue = sa.and_(
            _MINE.c.resource_class == _THEIRS.c.resource_class,
            _THEIRS.c.end_date <= self._now,
            _THEIRS.c.resource_id.in_(crowded),
        )
        query = _pairs(reservation_ids).where(
            _THEIRS.c.live == 1,
            _THEIRS.c.state == AllocationState.HELD.value,
            sa.or_(_ANY_WHOLE, overdue),
        )
        return [_blocker(row) for row in self._session.execute(query)]

    def cleaned(
        self, reservation_ids: Collection[str], cleaning_time: datetime.timedelta
    ) -> list[Blocker]:
        """Return the leases that released resources of the reservations just now.

        Parts of a resource can be used at the same time, and are not cleaned.

        :param cleaning_time: how long ago counts as just now
        """
        query = _pairs(reservation_ids).where(
            _THEIRS.c.live == 0,
            _THEIRS.c.end_date > self._now - cleaning_time,
            _THEIRS.c.end_date <= self._now,
            _ANY_WHOLE,
        )
        return [
            dataclasses.replace(_blocker(row), released_at=row.end_date)
            for row in self._session.execute(query)
        ]

    def overdue(self) -> set[int]:
        """Return the ids of the resources that leases hold beyond their end."""
        query = sa.select(ALLOCATIONS.c.resource_id).where(
            ALLOCATIONS.c.live == 1,
            ALLOCATIONS.c.state == AllocationState.HELD.value,
            ALLOCATIONS.c.end_date <= self._now,
        )
        return set(self._session.scalars(query))


def _pairs(reservation_ids: Collection[str]) -> sa.Select[Any]:
    return (
        sa.select(
            _MINE.c.reservation_id.label('mine_id'),
            _MINE.c.resource_id,
            RESOURCES.c.name,
            _THEIRS.c.reservation_id.label('theirs_id'),
            _THEIRS.c.end_date,
            LEASES.c.id.label('lease_id'),
            LEASES.c.project_id,
        )
        .select_from(_MINE)
        .join(_THEIRS, _THEIRS.c.resource_id == _MINE.c.resource_id)
        .join(RESOURCES, RESOURCES.c.id == _MINE.c.resource_id)
        .join(RESERVATIONS, RESERVATIONS.c.id == _THEIRS.c.reservation_id)
        .join(LEASES, LEASES.c.id == RESERVATIONS.c.lease_id)
        .where(
            _MINE.c.reservation_id.in_(reservation_ids),
            _MINE.c.live == 1,
            _THEIRS.c.reservation_id.not_in(reservation_ids),
        )
        .distinct()
        .order_by(_MINE.c.resource_id, _MINE.c.reservation_id, _THEIRS.c.reservation_id)
    )


def _blocker(row: Any) -> Blocker:
    return Blocker(
        reservation_id=row.mine_id,
        resource_id=row.resource_id,
        resource_name=row.name,
        lease_id=row.lease_id,
        holder_id=row.theirs_id,
        project_id=row.project_id,
    )
