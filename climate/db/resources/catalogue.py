# SPDX-License-Identifier: Apache-2.0

"""Queries of the list of resources that operators manage, of every type."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import sqlalchemy as sa

from climate import exceptions
from climate.db.resources import conditions
from climate.db.resources import things
from climate.db.schema.tables import ALLOCATIONS
from climate.db.schema.tables import RESOURCES
from climate.db.statements.repository import Repository
from climate.domain.periods import Period
from climate.domain.requests import ResourceQuery


class Catalogue(Repository):
    """Rows of ``resources``, of any type."""

    def type_of(self, resource_id: int, project_id: str | None = None) -> str:
        """Return the type of a resource.

        :param project_id: the project that must be able to see it; None for any
        :raises climate.exceptions.NotFound: if it does not exist
        """
        query = sa.select(RESOURCES.c.resource_type).where(
            RESOURCES.c.id == resource_id, RESOURCES.c.deleted == 0, things.visible(project_id)
        )
        name = self._session.scalar(query)
        if name is None:
            raise exceptions.NotFound(object={'resource_id': str(resource_id)})
        return str(name)

    def names(self, resource_type: str | None, project_id: str | None = None) -> dict[int, str]:
        """Return the names of all resources by id, in id order.

        :param resource_type: only of this type; None for every type
        :param project_id: leaves out things of other projects; None includes them
        """
        query = sa.select(RESOURCES.c.id, RESOURCES.c.name).where(
            RESOURCES.c.deleted == 0, things.visible(project_id)
        )
        if resource_type is not None:
            query = query.where(RESOURCES.c.resource_type == resource_type)
        return {row.id: row.name for row in self._session.execute(query.order_by(RESOURCES.c.id))}

    def page(self, query: ResourceQuery) -> tuple[list[int], bool]:
        """Return the ids that match *query*, in order, and whether more follow.

        :raises climate.exceptions.InvalidInput: if the marker does not exist
        """
        seen = things.visible(query.project_id)
        matches = [RESOURCES.c.deleted == 0, seen]
        if query.resource_type is not None:
            matches.append(RESOURCES.c.resource_type == query.resource_type)
        if query.name is not None:
            matches.append(RESOURCES.c.name == query.name)
        keys = [(RESOURCES.c[name], direction == 'desc') for name, direction in query.sort]
        if all(name != 'id' for name, _ in query.sort):
            keys.append((RESOURCES.c.id, False))
        if query.marker is not None:
            matches.append(self._after(query.marker, keys, seen))
        statement = (
            sa.select(RESOURCES.c.id)
            .where(*matches)
            .order_by(*(key.desc() if down else key for key, down in keys))
            .limit(query.limit + 1)
        )
        ids = list(self._session.scalars(statement))
        return ids[: query.limit], len(ids) > query.limit

    def _after(self, marker: int, keys: list[tuple[Any, bool]], seen: Any) -> Any:
        """Return the condition that a resource follows the marker in order of *keys*.

        :param seen: the condition that the caller may see a resource
        """
        row = self._session.execute(
            sa.select(*(key for key, _ in keys)).where(RESOURCES.c.id == marker, seen)
        ).one_or_none()
        if row is None:
            raise exceptions.InvalidInput(f"marker: there is no resource '{marker}'")
        alternatives = []
        for place, (key, down) in enumerate(keys):
            same = [keys[i][0] == row[i] for i in range(place)]
            further = key < row[place] if down else key > row[place]
            alternatives.append(sa.and_(*same, further))
        return sa.or_(*alternatives)

    def set_disabled(self, resource_id: int, disabled: bool) -> None:
        """Exclude a resource from new bookings, or include it again."""
        mine = RESOURCES.c.id == resource_id
        self._update_rows(RESOURCES, mine, disabled=disabled, **conditions.RAISED)

    def uses(self, resource_id: int) -> dict[str, list[tuple[Period, int]]]:
        """Return current and future periods and booked units, by resource class."""
        query = sa.select(
            ALLOCATIONS.c.resource_class,
            ALLOCATIONS.c.amount,
            ALLOCATIONS.c.start_date,
            ALLOCATIONS.c.end_date,
        ).where(
            ALLOCATIONS.c.resource_id == resource_id,
            ALLOCATIONS.c.live == 1,
            ALLOCATIONS.c.resource_class.is_not(None),
        )
        periods: defaultdict[str, list[tuple[Period, int]]] = defaultdict(list)
        for resource_class, amount, start, end in self._session.execute(query):
            periods[resource_class].append((Period(start=start, end=end), amount))
        return dict(periods)
