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
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from climate.db import models
from climate.db import rows
from climate.db import things
from climate.db.repository import Repository
from climate.domain.leases import Allocation
from climate.domain.leases import AllocationState
from climate.domain.periods import Period
from climate.domain.requests import Taken

_table = models.Base.metadata.tables['allocations']
_resources = models.Base.metadata.tables['resources']
_reservations = models.Base.metadata.tables['reservations']
_leases = models.Base.metadata.tables['leases']
_inventories = models.Base.metadata.tables['inventories']

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
_TOUCH = (
    sa.update(_resources)
    .where(_resources.c.id.in_(sa.bindparam('ids', expanding=True)))
    .values(generation=_resources.c.generation + 1)
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
        # Parts of one resource can be held beside each other.
        sa.or_(_MINE.c.resource_class.is_(None), _THEIRS.c.resource_class.is_(None)),
    )
    .distinct()
)
_NOW: sa.BindParameter[Any] = sa.bindparam('now', type_=_table.c.end_date.type)
_CROWDED = (
    sa.select(_table.c.resource_id)
    .join(
        _inventories,
        sa.and_(
            _inventories.c.resource_id == _table.c.resource_id,
            _inventories.c.resource_class == _table.c.resource_class,
        ),
    )
    .where(
        _table.c.resource_id.in_(
            sa.select(_MINE.c.resource_id).where(
                _MINE.c.reservation_id.in_(_OURS),
                _MINE.c.live == 1,
                _MINE.c.resource_class.is_not(None),
            )
        ),
        _table.c.live == 1,
        sa.or_(_table.c.state == AllocationState.HELD.value, _table.c.reservation_id.in_(_OURS)),
    )
    .group_by(
        _table.c.resource_id,
        _table.c.resource_class,
        _inventories.c.total,
        _inventories.c.reserved,
        _inventories.c.allocation_ratio,
    )
    .having(
        sa.func.sum(_table.c.amount)
        > (_inventories.c.total - _inventories.c.reserved) * _inventories.c.allocation_ratio,
        sa.func.max(
            sa.case(
                (
                    sa.and_(_table.c.reservation_id.not_in(_OURS), _table.c.end_date <= _NOW),
                    1,
                ),
                else_=0,
            )
        )
        == 1,
    )
    .limit(1)
)


class Allocations(Repository):
    """Rows of ``allocations``: who has what, and what is given back.

    They come and grow by :class:`climate.db.books.Books` only.
    """

    def live_of(self, reservation_ids: Collection[str]) -> list[Allocation]:
        """Return what the reservations have, booked or held, in id order."""
        found = self._session.execute(_LIVE_OF, {'reservation_ids': reservation_ids})
        return [rows.allocation(row) for row in found]

    def release(self, reservation_ids: Collection[str]) -> None:
        """Give back all that the reservations have; it is free from now on."""
        mine = _table.c.reservation_id.in_(reservation_ids) & (_table.c.live == 1)
        # A period that lies in the future was never used. One that has begun
        # ends now, also if it should have ended before: what was held beyond
        # its time was in use until now. What was only booked was not.
        self._session.execute(sa.delete(_table).where(mine, _table.c.start_date >= self._now))
        self._session.execute(
            sa.update(_table)
            .where(mine)
            # In this order: MariaDB sees in an assignment what those before have set.
            .ordered_values(
                (
                    _table.c.end_date,
                    sa.case(
                        (
                            sa.or_(
                                _table.c.end_date > self._now,
                                _table.c.state == AllocationState.HELD.value,
                            ),
                            sa.literal(self._now, _table.c.end_date.type),
                        ),
                        else_=_table.c.end_date,
                    ),
                ),
                (_table.c.state, AllocationState.RELEASED),
            )
        )

    def give_back(self, amounts: Mapping[int, int]) -> None:
        """Give back some of what a reservation has; it is free from now on.

        Of an allocation that is given back in part, that part becomes an
        allocation of its own, so that the record says who had what until when.

        :param amounts: by allocation id; more than there is means all of it
        """
        query = sa.select(_table).where(_table.c.id.in_(list(amounts)), _table.c.live == 1)
        parts = [row for row in self._session.execute(query) if amounts[row.id] < row.amount]
        whole = set(amounts) - {row.id for row in parts}
        if whole:
            self._session.execute(
                sa.update(_table)
                .where(_table.c.id.in_(whole), _table.c.live == 1)
                .values(
                    state=AllocationState.RELEASED,
                    end_date=sa.literal(self._now, _table.c.end_date.type),
                )
            )
        for row in parts:
            self._session.execute(
                sa.update(_table)
                .where(_table.c.id == row.id)
                .values(amount=row.amount - amounts[row.id])
            )
        if parts:
            self._session.execute(
                sa.insert(_table), [_given_back(row, amounts[row.id], self._now) for row in parts]
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

        and on MariaDB ``UPDATE resources SET generation = generation + 1 …``: a
        node of a Galera cluster knows nothing of the locks of another one, and
        undoes what writes a row that another one has written first.
        """
        ids = list(self._session.scalars(_LOCK, {'reservation_ids': reservation_ids}))
        if ids and self._session.get_bind().dialect.name in ('mysql', 'mariadb'):
            self._session.connection().execute(_TOUCH, {'ids': ids})

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

    def crowded(self, reservation_ids: Collection[str]) -> bool:
        """Whether leases that are over leave too little of what these are to have.

        What others have for their own time is in nobody's way: it was counted
        when it was booked. Only what is held beyond its time may be too much::

            SELECT a.resource_id FROM allocations a JOIN inventories i ON …
            WHERE a.resource_id IN (…) AND a.live = 1
              AND (a.state = held OR a.reservation_id IN (:ids))
            GROUP BY a.resource_id, a.resource_class, …
            HAVING SUM(a.amount) > (i.total - i.reserved) * i.allocation_ratio
               AND MAX(a.reservation_id NOT IN (:ids) AND a.end_date <= :now) = 1
        """
        values = {'reservation_ids': reservation_ids, 'now': self._now}
        return self._session.scalar(_CROWDED, values) is not None

    def crowds(self, reservation_ids: Collection[str]) -> set[int]:
        """Return the resources of which :meth:`crowded` is true."""
        values = {'reservation_ids': reservation_ids, 'now': self._now}
        return set(self._session.scalars(_CROWDED.limit(None), values))

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
        resource_type: str | None = None,
        *,
        within: tuple[int, int] | None = None,
        project_id: str | None = None,
    ) -> list[Taken]:
        """Return who has what and when, from now on.

        A reservation appears once for each resource that it has, however many
        classes of it.

        :param resource_type: of the resources, which need not be that of the
            reservations; None for every type
        :param within: only of resources from the first to the second id
        :param project_id: without things of other projects; None for all
        """
        query = (
            sa.select(
                _table.c.resource_id,
                _table.c.reservation_id,
                _leases.c.id,
                _leases.c.project_id,
                _leases.c.start_date,
                _leases.c.end_date,
                _table.c.resource_class,
                _table.c.amount,
            )
            .join(_resources, _resources.c.id == _table.c.resource_id)
            .join(_reservations, _reservations.c.id == _table.c.reservation_id)
            .join(_leases, _leases.c.id == _reservations.c.lease_id)
            .where(_resources.c.deleted == 0, _table.c.live == 1, things.visible(project_id))
            .order_by(_table.c.resource_id, _table.c.start_date)
        )
        if resource_type is not None:
            query = query.where(_resources.c.resource_type == resource_type)
        if within is not None:
            query = query.where(_table.c.resource_id.between(*within))
        amounts: dict[tuple[Any, ...], dict[str, int]] = {}
        for *key, resource_class, amount in self._session.execute(query):
            mine = amounts.setdefault(tuple(key), {})
            if resource_class is not None:
                mine[resource_class] = mine.get(resource_class, 0) + amount
        return [
            Taken(
                resource_id=resource,
                reservation_id=reservation,
                lease_id=lease,
                project_id=project,
                period=Period(start=start, end=end),
                amounts=mine,
            )
            for (resource, reservation, lease, project, start, end), mine in amounts.items()
        ]


def _given_back(row: Any, amount: int, now: datetime.datetime) -> dict[str, Any]:
    return {
        'reservation_id': row.reservation_id,
        'resource_id': row.resource_id,
        'resource_class': row.resource_class,
        'amount': amount,
        'start_date': row.start_date,
        'end_date': now,
        'state': AllocationState.RELEASED,
    }
