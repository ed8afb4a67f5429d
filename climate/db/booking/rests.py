# SPDX-License-Identifier: Apache-2.0

"""What is held of leases that are in several slices and have to end in time.

All slices after the present one are allocations of one hidden lease, see ``hidden_leases``. Its
id, and those of its reservations, follow from those of the lease:
:func:`climate.domain.leases.rest_id`.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from climate.db.booking.hidden_leases import HiddenLeases
from climate.db.leases import lease_options
from climate.db.leases.inconsistencies import IS_REST
from climate.db.schema.tables import ALLOCATIONS
from climate.db.schema.tables import LEASES
from climate.db.schema.tables import RESERVATIONS
from climate.db.schema.tables import RESOURCES
from climate.domain.leases import Allocation
from climate.domain.leases import rest_id
from climate.domain.periods import Period


class Rests(HiddenLeases):
    """Rows of hidden leases, for the later slices of others."""

    def whose(self, resource_types: Collection[str], period: Period, limit: int) -> list[str]:
        """Return the ids of the leases of which something is held in a period.

        :param resource_types: of which they have some
        """
        there: tuple[Any, ...] = (
            ALLOCATIONS.c.live == 1,
            ALLOCATIONS.c.start_date < period.end,
            ALLOCATIONS.c.end_date > period.start,
            RESOURCES.c.resource_type.in_(resource_types),
        )
        mine = (
            sa.select(ALLOCATIONS.c.id)
            .join(RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id)
            .join(RESOURCES, RESOURCES.c.id == ALLOCATIONS.c.resource_id)
            .where(RESERVATIONS.c.lease_id == LEASES.c.id, *there)
        )
        query = (
            sa.select(LEASES.c.options)
            .where(IS_REST, mine.exists())
            .order_by(LEASES.c.created_at.desc(), LEASES.c.id)
            .limit(limit)
        )
        found = [lease_options.loaded(row) for row in self._session.scalars(query)]
        return [one['rest_of'] for one in found]

    def forget(self, lease_id: str) -> None:
        """Delete the hidden lease of a lease, which has no allocations."""
        self._delete_leases([rest_id(lease_id)])

    def release(self, lease_id: str) -> None:
        """Give up what is held of a lease."""
        self._release([rest_id(lease_id)])

    def shorten(self, lease_id: str, period: Period) -> None:
        """Have what is held of a lease begin later."""
        self._update_rows(LEASES, LEASES.c.id == rest_id(lease_id), start_date=period.start)

    def take(self, some: Iterable[Allocation], whose: dict[str, str]) -> None:
        """Give allocations that are held of a lease to itself.

        :param whose: the ids of its reservations, by those of the hidden lease
        """
        for old, new in whose.items():
            ids = [item.id for item in some if item.reservation_id == old]
            if ids:
                self._update_rows(ALLOCATIONS, ALLOCATIONS.c.id.in_(ids), reservation_id=new)
