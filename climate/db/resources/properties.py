# SPDX-License-Identifier: Apache-2.0

"""Queries of properties, and of the registry of their names."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from climate import exceptions
from climate.allocation.requirements import as_number
from climate.db.resources import conditions
from climate.db.schema import types
from climate.db.schema.tables import PROPERTIES
from climate.db.schema.tables import PROPERTY_KEYS
from climate.db.schema.tables import RESOURCES
from climate.db.statements.repository import Repository
from climate.domain import copies
from climate.domain.resources import PropertyKey
from climate.domain.resources import Resource
from climate.exceptions import texts

ATTRIBUTE = 'attribute'
"""A property that the cloud reports; a number is read back as a number."""
CAPABILITY = 'capability'
"""A property that an operator sets; always text."""
TRAIT = 'trait'
"""A trait; it has no value."""
LEAD_TIME = 'lead_time'
"""The capability with the time that a resource needs to get ready, in seconds."""


def _reported(resource_id: int, resource: Resource) -> list[dict[str, Any]]:
    """Return the rows of what the cloud reports: attributes and traits."""
    rows = [
        _values(
            resource_id,
            ATTRIBUTE,
            name,
            texts.storable(str(value), types.LARGEST_TEXT),
            numeric=isinstance(value, int),
        )
        for name, value in resource.attributes.items()
        if value is not None
    ]
    return rows + [_values(resource_id, TRAIT, name, '') for name in sorted(resource.traits)]


class Properties(Repository):
    """Rows of ``properties`` and ``property_keys``."""

    def insert(self, resource_id: int, resource: Resource) -> None:
        """Insert the properties of *resource*, under its new id."""
        values = _reported(resource_id, resource)
        values += [
            _values(resource_id, CAPABILITY, name, value)
            for name, value in resource.capabilities.items()
        ]
        self._insert_rows(PROPERTIES, values)
        self.register(resource.resource_type, resource.capabilities)

    def replace_reported(self, resource_id: int, new: Resource) -> None:
        """Replace the attributes and traits of a resource by those of *new*."""
        self._delete_rows(
            PROPERTIES, PROPERTIES.c.resource_id == resource_id, PROPERTIES.c.kind != CAPABILITY
        )
        self._insert_rows(PROPERTIES, _reported(resource_id, new))

    def set_capability(self, resource_id: int, name: str, value: str | None) -> None:
        """Set an operator's value on a resource; None removes it."""
        self._delete_rows(
            PROPERTIES,
            PROPERTIES.c.resource_id == resource_id,
            PROPERTIES.c.name == name,
            PROPERTIES.c.kind == CAPABILITY,
        )
        if value is not None:
            self._insert_row(PROPERTIES, **_values(resource_id, CAPABILITY, name, value))

    def register(self, resource_type: str, names: Iterable[str]) -> None:
        """Add names to the registry as public, unless it already has them."""
        wanted = set(names)
        if not wanted:
            return
        known = set(
            self._session.scalars(_registered(resource_type, PROPERTY_KEYS.c.name.in_(wanted)))
        )
        new = [
            {
                'id': str(uuid.uuid4()),
                'resource_type': resource_type,
                'name': name,
                'private': False,
                'created_at': self._now,
                'updated_at': None,
            }
            for name in sorted(wanted - known)
        ]
        self._insert_rows(PROPERTY_KEYS, new)

    def private_names(self, resource_type: str) -> set[str]:
        """Return the names that only privileged callers may see."""
        return set(
            self._session.scalars(_registered(resource_type, PROPERTY_KEYS.c.private.is_(True)))
        )

    def existing(self, resource_type: str, names: Iterable[str]) -> set[str]:
        """Return those names of properties that a resource has; traits do not count."""
        query = _of_type(resource_type, PROPERTIES.c.name).where(
            PROPERTIES.c.kind != TRAIT, PROPERTIES.c.name.in_(sorted(names))
        )
        return set(self._session.scalars(query.distinct()))

    def keys(self, resource_type: str) -> list[PropertyKey]:
        """Return the names in use with their distinct values, sorted by name."""
        query = sa.select(PROPERTY_KEYS).where(PROPERTY_KEYS.c.resource_type == resource_type)
        rows = self._session.execute(query.order_by(PROPERTY_KEYS.c.name)).all()
        values: dict[str, list[str]] = defaultdict(list)
        distinct = (
            _of_type(resource_type, PROPERTIES.c.name, PROPERTIES.c.value)
            .where(PROPERTIES.c.kind == CAPABILITY)
            .distinct()
            .order_by(PROPERTIES.c.name, PROPERTIES.c.value)
        )
        for name, value in self._session.execute(distinct):
            values[name].append(value)
        return [_key(row, tuple(values[row.name])) for row in rows if row.name in values]

    def of_resources(self, resource_type: str, name: str) -> dict[int, str]:
        """Return the values that operators set for a property, by resource id."""
        query = _of_type(resource_type, PROPERTIES.c.resource_id, PROPERTIES.c.value).where(
            PROPERTIES.c.kind == CAPABILITY, PROPERTIES.c.name == name
        )
        return {row.resource_id: row.value for row in self._session.execute(query)}

    def set_private(self, resource_type: str, name: str, private: bool) -> PropertyKey:
        """Hide a name from unprivileged callers, or show it.

        :raises climate.exceptions.NotFound: if no resource has or had it
        """
        where = (PROPERTY_KEYS.c.resource_type == resource_type, PROPERTY_KEYS.c.name == name)
        self._update_rows(PROPERTY_KEYS, *where, private=private, updated_at=self._now)
        row = self._session.execute(sa.select(PROPERTY_KEYS).where(*where)).one_or_none()
        if row is None:
            raise exceptions.NotFound(object={'resource_property': name})
        return _key(row, ())


def _values(
    resource_id: int, kind: str, name: str, value: str, *, numeric: bool | None = None
) -> dict[str, Any]:
    # An attribute that is text stays text even if it looks like a number.
    number = None if numeric is False else as_number(value)
    return {
        'resource_id': resource_id,
        'kind': kind,
        'name': name,
        'value': value,
        'number': number,
    }


def _of_type(resource_type: str, *columns: Any) -> sa.Select[Any]:
    """Return the query of columns of the properties that resources of a type have."""
    return (
        sa.select(*columns)
        .join(RESOURCES, RESOURCES.c.id == PROPERTIES.c.resource_id)
        .where(*conditions.of_type(resource_type))
    )


def _registered(resource_type: str, condition: Any) -> sa.Select[Any]:
    """Return the query of some names in the registry."""
    return sa.select(PROPERTY_KEYS.c.name).where(
        PROPERTY_KEYS.c.resource_type == resource_type, condition
    )


def _key(row: Any, values: tuple[str, ...]) -> PropertyKey:
    return copies.converted(PropertyKey, row, private=bool(row.private), values=values)
