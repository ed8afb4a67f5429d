# SPDX-License-Identifier: Apache-2.0

"""Queries of allocations."""

from __future__ import annotations

import datetime
import functools
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

import sqlalchemy as sa

from climate.db.resources import things
from climate.db.schema.tables import ALLOCATIONS
from climate.db.schema.tables import INVENTORIES
from climate.db.schema.tables import LEASES
from climate.db.schema.tables import RESERVATIONS
from climate.db.schema.tables import RESOURCES
from climate.db.statements.lists import Among
from climate.db.statements.repository import Repository
from climate.domain.leases import Allocation
from climate.domain.leases import AllocationState
from climate.domain.periods import Period
from climate.domain.requests import ReservedShare

# Built once, see leases.py.
_OURS: sa.BindParameter[Any] = sa.bindparam('reservation_ids', expanding=True)
_MINE_ARE = Among(ALLOCATIONS.c.reservation_id, 'reservation_ids')
_LIVE_OF = (
    sa.select(
        *ALLOCATIONS.c['id', 'reservation_id', 'resource_id', 'resource_class', 'amount'],
        *ALLOCATIONS.c['start_date', 'end_date', 'state'],
        RESOURCES.c.name,
    )
    .join(RESOURCES, RESOURCES.c.id == ALLOCATIONS.c.resource_id)
    .where(_MINE_ARE, ALLOCATIONS.c.live == 1)
    .order_by(ALLOCATIONS.c.id)
)
_MARK_HELD = sa.update(ALLOCATIONS).where(
    _MINE_ARE, ALLOCATIONS.c.state == AllocationState.BOOKED.value
)
_LOCK = (
    sa.select(RESOURCES.c.id)
    .where(
        RESOURCES.c.id.in_(
            sa.select(ALLOCATIONS.c.resource_id).where(_MINE_ARE, ALLOCATIONS.c.live == 1)
        )
    )
    .order_by(RESOURCES.c.id)
    .with_for_update()
)
_LOCK_IDS = (
    sa.select(RESOURCES.c.id)
    .where(Among(RESOURCES.c.id, 'ids'))
    .order_by(RESOURCES.c.id)
    .with_for_update()
)
_TOUCH = (
    sa.update(RESOURCES)
    .where(Among(RESOURCES.c.id, 'ids'))
    .values(generation=RESOURCES.c.generation + 1)
)
_MINE, _THEIRS = ALLOCATIONS.alias('mine'), ALLOCATIONS.alias('theirs')
_HOLDERS = (
    sa.select(_THEIRS.c.reservation_id)
    .join(_MINE, _MINE.c.resource_id == _THEIRS.c.resource_id)
    .where(
        _MINE.c.reservation_id.in_(_OURS),
        _MINE.c.live == 1,
        _THEIRS.c.reservation_id.not_in(_OURS),
        _THEIRS.c.live == 1,
        _THEIRS.c.state == AllocationState.HELD.value,
        # Reservations can hold parts of one resource at the same time.
        sa.or_(_MINE.c.resource_class.is_(None), _THEIRS.c.resource_class.is_(None)),
    )
    .distinct()
)
_NOW: sa.BindParameter[Any] = sa.bindparam('now', type_=ALLOCATIONS.c.end_date.type)
_OVERDUE = sa.and_(ALLOCATIONS.c.reservation_id.not_in(_OURS), ALLOCATIONS.c.end_date <= _NOW)
_CROWDED = (
    sa.select(ALLOCATIONS.c.resource_id)
    .join(
        INVENTORIES,
        sa.and_(
            INVENTORIES.c.resource_id == ALLOCATIONS.c.resource_id,
            INVENTORIES.c.resource_class == ALLOCATIONS.c.resource_class,
        ),
    )
    .where(
        ALLOCATIONS.c.resource_id.in_(
            sa.select(_MINE.c.resource_id).where(
                _MINE.c.reservation_id.in_(_OURS),
                _MINE.c.live == 1,
                _MINE.c.resource_class.is_not(None),
            )
        ),
        ALLOCATIONS.c.live == 1,
        sa.or_(
            ALLOCATIONS.c.state == AllocationState.HELD.value,
            ALLOCATIONS.c.reservation_id.in_(_OURS),
        ),
    )
    .group_by(
        *ALLOCATIONS.c['resource_id', 'resource_class'],
        *INVENTORIES.c['total', 'reserved', 'allocation_ratio'],
    )
    .having(
        sa.func.sum(ALLOCATIONS.c.amount)
        > (INVENTORIES.c.total - INVENTORIES.c.reserved) * INVENTORIES.c.allocation_ratio,
        sa.func.max(sa.case((_OVERDUE, 1), else_=0)) == 1,
    )
    .limit(1)
)


_STATES: Final = {one.value: one for one in AllocationState}


def _period(start: datetime.datetime, end: datetime.datetime) -> Period:
    return Period(start=start, end=end)


class Allocations(Repository):
    """Rows of ``allocations``: the resources that reservations have, or had.

    Only :class:`climate.db.booking.writer.BookingWriter` adds and extends bookings.
    """

    def live_of(self, reservation_ids: Collection[str]) -> list[Allocation]:
        """Return the live allocations of the reservations, booked or held, in id order."""
        found = self._session.execute(_LIVE_OF, {'reservation_ids': reservation_ids})
        rows: Sequence[Any] = found.all()
        # Most of what a reservation has is for one period.
        periods = functools.cache(_period)
        return [
            Allocation(
                id=number,
                reservation_id=reservation_id,
                resource_id=resource_id,
                resource_name=name,
                resource_class=resource_class,
                amount=amount,
                period=periods(start, end),
                state=_STATES[state],
            )
            for (
                number,
                reservation_id,
                resource_id,
                resource_class,
                amount,
                start,
                end,
                state,
                name,
            ) in rows
        ]

    def release(self, reservation_ids: Collection[str]) -> None:
        """Release everything that the reservations have, from now on.

        Raises the generation of each resource, since more of it is free now.
        """
        self._raise_generations(self._lock(_LOCK, {'reservation_ids': reservation_ids}))
        mine = ALLOCATIONS.c.reservation_id.in_(reservation_ids) & (ALLOCATIONS.c.live == 1)
        # An allocation in the future was never used, so it leaves no record. One that
        # has started ends now. One whose period is over ends now if it was held,
        # because it was in use until now; if it was only booked, it keeps its end.
        self._delete_rows(ALLOCATIONS, mine, ALLOCATIONS.c.start_date >= self._now)
        end = ALLOCATIONS.c.end_date
        unused = sa.or_(end > self._now, ALLOCATIONS.c.state == AllocationState.HELD.value)
        ends = sa.case((unused, sa.literal(self._now, end.type)), else_=end)
        # The order matters: on MariaDB, an assignment sees the results of those before it.
        values = ((end, ends), (ALLOCATIONS.c.state, AllocationState.RELEASED))
        self._session.execute(sa.update(ALLOCATIONS).where(mine).ordered_values(*values))

    def give_back(self, amounts: Mapping[int, int]) -> None:
        """Release some of what a reservation has, from now on.

        A released part of an allocation becomes an allocation of its own, so that the
        record shows how much a reservation had until when.

        :param amounts: units to release, by allocation id; more than the allocation
            has means all of it
        """
        query = sa.select(ALLOCATIONS).where(
            ALLOCATIONS.c.id.in_(list(amounts)), ALLOCATIONS.c.live == 1
        )
        rows = self._session.execute(query).all()
        ids = {row.resource_id for row in rows}
        self._raise_generations(self._lock(_LOCK_IDS, {'ids': sorted(ids)}))
        parts = [row for row in rows if amounts[row.id] < row.amount]
        whole = set(amounts) - {row.id for row in parts}
        if whole:
            live = (ALLOCATIONS.c.id.in_(whole), ALLOCATIONS.c.live == 1)
            values = {'state': AllocationState.RELEASED, 'end_date': self._now}
            self._update_rows(ALLOCATIONS, *live, **values)
        for row in parts:
            self._update_rows(
                ALLOCATIONS, ALLOCATIONS.c.id == row.id, amount=row.amount - amounts[row.id]
            )
        given_back = [_given_back(row, amounts[row.id], self._now) for row in parts]
        self._insert_rows(ALLOCATIONS, given_back)

    def clashes(
        self, resource_ids: Collection[int], period: Period, except_reservations: Collection[str]
    ) -> set[int]:
        """Return the resources that other reservations have or had within *period*."""
        query = (
            sa.select(ALLOCATIONS.c.resource_id)
            .where(
                ALLOCATIONS.c.resource_id.in_(resource_ids),
                # Names both values of the column: the index then leads to the period.
                ALLOCATIONS.c.live.in_((0, 1)),
                ALLOCATIONS.c.end_date > period.start,
                ALLOCATIONS.c.start_date < period.end,
                ALLOCATIONS.c.reservation_id.not_in(except_reservations),
            )
            .distinct()
        )
        return set(self._session.scalars(query))

    def is_held(self, resource_id: int) -> bool:
        """Whether a lease has some of a resource now."""
        held = ALLOCATIONS.c.state == AllocationState.HELD.value
        return bool(self._count_rows(ALLOCATIONS.c.resource_id == resource_id, held))

    def mark_held(self, reservation_ids: Collection[str]) -> None:
        """Mark the allocations as held from now on."""
        values = {'reservation_ids': reservation_ids, 'state': AllocationState.HELD}
        self._session.execute(_MARK_HELD, values)

    def lock_resources(self, reservation_ids: Collection[str]) -> None:
        """Lock these resources until the transaction ends.

        In id order, as bookings lock them::

            SELECT id FROM resources WHERE id IN (SELECT resource_id FROM allocations …)
            ORDER BY id FOR UPDATE

        and on MariaDB ``UPDATE resources SET generation = generation + 1 …``: a node
        of a Galera cluster does not see the locks of other nodes, but rolls back a
        transaction that writes a row that another node has written first.
        """
        ids = self._lock(_LOCK, {'reservation_ids': reservation_ids})
        if self._session.dialect.name in ('mysql', 'mariadb'):
            self._raise_generations(ids)

    def _lock(self, statement: sa.Select[Any], values: Mapping[str, Any]) -> Iterable[int]:
        return self._session.scalars(statement, values)

    def _raise_generations(self, locked: Iterable[int]) -> None:
        """Raise the generations of resources whose rows are locked."""
        ids = list(locked)
        if ids:
            self._session.execute(_TOUCH, {'ids': ids})

    def holders(self, reservation_ids: Collection[str]) -> list[str]:
        """Return the other reservations that still hold the resources of these.

        ::

            SELECT DISTINCT theirs.reservation_id FROM allocations mine
            JOIN allocations theirs ON theirs.resource_id = mine.resource_id
            WHERE mine.reservation_id IN (:ids) AND mine.live = 1
              AND theirs.reservation_id NOT IN (:ids)
              AND theirs.live = 1 AND theirs.state = held
        """
        return list(self._session.scalars(_HOLDERS, {'reservation_ids': reservation_ids}))

    def crowded(self, reservation_ids: Collection[str]) -> bool:
        """Whether overdue leases leave too little capacity for these reservations.

        Allocations within their period are no obstacle, because the booking counted
        them. Only those that are held beyond their end can be too much::

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
        """Return the ids of the resources for which :meth:`crowded` is true."""
        values = {'reservation_ids': reservation_ids, 'now': self._now}
        return set(self._session.scalars(_CROWDED.limit(None), values))

    def in_use(self, resource_id: int) -> bool:
        """Whether a reservation has the resource, now or later."""
        query = (
            sa.select(ALLOCATIONS.c.id)
            .where(ALLOCATIONS.c.resource_id == resource_id, ALLOCATIONS.c.live == 1)
            .limit(1)
        )
        return self._session.scalar(query) is not None

    def calendar(
        self,
        resource_type: str | None = None,
        *,
        within: tuple[int, int] | None = None,
        project_id: str | None = None,
    ) -> list[ReservedShare]:
        """Return the current and future shares of reservations in resources.

        A reservation has one share in each of its resources, with all classes.

        :param resource_type: the type of the resources, which need not be that of the
            reservations; None for every type
        :param within: the first and the last resource id; None for all
        :param project_id: leaves out things of other projects; None includes them
        """
        query = (
            sa.select(
                *ALLOCATIONS.c['resource_id', 'reservation_id'],
                *LEASES.c['id', 'project_id', 'start_date', 'end_date', 'deleted_at'],
                *ALLOCATIONS.c['resource_class', 'amount'],
            )
            .join(RESOURCES, RESOURCES.c.id == ALLOCATIONS.c.resource_id)
            .join(RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id)
            .join(LEASES, LEASES.c.id == RESERVATIONS.c.lease_id)
            .where(RESOURCES.c.deleted == 0, ALLOCATIONS.c.live == 1, things.visible(project_id))
            .order_by(ALLOCATIONS.c.resource_id, ALLOCATIONS.c.start_date)
        )
        if resource_type is not None:
            query = query.where(RESOURCES.c.resource_type == resource_type)
        if within is not None:
            query = query.where(ALLOCATIONS.c.resource_id.between(*within))
        amounts: dict[tuple[Any, ...], dict[str, int]] = {}
        for *key, resource_class, amount in self._session.execute(query):
            mine = amounts.setdefault(tuple(key), {})
            if resource_class is not None:
                mine[resource_class] = mine.get(resource_class, 0) + amount
        return [_share(key, mine) for key, mine in amounts.items()]


def _share(key: tuple[Any, ...], amounts: Mapping[str, int]) -> ReservedShare:
    resource_id, reservation_id, lease_id, project_id, start, end, held_until = key
    return ReservedShare(
        resource_id=resource_id,
        reservation_id=reservation_id,
        lease_id=lease_id,
        project_id=project_id,
        period=Period(start=start, end=end),
        amounts=amounts,
        held_until=held_until,
    )


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
