# SPDX-License-Identifier: Apache-2.0

"""How much leases booked and used in a period, summed by the database."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from climate import exceptions
from climate.db.schema.tables import ALLOCATIONS
from climate.db.schema.tables import LEASES
from climate.db.schema.tables import RESERVATIONS
from climate.db.statements.repository import Repository
from climate.domain.leases import AllocationState
from climate.domain.lifecycles import LeaseStatus
from climate.domain.lifecycles import ReservationStatus
from climate.domain.usage import MOST_ROWS
from climate.domain.usage import RefusedAmount
from climate.domain.usage import RefusedKey
from climate.domain.usage import UsageKey
from climate.domain.usage import UsageQuery
from climate.domain.usage import UsageRow

_NOTHING: Mapping[RefusedKey, RefusedAmount] = {}


class UsageReports(Repository):
    """Reports about leases of all projects."""

    def report(
        self, query: UsageQuery, refused: Mapping[RefusedKey, RefusedAmount] = _NOTHING
    ) -> list[UsageRow]:
        """Return a row for each key and resource class, in their order.

        What a deleted lease returned early counts as booked until the end of the lease.

        ::

            SELECT <key>, resource_class, COUNT(DISTINCT lease_id),
                   SUM(amount * <booked seconds>), SUM(amount * <used seconds>), ...
            FROM leases JOIN reservations JOIN allocations
            WHERE leases.start_date < :end AND leases.end_date > :start
            GROUP BY <key>, resource_class

        :param refused: what was refused in the period
        :raises climate.exceptions.InvalidInput: if there are too many rows
        """
        used = [_usage(query.by, row) for row in self._session.execute(self._statement(query))]
        rows = _joined(query.by, used, refused)
        if len(rows) > MOST_ROWS:
            raise exceptions.InvalidInput(
                f'There are more than {MOST_ROWS} rows; select a project_id or a resource_type'
            )
        # Engines sort NULL differently.
        return sorted(rows, key=_place)

    def _statement(self, query: UsageQuery) -> sa.Select[Any]:
        keys = {
            UsageKey.PROJECT: [LEASES.c.project_id, RESERVATIONS.c.resource_type],
            UsageKey.TYPE: [RESERVATIONS.c.resource_type],
            UsageKey.CLASS: [],
        }[query.by]
        columns = [*keys, ALLOCATIONS.c.resource_class]
        conditions = [
            # What is held for an offer belongs to a lease that has never existed.
            sa.or_(LEASES.c.deleted_at.is_(None), LEASES.c.status == LeaseStatus.DELETED.value),
            LEASES.c.start_date < query.period.end,
            LEASES.c.end_date > query.period.start,
        ]
        if query.project_id is not None:
            conditions.append(LEASES.c.project_id == query.project_id)
        if query.resource_type is not None:
            conditions.append(RESERVATIONS.c.resource_type == query.resource_type)
        return (
            sa.select(*columns, sa.func.count(LEASES.c.id.distinct()), *self._sums(query))
            .select_from(
                LEASES.join(RESERVATIONS, RESERVATIONS.c.lease_id == LEASES.c.id).join(
                    ALLOCATIONS, ALLOCATIONS.c.reservation_id == RESERVATIONS.c.id
                )
            )
            .where(*conditions)
            .group_by(*columns)
            .limit(MOST_ROWS + 1)
        )

    def _sums(self, query: UsageQuery) -> list[Any]:
        """Return what is booked; of this, what is past or returned; of this, what was used."""
        start, end = _instant(query.period.start), _instant(query.period.end)
        now = _instant(min(max(self._now, query.period.start), query.period.end))
        first = _later(ALLOCATIONS.c.start_date, start)
        whole = self._amount(first, _earlier(_promised(), end))
        so_far = self._amount(first, _earlier(ALLOCATIONS.c.end_date, now))
        in_use = sa.or_(
            ALLOCATIONS.c.state == AllocationState.HELD.value,
            sa.and_(
                ALLOCATIONS.c.live == 0, RESERVATIONS.c.status != ReservationStatus.ERROR.value
            ),
        )
        return [
            sa.func.sum(whole),
            sa.func.sum(sa.case((ALLOCATIONS.c.live == 0, whole), else_=so_far)),
            sa.func.sum(sa.case((in_use, so_far), else_=0)),
        ]

    def _amount(self, start: Any, end: Any) -> Any:
        """Return units multiplied by seconds; 0 for a period that is empty."""
        dialect = self._session.dialect.name
        seconds: Any
        if dialect == 'postgresql':
            seconds = sa.extract('epoch', end.op('-')(start))
        elif dialect == 'sqlite':
            seconds = _since_epoch(end) - _since_epoch(start)
        else:
            length = sa.func.timestampdiff(sa.text('MICROSECOND'), start, end)
            seconds = length / sa.literal_column('1000000.0')
        return sa.case((end > start, ALLOCATIONS.c.amount * seconds), else_=0)


def _since_epoch(instant: Any) -> Any:
    """Return seconds on SQLite, whose Julian days would be too coarse for large amounts."""
    part = sa.func.strftime('%f', instant) - sa.func.strftime('%S', instant)
    return sa.func.strftime('%s', instant) + part


def _instant(value: Any) -> Any:
    return sa.literal(value, ALLOCATIONS.c.start_date.type)


def _later(one: Any, other: Any) -> Any:
    # GREATEST and LEAST have other names on SQLite.
    return sa.case((one > other, one), else_=other)


def _earlier(one: Any, other: Any) -> Any:
    return sa.case((one < other, one), else_=other)


def _promised() -> Any:
    """Return until when an allocation was booked.

    A deleted lease released its last allocations early. Others that were released early
    were replaced by another allocation, which counts instead.
    """
    others = ALLOCATIONS.alias('others')
    last = (
        sa.select(sa.func.max(others.c.end_date))
        .where(others.c.reservation_id == ALLOCATIONS.c.reservation_id)
        .scalar_subquery()
    )
    early = sa.and_(
        ALLOCATIONS.c.live == 0,
        sa.or_(LEASES.c.deleted_at.is_not(None), LEASES.c.status == LeaseStatus.ERROR.value),
        ALLOCATIONS.c.end_date < LEASES.c.end_date,
        ALLOCATIONS.c.end_date == last,
    )
    return sa.case((early, LEASES.c.end_date), else_=ALLOCATIONS.c.end_date)


def _place(row: UsageRow) -> tuple[str, ...]:
    return (row.project_id or '', row.resource_type or '', row.resource_class or '')


def _joined(
    by: UsageKey, rows: Iterable[UsageRow], refused: Mapping[RefusedKey, RefusedAmount]
) -> list[UsageRow]:
    """Return the rows with what was refused, and rows for what was only refused."""
    by_place = {_place(row): row for row in rows}
    for key, amount in refused.items():
        nothing = UsageRow(
            project_id=key.project_id if by is UsageKey.PROJECT else None,
            resource_type=None if by is UsageKey.CLASS else key.resource_type,
            resource_class=key.resource_class,
            leases=0,
            booked=0,
            used=0,
            unused=0,
        )
        row = by_place.get(_place(nothing), nothing)
        by_place[_place(row)] = dataclasses.replace(
            row, refusals=row.refusals + amount.requests, refused=row.refused + amount.amount
        )
    return list(by_place.values())


def _usage(by: UsageKey, row: Any) -> UsageRow:
    *keys, resource_class, leases, booked, settled, used = row
    project_id = keys[0] if by is UsageKey.PROJECT else None
    used = round(used or 0)
    return UsageRow(
        project_id=project_id,
        resource_type=keys[-1] if keys else None,
        resource_class=resource_class,
        leases=leases,
        booked=round(booked or 0),
        used=used,
        unused=max(0, round(settled or 0) - used),
    )
