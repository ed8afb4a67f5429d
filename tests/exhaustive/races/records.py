# SPDX-License-Identifier: Apache-2.0

"""An independent check of the database, which adds up its rows.

It reads the rows with plain SQL and uses no code of the service, so that an error in the
service cannot hide itself.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime
from collections.abc import Iterable
from collections.abc import Mapping

import sqlalchemy as sa

Instant = datetime.datetime

_ALLOCATIONS = sa.text(
    """
    SELECT a.resource_id, a.resource_class, a.amount, a.start_date, a.end_date, a.state,
        a.reservation_id, r.lease_id, l.name AS lease_name
    FROM allocations a JOIN reservations r ON r.id = a.reservation_id
        JOIN leases l ON l.id = r.lease_id
    WHERE a.state <> 'released' ORDER BY a.id
    """
).columns(start_date=sa.DateTime(), end_date=sa.DateTime())
_INVENTORIES = sa.text(
    'SELECT resource_id, resource_class, total, reserved, allocation_ratio FROM inventories'
)
_RESOURCES = sa.text('SELECT id, name, reservable, disabled, deleted FROM resources')
_MAINTENANCES = sa.text(
    'SELECT resource_id, start_date, end_date FROM maintenances ORDER BY id'
).columns(start_date=sa.DateTime(), end_date=sa.DateTime())
_LEASES = sa.text(
    'SELECT id, name, start_date, end_date FROM leases WHERE deleted_at IS NULL ORDER BY id'
).columns(start_date=sa.DateTime(), end_date=sa.DateTime())


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A live allocation in the database; times are naive UTC."""

    resource_id: int
    resource_class: str | None
    amount: int
    start: Instant
    end: Instant
    state: str
    reservation_id: str
    lease_id: str
    lease_name: str

    def meets(self, start: Instant, end: Instant) -> bool:
        """Whether the allocation overlaps a period."""
        return self.start < end and start < self.end


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ResourceRow:
    """A resource in the database."""

    name: str
    reservable: bool
    disabled: bool
    deleted: bool


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Period:
    """The period of a maintenance or of a lease (naive UTC)."""

    start: Instant
    end: Instant


@dataclasses.dataclass(frozen=True, kw_only=True)
class Records:
    """The bookings in the database, and everything that limits them.

    :ivar rows: the live allocations
    :ivar capacity: units by resource and class
    :ivar maintenances: periods by resource
    :ivar leases: name and period by id
    """

    rows: tuple[Row, ...]
    capacity: Mapping[tuple[int, str], int]
    resources: Mapping[int, ResourceRow]
    maintenances: Mapping[int, tuple[Period, ...]]
    leases: Mapping[str, tuple[str, Period]]

    def of(self, lease_name: str) -> list[Row]:
        """Return the allocations of all leases with a name."""
        return [row for row in self.rows if row.lease_name == lease_name]

    def named(self, lease_name: str) -> list[str]:
        """Return the ids of all leases with a name."""
        return [key for key, (name, _) in self.leases.items() if name == lease_name]

    def within(self, start: Instant, end: Instant) -> Records:
        """Return the records, with only the allocations that overlap a period."""
        return dataclasses.replace(
            self, rows=tuple(row for row in self.rows if row.meets(start, end))
        )


def read(connection: sa.Connection) -> Records:
    """Read the records."""
    maintenances: dict[int, list[Period]] = collections.defaultdict(list)
    for row in connection.execute(_MAINTENANCES):
        maintenances[row.resource_id].append(Period(start=row.start_date, end=row.end_date))
    return Records(
        rows=tuple(
            Row(
                resource_id=row.resource_id,
                resource_class=row.resource_class,
                amount=row.amount,
                start=row.start_date,
                end=row.end_date,
                state=row.state,
                reservation_id=row.reservation_id,
                lease_id=row.lease_id,
                lease_name=row.lease_name,
            )
            for row in connection.execute(_ALLOCATIONS)
        ),
        capacity={
            (row.resource_id, row.resource_class): int(
                (row.total - row.reserved) * row.allocation_ratio
            )
            for row in connection.execute(_INVENTORIES)
        },
        resources={
            row.id: ResourceRow(
                name=row.name,
                reservable=bool(row.reservable),
                disabled=bool(row.disabled),
                deleted=bool(row.deleted),
            )
            for row in connection.execute(_RESOURCES)
        },
        maintenances={key: tuple(periods) for key, periods in maintenances.items()},
        leases={
            row.id: (row.name, Period(start=row.start_date, end=row.end_date))
            for row in connection.execute(_LEASES)
        },
    )


def overbooked(records: Records) -> list[str]:
    """Return a text for each resource with more allocations than capacity.

    It sweeps over the instants of each resource in order. At an instant, allocations that
    end are removed before those that begin are added.
    """
    by_resource: dict[int, list[Row]] = collections.defaultdict(list)
    for row in records.rows:
        by_resource[row.resource_id].append(row)
    found = []
    for resource_id, rows in sorted(by_resource.items()):
        resource = records.resources[resource_id]
        if resource.deleted or not resource.reservable:
            found.append(f'{resource.name} is gone, and {_text(rows)} is on it')
        wrong = _sweep(resource_id, rows, records.capacity)
        if wrong:
            found.append(f'{resource.name}: {wrong}')
    return found


def _sweep(resource_id: int, rows: Iterable[Row], capacity: Mapping[tuple[int, str], int]) -> str:
    """Describe the first overbooking of a resource; '' if there is none."""
    rows = [row for row in rows if row.start < row.end]
    changes = [(row.end, 0, row) for row in rows] + [(row.start, 1, row) for row in rows]
    there: list[Row] = []
    for instant, begins, row in sorted(changes, key=lambda change: change[:2]):
        if not begins:
            there.remove(row)
            continue
        there.append(row)
        if len(there) > 1 and any(each.resource_class is None for each in there):
            return f'{instant}: taken as a whole, and not alone: {_text(there)}'
        name = row.resource_class
        if name is None:
            continue
        used = sum(each.amount for each in there if each.resource_class == name)
        most = capacity.get((resource_id, name), 0)
        if used > most:
            return f'{instant}: {used} of {most} {name}: {_text(there)}'
    return ''


def _text(rows: Iterable[Row]) -> str:
    return ', '.join(
        f'{row.lease_name} ({row.amount} {row.resource_class or "whole"},'
        f' {row.start:%m-%d %H:%M} to {row.end:%m-%d %H:%M})'
        for row in rows
    )
