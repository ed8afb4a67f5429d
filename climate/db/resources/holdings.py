# SPDX-License-Identifier: Apache-2.0

"""Queries for the resources that reservations hold."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Collection
from collections.abc import Iterable
from typing import Any
from typing import Final

import sqlalchemy as sa

from climate.db.schema.tables import ALLOCATIONS
from climate.db.schema.tables import RESOURCES
from climate.db.statements.lists import Among
from climate.db.statements.repository import Repository
from climate.domain.holdings import HeldResource
from climate.domain.holdings import Holding
from climate.domain.holdings import MOST_SHOWN
from climate.domain.leases import Lease
from climate.domain.listed import ListedLease
from climate.domain.natural_order import sort_key

_NOTHING: Final = Holding()
# Built once, see leases.py.
_HELD = (
    sa.select(ALLOCATIONS.c.reservation_id, RESOURCES.c.id, RESOURCES.c.name)
    .distinct()
    .join(RESOURCES, RESOURCES.c.id == ALLOCATIONS.c.resource_id)
    .where(Among(ALLOCATIONS.c.reservation_id, 'reservation_ids'), ALLOCATIONS.c.live == 1)
)


def _first() -> Any:
    """Return the statement for the first resources of each reservation, with their number."""
    held = _HELD.add_columns(RESOURCES.c.sort_name).subquery('held')
    whose = held.c.reservation_id
    place = sa.func.row_number().over(partition_by=whose, order_by=(held.c.sort_name, held.c.id))
    number = sa.func.count().over(partition_by=whose)
    columns = (whose, held.c.id, held.c.name, number.label('number'), place.label('place'))
    placed = sa.select(*columns).subquery('placed')
    return (
        sa.select(placed)
        .where(placed.c.place <= sa.bindparam('most'))
        .order_by(placed.c.reservation_id, placed.c.place)
    )


_FIRST: Final = _first()


class Holdings(Repository):
    """What reservations hold now, which is known from their allocations."""

    def of(self, reservation_ids: Collection[str]) -> dict[str, Holding]:
        """Return what reservations hold, by id, without those that hold no resources."""
        held: defaultdict[str, list[HeldResource]] = defaultdict(list)
        if reservation_ids:
            rows = self._session.execute(_HELD, {'reservation_ids': list(reservation_ids)})
            for reservation_id, resource_id, name in rows:
                held[reservation_id].append(HeldResource(resource_id, name))
        return {key: holding(resources) for key, resources in held.items()}

    def first(self, reservation_ids: Collection[str], most: int) -> dict[str, Holding]:
        """Return what reservations hold, each with at most *most* of its resources.

        The others are not read: a calendar has hundreds of leases.
        """
        held: defaultdict[str, list[HeldResource]] = defaultdict(list)
        numbers: dict[str, int] = {}
        if reservation_ids:
            values = {'reservation_ids': list(reservation_ids), 'most': most}
            for key, resource_id, name, number, _ in self._session.execute(_FIRST, values):
                held[key].append(HeldResource(resource_id, name))
                numbers[key] = number
        return {key: Holding(tuple(resources), numbers[key]) for key, resources in held.items()}

    def added(self, lease: Lease) -> Lease:
        """Return a lease with what its reservations hold."""
        holdings = self.of([one.id for one in lease.reservations])
        return dataclasses.replace(
            lease,
            reservations=tuple(
                dataclasses.replace(one, holding=holdings.get(one.id, _NOTHING))
                for one in lease.reservations
            ),
        )

    def listed(self, lease: ListedLease) -> ListedLease:
        """Return a lease, as lists have it, with what its reservations hold."""
        holdings = self.of([one.id for one in lease.reservations])
        return lease._replace(
            reservations=[
                one._replace(holding=holdings.get(one.id, _NOTHING)) for one in lease.reservations
            ]
        )


def holding(resources: Iterable[HeldResource]) -> Holding:
    """Return what a reservation of these resources holds."""
    ordered = sorted(resources, key=lambda one: (sort_key(one.name), one.id))
    return Holding(tuple(ordered[:MOST_SHOWN]), len(ordered))
