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

"""SQL of the resources, and the search for free ones."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Collection
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from climate import exceptions
from climate.db import matching
from climate.db import models
from climate.db import occupancy
from climate.db.matching import Match
from climate.db.properties import Properties
from climate.db.repository import Repository
from climate.domain.periods import Period
from climate.domain.resources import Candidate
from climate.domain.resources import Inventory
from climate.domain.resources import Resource

_table = models.Base.metadata.tables['resources']
_inventories = models.Base.metadata.tables['inventories']

_NOTHING: Mapping[str, int] = {}
# Made once, see leases.py.
_IDS: sa.BindParameter[Any] = sa.bindparam('ids', expanding=True)
_WITH_IDS = sa.select(_table).where(_table.c.id.in_(_IDS)).order_by(_table.c.id)
_INVENTORIES = sa.select(_inventories).where(_inventories.c.resource_id.in_(_IDS))


class Resources(Repository):
    """Rows of ``resources``, with their inventories and properties."""

    def insert(self, resource: Resource) -> int:
        """Write a new resource with all that belongs to it; return its id."""
        result: Any = self._session.execute(
            sa.insert(_table).values(
                resource_type=resource.resource_type,
                name=resource.name,
                parent_id=resource.parent_id,
                project_id=resource.project_id,
                reservable=resource.reservable,
                disabled=resource.disabled,
                generation=0,
                deleted=0,
                created_at=self._now,
                updated_at=None,
            )
        )
        resource_id = int(result.inserted_primary_key[0])
        if resource.inventories:
            self._session.execute(
                sa.insert(_inventories),
                [_inventory_values(resource_id, item) for item in resource.inventories],
            )
        Properties(self._session, self._now).insert(resource_id, resource)
        return resource_id

    def get(self, resource_type: str, resource_id: int, *, lock: bool = False) -> Resource:
        """Return a resource.

        :raises climate.exceptions.NotFound: if there is none of this type and id
        """
        query = sa.select(_table).where(
            _table.c.id == resource_id,
            _table.c.resource_type == resource_type,
            _table.c.deleted == 0,
        )
        found = self._whole(self._session.execute(query.with_for_update() if lock else query).all())
        if not found:
            # Clients know a host by its host_id, a floating IP by its floatingip_id.
            word = resource_type.rpartition(':')[2]
            raise exceptions.NotFound(object={f'{word}_id': str(resource_id)})
        return found[0]

    def with_ids(self, ids: Collection[int]) -> list[Resource]:
        """Return the resources with these ids, in id order; those gone are left out."""
        return self._whole(self._session.execute(_WITH_IDS, {'ids': list(ids)}).all())

    def named(self, resource_type: str, name: str) -> Resource | None:
        """Return the resource of this name, None if there is none."""
        query = sa.select(_table).where(
            _table.c.resource_type == resource_type, _table.c.name == name, _table.c.deleted == 0
        )
        found = self._whole(self._session.execute(query).all())
        return found[0] if found else None

    def of_type(self, resource_type: str) -> list[Resource]:
        """Return all resources of a type, in id order."""
        query = (
            sa.select(_table)
            .where(_table.c.resource_type == resource_type, _table.c.deleted == 0)
            .order_by(_table.c.id)
        )
        scope = sa.select(_table.c.id).where(
            _table.c.resource_type == resource_type, _table.c.deleted == 0
        )
        return self._whole(self._session.execute(query).all(), scope)

    def names_of_type(self, resource_type: str) -> dict[int, str]:
        """Return the names of all resources of a type by id, in id order."""
        query = (
            sa.select(_table.c.id, _table.c.name)
            .where(_table.c.resource_type == resource_type, _table.c.deleted == 0)
            .order_by(_table.c.id)
        )
        return {row.id: row.name for row in self._session.execute(query)}

    def set_reservable(self, resource_id: int, reservable: bool) -> None:
        """Open a resource to new bookings, or close it."""
        self._session.execute(
            sa.update(_table)
            .where(_table.c.id == resource_id)
            .values(reservable=reservable, generation=_table.c.generation + 1)
        )

    def touch(self, resource_id: int) -> None:
        """Say that what belongs to the resource has changed."""
        self._session.execute(
            sa.update(_table)
            .where(_table.c.id == resource_id)
            .values(updated_at=self._now, generation=_table.c.generation + 1)
        )

    def delete(self, resource_id: int) -> None:
        """Hide the resource; its name can be used again."""
        self._session.execute(
            sa.update(_table)
            .where(_table.c.id == resource_id)
            .values(deleted=_table.c.id, updated_at=self._now)
        )

    def free(
        self,
        match: Match,
        period: Period,
        *,
        except_ids: Collection[int] = (),
        only_ids: Collection[int] | None = None,
        first_id: int = 0,
        before_id: int | None = None,
        limit: int,
    ) -> list[Candidate]:
        """Return resources that match and are free for the whole *period*.

        One statement, whatever the number of resources and allocations::

            SELECT r.id, r.name, r.generation,
                   (SELECT end_date … before the period), (SELECT start_date … after it)
            FROM resources r
            WHERE r.resource_type = :type AND … AND r.id >= :first_id AND r.id < :before_id
              AND NOT EXISTS (SELECT 1 FROM allocations a
                              WHERE a.resource_id = r.id AND a.live = 1
                                AND a.end_date > :start AND a.start_date < :end)
            ORDER BY r.id LIMIT :limit

        :param first_id: begin here, so that searchers do not all choose among
            the same few
        :param before_id: end before this one; None goes to the end
        """
        query = (
            sa.select(
                _table.c.id,
                _table.c.name,
                _table.c.generation,
                occupancy.last_end(period.start, self._now),
                occupancy.first_start(period.end),
            )
            .where(
                *match.conditions(),
                matching.not_out(period),
                _table.c.id >= first_id,
                sa.not_(occupancy.in_the_way(period, self._now)),
            )
            .order_by(_table.c.id)
            .limit(limit)
        )
        if except_ids:
            query = query.where(_table.c.id.not_in(except_ids))
        if before_id is not None:
            query = query.where(_table.c.id < before_id)
        if only_ids is not None:
            query = query.where(_table.c.id.in_(only_ids))
        return [
            Candidate(
                resource_id=row[0],
                name=row[1],
                generation=row[2],
                busy_until=row[3],
                busy_from=row[4],
            )
            for row in self._session.execute(query)
        ]

    def pivot(self, resource_type: str, share: float) -> int:
        """Return the id that lies *share* (0 to 1) of the way through the type's ids."""
        query = sa.select(sa.func.min(_table.c.id), sa.func.max(_table.c.id)).where(
            _table.c.resource_type == resource_type,
            _table.c.deleted == 0,
            _table.c.reservable.is_(True),
            _table.c.disabled.is_(False),
        )
        low, high = self._session.execute(query).one()
        return 0 if low is None else low + int((high - low + 1) * share)

    def matching(
        self,
        match: Match,
        ids: Collection[int],
        *,
        demand: Mapping[str, int] = _NOTHING,
        bookable: bool = False,
    ) -> set[int]:
        """Return those of the *ids* that match, whatever they are booked for.

        :param demand: units by resource class that each must be able to give at once
        :param bookable: only what is open to new bookings
        """
        query = sa.select(_table.c.id).where(
            *match.conditions(bookable=bookable),
            *matching.offering(demand),
            _table.c.id.in_(ids),
        )
        return set(self._session.scalars(query))

    def reasons(self, match: Match, period: Period) -> tuple[int, int, datetime.datetime | None]:
        """Explain a refusal.

        ::

            SELECT count(*), count(ends), min(ends)
            FROM (SELECT (SELECT end_date FROM allocations a
                          WHERE a.resource_id = r.id AND … ORDER BY end_date LIMIT 1) AS ends
                  FROM resources r WHERE r.resource_type = :type AND …)

        :returns: how many resources match, how many of them are free for the
            whole period, and when the first allocation in the way ends
        """
        ends = (
            sa.select(occupancy.blocker_end(period, self._now).label('ends'))
            .where(*match.conditions(), matching.not_out(period))
            .subquery()
        )
        matched, busy, first = self._session.execute(
            sa.select(
                sa.func.count(), sa.func.count(ends.c.ends), sa.func.min(ends.c.ends)
            ).select_from(ends)
        ).one()
        return int(matched), int(matched - busy), first

    def generations(self, ids: Collection[int]) -> dict[int, int]:
        """Return the generation of each of the resources."""
        query = sa.select(_table.c.id, _table.c.generation).where(_table.c.id.in_(ids))
        return {row.id: row.generation for row in self._session.execute(query)}

    def _whole(self, found: Any, scope: Any = None) -> list[Resource]:
        if not found:
            return []
        ids = [row.id for row in found] if scope is None else scope
        inventories: dict[int, list[Inventory]] = defaultdict(list)
        query, values = _INVENTORIES, {'ids': ids}
        if scope is not None:
            query, values = sa.select(_inventories).where(_inventories.c.resource_id.in_(ids)), {}
        for row in self._session.execute(query, values):
            inventories[row.resource_id].append(_inventory(row))
        properties = Properties(self._session, self._now).of_resources(ids)
        return [
            Resource(
                id=row.id,
                resource_type=row.resource_type,
                name=row.name,
                parent_id=row.parent_id,
                project_id=row.project_id,
                reservable=bool(row.reservable),
                disabled=bool(row.disabled),
                generation=row.generation,
                failed_at=row.failed_at,
                attributes=properties[row.id].attributes,
                capabilities=properties[row.id].capabilities,
                traits=frozenset(properties[row.id].traits),
                inventories=tuple(inventories[row.id]),
                created_at=row.created_at,
                updated_at=row.updated_at,
            )
            for row in found
        ]


def _inventory_values(resource_id: int, item: Inventory) -> dict[str, Any]:
    return {
        'resource_id': resource_id,
        'resource_class': item.resource_class,
        'total': item.total,
        'reserved': item.reserved,
        'min_unit': item.min_unit,
        'max_unit': item.max_unit,
        'step_size': item.step_size,
        'allocation_ratio': item.allocation_ratio,
    }


def _inventory(row: Any) -> Inventory:
    return Inventory(
        resource_class=row.resource_class,
        total=row.total,
        reserved=row.reserved,
        min_unit=row.min_unit,
        max_unit=row.max_unit,
        step_size=row.step_size,
        allocation_ratio=row.allocation_ratio,
    )
