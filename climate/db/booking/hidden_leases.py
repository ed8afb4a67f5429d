# SPDX-License-Identifier: Apache-2.0

"""Leases that users cannot see, which hold resources for others.

The row of such a lease is deleted as of its end. Its allocations are those of any booking. So
everything that books, verifies or searches respects it, and nothing that looks for leases finds
it.
"""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa

from climate.db.leases.reservations import SealedRows
from climate.db.resources import conditions
from climate.db.schema.tables import ALLOCATIONS
from climate.db.schema.tables import LEASES
from climate.db.schema.tables import RESERVATIONS
from climate.db.schema.tables import RESOURCES


class HiddenLeases(SealedRows):
    """Deletes rows of such leases."""

    def _release(self, ids: Collection[str]) -> None:
        """Delete leases with their allocations.

        The resources were never used, so that nothing is left to record.
        """
        mine = sa.select(RESERVATIONS.c.id).where(RESERVATIONS.c.lease_id.in_(ids))
        held = ALLOCATIONS.c.reservation_id.in_(list(self._session.scalars(mine)))
        # In id order, as bookings lock them; searches in memory follow the generations.
        booked = sa.select(ALLOCATIONS.c.resource_id).where(held)
        locked = (
            sa.select(RESOURCES.c.id)
            .where(RESOURCES.c.id.in_(booked))
            .order_by(RESOURCES.c.id)
            .with_for_update()
        )
        resources = list(self._session.scalars(locked))
        if resources:
            self._update_rows(RESOURCES, RESOURCES.c.id.in_(resources), **conditions.RAISED)
            self._delete_rows(ALLOCATIONS, held)
        self._delete_leases(ids)

    def _delete_leases(self, ids: Collection[str]) -> None:
        self._delete_rows(RESERVATIONS, RESERVATIONS.c.lease_id.in_(ids))
        self._delete_rows(LEASES, LEASES.c.id.in_(ids))
