# SPDX-License-Identifier: Apache-2.0

"""Queries of shortages: resources of which more is booked than the cloud has by now.

Nothing new is booked on such a resource, because it counts as failed. It is not out of
service, though: only what no longer fits has to leave it.
"""

from __future__ import annotations

from collections import Counter
from collections import defaultdict
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping

import sqlalchemy as sa

from climate.allocation import surplus
from climate.allocation.surplus import Claim
from climate.db.schema.tables import ALLOCATIONS
from climate.db.schema.tables import LEASES
from climate.db.schema.tables import RESERVATIONS
from climate.db.schema.tables import SHORTAGES
from climate.db.statements.repository import Repository
from climate.domain.lifecycles import LeaseStatus
from climate.domain.periods import Period

SHORT = sa.select(SHORTAGES.c.resource_id)
"""The ids of the resources."""


class Shortages(Repository):
    """Rows of ``shortages``."""

    def record(self, resource_id: int, room: Mapping[str, float]) -> None:
        """Record what a resource has of the classes of which more is booked.

        :param room: units by resource class; empty if everything that is booked fits
        """
        self.clear([resource_id])
        rows = [
            {'resource_id': resource_id, 'resource_class': name, 'capacity': units}
            for name, units in room.items()
        ]
        self._insert_rows(SHORTAGES, rows)

    def of(self, ids: Collection[int]) -> set[int]:
        """Return which of some resources are short of capacity."""
        return set(self._session.scalars(SHORT.where(SHORTAGES.c.resource_id.in_(list(ids)))))

    def clear(self, ids: Collection[int]) -> set[int]:
        """Forget shortages, because the resources are out of service; return which had one."""
        short = self.of(ids)
        if short:
            mine = SHORTAGES.c.resource_id.in_(short)
            self._delete_rows(SHORTAGES, mine)
        return short

    def surplus(self) -> list[tuple[str, int]]:
        """Return the reservations that no longer fit, each with the id of the resource."""
        room: dict[int, dict[str, float]] = defaultdict(dict)
        for row in self._session.execute(sa.select(SHORTAGES)):
            room[row.resource_id][row.resource_class] = row.capacity
        claims: dict[int, list[Claim]] = defaultdict(list)
        for resource_id, claim in self._claims(room) if room else ():
            claims[resource_id].append(claim)
        return [
            (claim.reservation_id, resource_id)
            for resource_id in sorted(claims)
            for claim in surplus.surplus(claims[resource_id], room[resource_id])
        ]

    def _claims(self, ids: Collection[int]) -> Iterator[tuple[int, Claim]]:
        """Yield what reservations still have of resources.

        ::

            SELECT a.resource_id, a.reservation_id, a.resource_class, a.amount, …, l.status
            FROM allocations a JOIN reservations r ON … JOIN leases l ON …
            WHERE a.resource_id IN (…) AND a.live = 1 AND a.resource_class IS NOT NULL
              AND a.end_date > :now
        """
        query = (
            sa.select(ALLOCATIONS, LEASES.c.status)
            .join(RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id)
            .join(LEASES, LEASES.c.id == RESERVATIONS.c.lease_id)
            .where(
                ALLOCATIONS.c.resource_id.in_(list(ids)),
                ALLOCATIONS.c.live == 1,
                ALLOCATIONS.c.resource_class.is_not(None),
                ALLOCATIONS.c.end_date > self._now,
            )
        )
        amounts: dict[tuple[int, str, Period, bool], Counter[str]] = defaultdict(Counter)
        for row in self._session.execute(query):
            period = Period(start=row.start_date, end=row.end_date)
            active = row.status != LeaseStatus.PENDING.value
            key = (row.resource_id, row.reservation_id, period, active)
            amounts[key][row.resource_class] += row.amount
        for (resource_id, reservation_id, period, active), units in amounts.items():
            yield (
                resource_id,
                Claim(reservation_id=reservation_id, active=active, period=period, amounts=units),
            )
