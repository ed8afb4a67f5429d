# SPDX-License-Identifier: Apache-2.0

"""Queries for the members of reservations that have a placement."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping

import sqlalchemy as sa

from climate.db.resources.allocations import Allocations
from climate.db.resources.properties import CAPABILITY
from climate.db.resources.properties import TRAIT
from climate.db.schema.tables import PROPERTIES
from climate.db.statements.repository import Repository
from climate.domain.leases import Allocation
from climate.domain.placements import MemberPlacement
from climate.domain.placements import PlacedMembers


class Placements(Repository):
    """Where members are."""

    def members(
        self,
        placed: Mapping[str, MemberPlacement],
        allocations: Collection[Allocation] | None = None,
    ) -> dict[str, tuple[PlacedMembers, ...]]:
        """Return where the members of reservations are, those placed first first.

        :param placed: by reservation id
        :param allocations: that they have or get; None for those in the database
        """
        if allocations is None:
            allocations = Allocations(self._session, self._now).live_of(list(placed))
        allocations = [item for item in allocations if item.reservation_id in placed]
        names = {name for one in placed.values() for name in one.properties}
        values = self._values({item.resource_id for item in allocations}, names)
        amounts: dict[str, dict[tuple[int, str], dict[str, int]]] = {key: {} for key in placed}
        for item in allocations:
            key = item.resource_id, item.resource_name
            mine = amounts[item.reservation_id].setdefault(key, {})
            if item.resource_class is not None:
                mine[item.resource_class] = mine.get(item.resource_class, 0) + item.amount
        return {
            reservation_id: tuple(
                PlacedMembers(
                    resource_id=resource_id,
                    resource_name=name,
                    amounts=mine,
                    properties={
                        each: value
                        for each in sorted(placed[reservation_id].properties)
                        if (value := values.get((resource_id, each))) is not None
                    },
                )
                for (resource_id, name), mine in kinds.items()
            )
            for reservation_id, kinds in amounts.items()
        }

    def _values(
        self, resource_ids: Collection[int], names: Collection[str]
    ) -> dict[tuple[int, str], str]:
        if not resource_ids or not names:
            return {}
        query = sa.select(
            PROPERTIES.c.resource_id, PROPERTIES.c.name, PROPERTIES.c.value, PROPERTIES.c.kind
        ).where(
            PROPERTIES.c.resource_id.in_(resource_ids),
            PROPERTIES.c.name.in_(names),
            PROPERTIES.c.kind != TRAIT,
        )
        rows = self._session.execute(query).all()
        # The value of an operator wins over that of the cloud.
        rows = sorted(rows, key=lambda row: row.kind == CAPABILITY)
        return {(row.resource_id, row.name): row.value for row in rows}
