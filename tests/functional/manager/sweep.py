# SPDX-License-Identifier: Apache-2.0

"""Says by brute force whether more is used than there is.

Nothing of the code that books is used: rows are read as they are, and every
instant at which anything begins or ends is looked at.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime
import itertools
from collections.abc import Iterable
from collections.abc import Mapping

import sqlalchemy as sa
from sqlalchemy import engine

Instant = datetime.datetime

# What was given back late ends when it was; promised it was until its lease ended.
_ROWS = sa.text(
    'SELECT a.resource_id, a.resource_class, a.amount, a.start_date,'
    " CASE WHEN a.state = 'released' AND a.end_date > l.end_date"
    ' THEN l.end_date ELSE a.end_date END AS end_date,'
    ' a.state, a.reservation_id, r.lease_id FROM allocations a'
    ' JOIN reservations r ON r.id = a.reservation_id'
    ' JOIN leases l ON l.id = r.lease_id ORDER BY a.id'
).columns(start_date=sa.DateTime(), end_date=sa.DateTime())
_CAPACITY = sa.text(
    'SELECT resource_id, resource_class, total, reserved, allocation_ratio FROM inventories'
)


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """An allocation as it is written; its fields are in the order of the statement."""

    resource_id: int
    resource_class: str | None
    amount: int
    start: Instant
    end: Instant
    state: str
    reservation_id: str
    lease_id: str

    @property
    def live(self) -> bool:
        """Whether it was not given back."""
        return self.state != 'released'


def rows(connection: engine.Connection) -> list[Row]:
    """Return all allocations, live or not."""
    return [Row(*row) for row in connection.execute(_ROWS)]


def capacities(connection: engine.Connection) -> dict[tuple[int, str], int]:
    """Return the units of each class that each resource has to give."""
    return {
        (row.resource_id, row.resource_class): int(
            (row.total - row.reserved) * row.allocation_ratio
        )
        for row in connection.execute(_CAPACITY)
    }


def trouble(
    found: Iterable[Row], capacity: Mapping[tuple[int, str], int], cleaning: datetime.timedelta
) -> str | None:
    """Return what is wrong with some allocations, None if nothing is."""
    by_resource: dict[int, list[Row]] = collections.defaultdict(list)
    for row in found:
        by_resource[row.resource_id].append(row)
    for resource_id, items in by_resource.items():
        live = [item for item in items if item.live]
        for instant in {item.start for item in live} | {item.end for item in live}:
            there = [item for item in live if item.start <= instant < item.end]
            wrong = _crowd(resource_id, there, capacity)
            if wrong:
                return f'{instant}: {wrong}'
        wrong = _unclean(items, cleaning)
        if wrong:
            return wrong
    return None


def in_hand(found: Iterable[Row], capacity: Mapping[tuple[int, str], int]) -> str | None:
    """Return what is wrong with what leases hold just now, whatever their periods say."""
    by_resource: dict[int, list[Row]] = collections.defaultdict(list)
    for row in found:
        if row.state == 'held':
            by_resource[row.resource_id].append(row)
    for resource_id, items in by_resource.items():
        wrong = _crowd(resource_id, items, capacity)
        if wrong:
            return f'in hand: {wrong}'
    return None


def _crowd(
    resource_id: int, there: list[Row], capacity: Mapping[tuple[int, str], int]
) -> str | None:
    """Look at one resource at one instant."""
    if len(there) > 1 and any(item.resource_class is None for item in there):
        return f'{resource_id} is taken as a whole, and not alone: {there}'
    used: collections.Counter[str] = collections.Counter()
    for item in there:
        if item.resource_class is not None:
            used[item.resource_class] += item.amount
    for name, amount in used.items():
        if amount > capacity.get((resource_id, name), 0):
            return f'{amount} {name} of {resource_id} are used: {there}'
    return None


def _unclean(items: list[Row], cleaning: datetime.timedelta) -> str | None:
    """Look for too short a pause before or after a whole resource is used."""
    for one, other in itertools.combinations(items, 2):
        if one.lease_id == other.lease_id or not (one.live or other.live):
            continue
        if one.resource_class is not None and other.resource_class is not None:
            continue
        if one.end + cleaning > other.start and other.end + cleaning > one.start:
            return f'no time to clean between {one} and {other}'
    return None
