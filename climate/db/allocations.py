# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""SQL of the allocations."""

from __future__ import annotations

import datetime
from collections.abc import Collection
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from climate.db import models
from climate.db import rows
from climate.db.repository import Repository
from climate.domain.leases import Allocation
from climate.domain.leases import AllocationState
from climate.domain.periods import Period

_table = models.Base.metadata.tables['allocations']
_resources = models.Base.metadata.tables['resources']
_reservations = models.Base.metadata.tables['reservations']
_leases = models.Base.metadata.tables['leases']

# Made once, see leases.py.
_OURS: sa.BindParameter[Any] = sa.bindparam('reservation_ids', expanding=True)
_LIVE_OF = (
    sa.select(_table, _resources.c.name)
    .join(_resources, _resources.c.id == _table.c.resource_id)
    .where(_table.c.reservation_id.in_(_OURS), _table.c.live == 1)
    .order_by(_table.c.id)
)
_HOLD = sa.update(_table).where(
    _table.c.reservation_id.in_(_OURS), _table.c.state == AllocationState.BOOKED.value
)
_LOCK = (
    sa.select(_resources.c.id)
    .where(
        _resources.c.id.in_(
            sa.select(_table.c.resource_id).where(
                _table.c.reservation_id.in_(_OURS), _table.c.live == 1
            )
        )
    )
    .order_by(_resources.c.id)
    .with_for_update()
)
_MINE, _THEIRS = _table.alias('mine'), _table.alias('theirs')
_HOLDERS = (
    sa.select(_THEIRS.c.reservation_id)
    .join(_MINE, _MINE.c.resource_id == _THEIRS.c.resource_id)
    .where(
        _MINE.c.reservation_id.in_(_OURS),
        _MINE.c.live == 1,
        _THEIRS.c.reservation_id.not_in(_OURS),
        _THEIRS.c.live == 1,
        _THEIRS.c.state == AllocationState.HELD.value,
    )
    .distinct()
)


class Allocations(Repository):
    """Rows of ``allocations``."""

    def insert(self, new: Iterable[Allocation]) -> None:
        """Write *new* allocations, in one statement."""
        values = [
            {
                'reservation_id': allocation.reservation_id,
                'resource_id': allocation.resource_id,
                'resource_class': allocation.resource_class,
                'amount': allocation.amount,
                'start_date': allocation.period.start,
                'end_date': allocation.period.end,
                'state': allocation.state,
            }
            for allocation in new
        ]
        if values:
            self._session.execute(sa.insert(_table), values)

    def live_of(self, reservation_ids: Collection[str]) -> list[Allocation]:
        """Return what the reservations have, booked or held, in id order."""
        found = self._session.execute(_LIVE_OF, {'reservation_ids': reservation_ids})
        return [rows.allocation(row) for row in found]

    def release(self, reservation_ids: Collection[str]) -> None:
        """Give back all that the reservations have; it is free from now on."""
        mine = _table.c.reservation_id.in_(reservation_ids) & (_table.c.live == 1)
        # A period that lies in the future was never used, and one that has
        # begun ends now, unless it has ended already.
        self._session.execute(sa.delete(_table).where(mine, _table.c.start_date >= self._now))
        self._session.execute(
            sa.update(_table)
            .where(mine)
            .values(
                state=AllocationState.RELEASED,
                end_date=sa.case(
                    (_table.c.end_date > self._now, sa.literal(self._now, _table.c.end_date.type)),
                    else_=_table.c.end_date,
                ),
            )
        )

    def release_some(self, reservation_id: str, resource_ids: Collection[int]) -> None:
        """Give back some of what a reservation has; it is free from now on."""
        self._session.execute(
            sa.update(_table)
            .where(
                _table.c.reservation_id == reservation_id,
                _table.c.resource_id.in_(resource_ids),
                _table.c.live == 1,
            )
            .values(
                state=AllocationState.RELEASED,
                end_date=sa.literal(self._now, _table.c.end_date.type),
            )
        )

    def remove(self, ids: Collection[int]) -> None:
        """Forget allocations that were booked but never used."""
        if ids:
            self._session.execute(sa.delete(_table).where(_table.c.id.in_(ids)))

    def move(self, reservation_ids: Collection[str], period: Period) -> None:
        """Change the period of what the reservations keep."""
        self._session.execute(
            sa.update(_table)
            .where(_table.c.reservation_id.in_(reservation_ids), _table.c.live == 1)
            .values(start_date=period.start, end_date=period.end)
        )

    def end_at(self, reservation_ids: Collection[str], end: datetime.datetime) -> None:
        """Change only the end of what the reservations keep."""
        self._session.execute(
            sa.update(_table)
            .where(_table.c.reservation_id.in_(reservation_ids), _table.c.live == 1)
            .values(end_date=end)
        )

    def clashes(
        self, resource_ids: Collection[int], period: Period, except_reservations: Collection[str]
    ) -> set[int]:
        """Return those of the resources that others have or had within *period*."""
        query = (
            sa.select(_table.c.resource_id)
            .where(
                _table.c.resource_id.in_(resource_ids),
                # Both there are, named so that the index leads to the period.
                _table.c.live.in_((0, 1)),
                _table.c.end_date > period.start,
                _table.c.start_date < period.end,
                _table.c.reservation_id.not_in(except_reservations),
            )
            .distinct()
        )
        return set(self._session.scalars(query))

    def hold(self, reservation_ids: Collection[str]) -> None:
        """Say that the lease has its resources in hand from now on."""
        self._session.connection().execute(
            _HOLD, {'reservation_ids': reservation_ids, 'state': AllocationState.HELD}
        )

    def lock_resources(self, reservation_ids: Collection[str]) -> None:
        """Let nobody else take these resources in hand until the transaction ends.

        In id order, as bookings lock them::

            SELECT id FROM resources WHERE id IN (SELECT resource_id FROM allocations …)
            ORDER BY id FOR UPDATE
        """
        self._session.execute(_LOCK, {'reservation_ids': reservation_ids}).all()

    def holders(self, reservation_ids: Collection[str]) -> list[str]:
        """Return the reservations that still hold what these are to have.

        ::

            SELECT DISTINCT theirs.reservation_id FROM allocations mine
            JOIN allocations theirs ON theirs.resource_id = mine.resource_id
            WHERE mine.reservation_id IN (:ids) AND mine.live = 1
              AND theirs.reservation_id NOT IN (:ids)
              AND theirs.live = 1 AND theirs.state = held
        """
        return list(self._session.scalars(_HOLDERS, {'reservation_ids': reservation_ids}))

    def in_use(self, resource_id: int) -> bool:
        """Whether anybody has the resource or will have it."""
        query = (
            sa.select(_table.c.id)
            .where(_table.c.resource_id == resource_id, _table.c.live == 1)
            .limit(1)
        )
        return self._session.scalar(query) is not None

    def calendar(
        self,
        resource_type: str,
        *,
        resource_id: int | None = None,
        lease_id: str | None = None,
        reservation_id: str | None = None,
    ) -> list[tuple[int, str, str, str, Period]]:
        """Return who has what and when, from now on.

        :returns: ``(resource id, reservation id, lease id, project id, period)``
            in the order of the resources and of time
        """
        query = (
            sa.select(
                _table.c.resource_id,
                _table.c.reservation_id,
                _leases.c.id.label('lease_id'),
                _leases.c.project_id,
                _leases.c.start_date,
                _leases.c.end_date,
            )
            .join(_resources, _resources.c.id == _table.c.resource_id)
            .join(_reservations, _reservations.c.id == _table.c.reservation_id)
            .join(_leases, _leases.c.id == _reservations.c.lease_id)
            .where(
                _resources.c.resource_type == resource_type,
                _resources.c.deleted == 0,
                _table.c.live == 1,
            )
            .order_by(_table.c.resource_id, _table.c.start_date)
        )
        for column, wanted in (
            (_table.c.resource_id, resource_id),
            (_leases.c.id, lease_id),
            (_table.c.reservation_id, reservation_id),
        ):
            if wanted is not None:
                query = query.where(column == wanted)
        return [
            (row[0], row[1], row[2], row[3], Period(start=row[4], end=row[5]))
            for row in self._session.execute(query)
        ]
