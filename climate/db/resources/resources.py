# SPDX-License-Identifier: Apache-2.0

"""Queries of resources."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Collection
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from climate import exceptions
from climate.db.resources import conditions
from climate.db.resources.properties import ATTRIBUTE
from climate.db.resources.properties import CAPABILITY
from climate.db.resources.properties import Properties
from climate.db.schema.tables import INVENTORIES
from climate.db.schema.tables import PROPERTIES
from climate.db.schema.tables import RESOURCES
from climate.db.statements.lists import Among
from climate.db.statements.repository import Repository
from climate.domain import copies
from climate.domain.natural_order import sort_key
from climate.domain.resources import Inventory
from climate.domain.resources import Resource

# Built once, see leases.py.
_WITH_IDS = sa.select(RESOURCES).where(Among(RESOURCES.c.id, 'ids')).order_by(RESOURCES.c.id)
_PARTS = {
    table: sa.select(table).where(Among(table.c.resource_id, 'ids'))
    for table in (INVENTORIES, PROPERTIES)
}


@dataclasses.dataclass(slots=True)
class _Properties:
    """The properties of one resource."""

    attributes: dict[str, str | int | None] = dataclasses.field(default_factory=dict)
    capabilities: dict[str, str] = dataclasses.field(default_factory=dict)
    traits: set[str] = dataclasses.field(default_factory=set)


class Resources(Repository):
    """Rows of ``resources``, with their inventories and properties."""

    def insert(self, resource: Resource) -> int:
        """Insert a resource with its inventories and properties; return its id."""
        values = {
            **copies.picked(resource, 'resource_type', 'name', 'parent_id', 'project_id'),
            **copies.picked(resource, 'reservable', 'disabled'),
            'sort_name': sort_key(resource.name),
            'generation': 0,
            'deleted': 0,
            'created_at': self._now,
            'updated_at': None,
        }
        result: Any = self._session.execute(sa.insert(RESOURCES), values)
        resource_id = int(result.inserted_primary_key[0])
        inventories = [dataclasses.asdict(item) for item in resource.inventories]
        self._insert_rows(INVENTORIES, [{'resource_id': resource_id, **one} for one in inventories])
        Properties(self._session, self._now).insert(resource_id, resource)
        return resource_id

    def get(self, resource_type: str, resource_id: int, *, lock: bool = False) -> Resource:
        """Return a resource.

        :raises climate.exceptions.NotFound: if no resource has this type and id
        """
        query = sa.select(RESOURCES).where(
            RESOURCES.c.id == resource_id, *conditions.of_type(resource_type)
        )
        resources = self._whole(
            self._session.execute(query.with_for_update() if lock else query).all()
        )
        if not resources:
            # Clients expect host_id for a host, floatingip_id for a floating IP.
            word = resource_type.rpartition(':')[2]
            raise exceptions.NotFound(object={f'{word}_id': str(resource_id)})
        return resources[0]

    def with_ids(self, ids: Collection[int]) -> list[Resource]:
        """Return the resources with these ids, in id order; unknown ids are ignored."""
        return self._whole(self._session.execute(_WITH_IDS, {'ids': list(ids)}).all())

    def named(self, resource_type: str, name: str) -> Resource | None:
        """Return the resource with this name; None if there is none."""
        query = sa.select(RESOURCES).where(
            *conditions.of_type(resource_type), RESOURCES.c.name == name
        )
        resources = self._whole(self._session.execute(query).all())
        return resources[0] if resources else None

    def with_attribute(self, resource_type: str, name: str, value: str) -> list[Resource]:
        """Return the resources of a type with this value of an attribute, in id order."""
        query = (
            sa.select(RESOURCES)
            .join(PROPERTIES, PROPERTIES.c.resource_id == RESOURCES.c.id)
            .where(
                *conditions.of_type(resource_type),
                PROPERTIES.c.kind == ATTRIBUTE,
                PROPERTIES.c.name == name,
                PROPERTIES.c.value == value,
            )
            .order_by(RESOURCES.c.id)
        )
        return self._whole(self._session.execute(query).all())

    def of_type(self, resource_type: str) -> list[Resource]:
        """Return all resources of a type, in id order."""
        query = sa.select(RESOURCES).where(*conditions.of_type(resource_type))
        scope = query.with_only_columns(RESOURCES.c.id)
        rows = self._session.execute(query.order_by(RESOURCES.c.id)).all()
        return self._whole(rows, scope)

    def names_of_type(self, resource_type: str) -> dict[int, str]:
        """Return the names of all resources of a type by id, in id order."""
        query = (
            sa.select(RESOURCES.c.id, RESOURCES.c.name)
            .where(*conditions.of_type(resource_type))
            .order_by(RESOURCES.c.id)
        )
        return {row.id: row.name for row in self._session.execute(query)}

    def set_reported(self, resource_id: int, new: Resource) -> None:
        """Replace what the cloud reports about a resource, but not its inventories."""
        Properties(self._session, self._now).replace_reported(resource_id, new)
        self.touch(resource_id)

    def rename(self, resource_id: int, renamed: Resource) -> None:
        """Give a resource another name, with the attributes that it has under that name."""
        values = {'name': renamed.name, 'sort_name': sort_key(renamed.name)}
        self._update_rows(RESOURCES, RESOURCES.c.id == resource_id, **values)
        self.set_reported(resource_id, renamed)

    def set_reservable(self, resource_id: int, reservable: bool) -> None:
        """Open a resource to new bookings, or close it."""
        self._change(resource_id, reservable=reservable)

    def touch(self, resource_id: int) -> None:
        """Record a change of something that belongs to the resource."""
        self._change(resource_id, updated_at=self._now)

    def delete(self, resource_id: int) -> None:
        """Mark the resource as deleted; its name can be used again."""
        self._change(resource_id, deleted=RESOURCES.c.id, updated_at=self._now)

    def _change(self, resource_id: int, **values: Any) -> None:
        mine = RESOURCES.c.id == resource_id
        self._update_rows(RESOURCES, mine, **values, **conditions.RAISED)

    def generations(self, ids: Collection[int]) -> dict[int, int]:
        """Return the generations of the resources, by id."""
        query = sa.select(RESOURCES.c.id, RESOURCES.c.generation).where(RESOURCES.c.id.in_(ids))
        return {row.id: row.generation for row in self._session.execute(query)}

    def generation_sums(self) -> dict[str, tuple[int, int]]:
        """Return, by resource type, what differs after any change of its resources or bookings."""
        query = sa.select(
            RESOURCES.c.resource_type,
            sa.func.sum(RESOURCES.c.id + 1),
            sa.func.sum(RESOURCES.c.generation),
        )
        query = query.where(RESOURCES.c.deleted == 0).group_by(RESOURCES.c.resource_type)
        return {name: (int(ids), int(sums)) for name, ids, sums in self._session.execute(query)}

    def _whole(self, rows: Any, scope: Any = None) -> list[Resource]:
        if not rows:
            return []
        ids = [row.id for row in rows] if scope is None else scope
        inventories: dict[int, list[Inventory]] = defaultdict(list)
        for row in self._parts(INVENTORIES, ids):
            inventories[row.resource_id].append(inventory(row))
        properties: dict[int, _Properties] = defaultdict(_Properties)
        for row in self._parts(PROPERTIES, ids):
            _add(properties[row.resource_id], row)
        return [
            copies.converted(
                Resource,
                row,
                reservable=bool(row.reservable),
                disabled=bool(row.disabled),
                degraded=row.degraded or '',
                unusable=bool(row.unusable),
                attributes=properties[row.id].attributes,
                capabilities=properties[row.id].capabilities,
                traits=frozenset(properties[row.id].traits),
                inventories=tuple(inventories[row.id]),
            )
            for row in rows
        ]

    def _parts(self, table: sa.Table, ids: Collection[int] | sa.Select[Any]) -> Sequence[Any]:
        if isinstance(ids, sa.Select):
            query = sa.select(table).where(table.c.resource_id.in_(ids))
            return self._session.execute(query).all()
        return self._session.execute(_PARTS[table], {'ids': ids}).all()


def _add(mine: _Properties, row: Any) -> None:
    if row.kind == ATTRIBUTE:
        mine.attributes[row.name] = row.value if row.number is None else int(row.number)
    elif row.kind == CAPABILITY:
        mine.capabilities[row.name] = row.value
    else:
        mine.traits.add(row.name)


def inventory(row: Any) -> Inventory:
    """Return a row of ``inventories``."""
    return copies.converted(Inventory, row)
