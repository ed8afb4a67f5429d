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

"""Finds double bookings, by adding up all live allocations.

For databases from before the rules of :mod:`climate.db.guards`.
"""

from __future__ import annotations

import dataclasses
import datetime
import itertools
from collections import Counter
from collections import defaultdict
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from climate.domain.periods import Period

# Plain SQL, because the models describe the newest tables, not those before an upgrade.
_ROWS = sa.text("""
    SELECT a.id, a.resource_id, a.resource_class, a.amount, a.start_date, a.end_date,
           a.reservation_id, r.lease_id, s.name
    FROM allocations a
    JOIN reservations r ON r.id = a.reservation_id
    JOIN resources s ON s.id = a.resource_id
    WHERE a.live = 1 ORDER BY a.resource_id, a.start_date, a.id
""").columns(start_date=sa.DateTime(), end_date=sa.DateTime())
_ROOM = sa.text("""
    SELECT resource_class, resource_id, (total - reserved) * allocation_ratio AS units
    FROM inventories
""")
_SHOWN = 20


@dataclasses.dataclass(frozen=True, kw_only=True)
class OverbookedAllocation:
    """An allocation that conflicts with others.

    :ivar resource_class: None if it has the whole resource
    :ivar period: of the allocation, aware UTC
    """

    allocation_id: int
    lease_id: str
    reservation_id: str
    resource_id: int
    resource_name: str
    resource_class: str | None
    period: Period

    def __str__(self) -> str:
        what = self.resource_class or 'all'
        return (
            f'lease {self.lease_id}, reservation {self.reservation_id}: {what} of resource '
            f'{self.resource_id} ({self.resource_name}) from {self.period.start:%Y-%m-%d %H:%M:%S}'
            f' to {self.period.end:%Y-%m-%d %H:%M:%S}'
        )


def find(connection: sa.Connection) -> list[OverbookedAllocation]:
    """Return the live allocations that conflict with others.

    Reads every live allocation once, one resource after the other.
    """
    room: dict[tuple[int, str], float] = {
        (row.resource_id, row.resource_class): row.units for row in connection.execute(_ROOM)
    }
    found: list[OverbookedAllocation] = []
    rows = connection.execute(_ROWS)
    for _, group in itertools.groupby(rows, key=lambda row: row.resource_id):
        mine = list(group)
        wrong = {row.id for row in (*_whole_overlaps(mine), *_excess(mine, room))}
        found += [_overbooked(row) for row in mine if row.id in wrong]
    return found


def complaint(found: Sequence[OverbookedAllocation]) -> str:
    """Return a message for operators that lists the allocations."""
    lines = [
        f'{len(found)} live allocations conflict with others:',
        *(f'  {each}' for each in found[:_SHOWN]),
    ]
    if len(found) > _SHOWN:
        lines.append(f'  and {len(found) - _SHOWN} more')
    lines.append(
        'Use the previous release to delete or move leases until none conflict; '
        'the tables have not been changed.'
    )
    return '\n'.join(lines)


def _whole_overlaps(rows: Iterable[Any]) -> Iterator[Any]:
    """Yield allocations of the whole resource that overlap others, and those others.

    :param rows: in the order of their starts
    """
    open_: list[Any] = []
    for row in rows:
        open_ = [other for other in open_ if other.end_date > row.start_date]
        for other in open_:
            overlaps = row.end_date > row.start_date
            if overlaps and None in (row.resource_class, other.resource_class):
                yield row
                yield other
        open_.append(row)


def _excess(rows: Iterable[Any], room: Mapping[tuple[int, str], float]) -> Iterator[Any]:
    """Yield allocations that use a class at an instant at which it is overbooked."""
    steps = defaultdict(list)
    for row in rows:
        if row.resource_class is not None and row.amount > 0:
            # Ends come before starts.
            steps[row.resource_class].append((row.start_date, 1, row.id, row))
            steps[row.resource_class].append((row.end_date, 0, row.id, row))
    for resource_class, mine in steps.items():
        level: Counter[int] = Counter()
        there: dict[int, Any] = {}
        for _, starts, key, row in sorted(mine, key=lambda step: step[:3]):
            if not starts:
                there.pop(key, None)
                level.pop(key, None)
                continue
            if row.end_date <= row.start_date:
                continue
            there[key] = row
            level[key] = row.amount
            if level.total() > room.get((row.resource_id, resource_class), 0):
                yield from there.values()


def _overbooked(row: Any) -> OverbookedAllocation:
    return OverbookedAllocation(
        allocation_id=row.id,
        lease_id=row.lease_id,
        reservation_id=row.reservation_id,
        resource_id=row.resource_id,
        resource_name=row.name,
        resource_class=row.resource_class,
        period=Period(start=_aware(row.start_date), end=_aware(row.end_date)),
    )


def _aware(value: datetime.datetime) -> datetime.datetime:
    return value.replace(tzinfo=datetime.UTC)
