# SPDX-License-Identifier: Apache-2.0

"""The expected placements of leases, and an independent check that leases have them.

Like :mod:`tests.exhaustive.races.records`, it reads the rows with plain SQL and uses no
code of the service. What was requested is known from the test, not from the database.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

_MEMBERS = sa.text(
    """
    SELECT l.name AS lease, l.start_date AS lease_start, l.end_date AS lease_end,
        r.position, a.resource_id, a.resource_class, a.amount, a.start_date, a.end_date
    FROM leases l JOIN reservations r ON r.lease_id = l.id
        LEFT JOIN allocations a ON a.reservation_id = r.id AND a.state <> 'released'
    WHERE l.deleted_at IS NULL
    """
).columns(
    lease_start=sa.DateTime(),
    lease_end=sa.DateTime(),
    start_date=sa.DateTime(),
    end_date=sa.DateTime(),
)

Where = dict[int, int]
"""The number of members by resource id."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class PlacedRequest:
    """A lease with a placement.

    :ivar bodies: its reservations, as in a request
    :ivar scarce: the resource class of which each member of a slot has *units*
    """

    name: str
    bodies: tuple[Mapping[str, Any], ...]
    scarce: str
    units: int

    def wanted(self, position: int) -> int:
        """Return the number of members of a reservation."""
        body = self.bodies[position]
        return int(body.get('amount') or body['min'])


@dataclasses.dataclass(frozen=True, kw_only=True)
class PlacedLease:
    """A lease in the database: where its members are, by position of the reservation.

    :ivar dates: those of the lease
    :ivar other_dates: those of allocations that differ
    """

    where: Mapping[int, Where]
    dates: tuple[Any, Any]
    other_dates: frozenset[tuple[Any, Any]] = frozenset()


def read(connection: sa.Connection, scarce: str, units: int) -> dict[str, list[PlacedLease]]:
    """Return the leases by name.

    :param scarce: the resource class of which each member of a slot has *units*
    """
    found: dict[tuple[str, Any, Any], dict[int, Where]] = {}
    other: dict[tuple[str, Any, Any], set[tuple[Any, Any]]] = collections.defaultdict(set)
    for row in connection.execute(_MEMBERS):
        key = row.lease, row.lease_start, row.lease_end
        members = found.setdefault(key, {}).setdefault(row.position, {})
        if row.resource_id is None:
            continue
        if (row.start_date, row.end_date) != key[1:]:
            other[key].add((row.start_date, row.end_date))
        if row.resource_class is None:
            members[row.resource_id] = members.get(row.resource_id, 0) + 1
        elif row.resource_class == scarce:
            members[row.resource_id] = members.get(row.resource_id, 0) + row.amount // units
    leases: dict[str, list[PlacedLease]] = {}
    for key, where in found.items():
        one = PlacedLease(where=where, dates=key[1:], other_dates=frozenset(other[key]))
        leases.setdefault(key[0], []).append(one)
    return leases


Labels = Mapping[str, Mapping[int, str]]
"""The value of each property by resource id."""


def violations(request: PlacedRequest, lease: PlacedLease, labels: Labels) -> Iterator[str]:
    """Yield which conditions of a placement a lease does not meet."""
    if lease.other_dates:
        yield f'allocations from {lease.other_dates} in a lease of {lease.dates}'
    for position, body in enumerate(request.bodies):
        stated, mine = body.get('placement', {}), lease.where.get(position, {})
        yield from _apart(position, stated, mine, lease)
        yield from _alike(position, stated, mine, lease, labels)
        for one in stated.get('spread', ()):
            column = labels[one['property']]
            counts = collections.Counter(dict.fromkeys(column.values(), 0))
            for key, count in mine.items():
                counts[column[key]] += count
            if max(counts.values()) - min(counts.values()) > one.get('max_skew', 1):
                yield f'reservation {position} is spread over {one["property"]} as {dict(counts)}'


def _apart(
    position: int, stated: Mapping[str, Any], mine: Where, lease: PlacedLease
) -> Iterator[str]:
    for other in stated.get('apart_from', ()):
        if shared := mine.keys() & lease.where.get(other, {}).keys():
            yield f'reservations {position} and {other} share {shared}'


def _alike(
    position: int, stated: Mapping[str, Any], mine: Where, lease: PlacedLease, labels: Labels
) -> Iterator[str]:
    for name in stated.get('same', ()):
        if len(values := {labels[name][key] for key in mine}) > 1:
            yield f'reservation {position} has several values of {name}: {values}'
    for one in stated.get('same_as', ()):
        theirs, column = lease.where.get(one['reservation'], {}), labels[one['property']]
        if len(values := {column[key] for key in (*mine, *theirs)}) > 1:
            yield f'reservations {position} and {one["reservation"]} have {values}'
