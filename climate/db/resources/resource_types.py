# SPDX-License-Identifier: Apache-2.0

"""Queries of the resource types that operators declare through the API."""

from __future__ import annotations

import dataclasses
from typing import Any

import sqlalchemy as sa

from climate.db.resources import conditions
from climate.db.schema.tables import LEASES
from climate.db.schema.tables import RESERVATIONS
from climate.db.schema.tables import RESOURCE_TYPES
from climate.db.schema.tables import RESOURCES
from climate.db.statements.repository import Repository
from climate.domain.copies import picked
from climate.domain.lifecycles import ReservationStatus
from climate.domain.resource_types import Declaration
from climate.domain.resource_types import Origin
from climate.domain.resources import Inventory


class ResourceTypes(Repository):
    """Rows of ``resource_types``."""

    def find(self, name: str, *, lock: bool = False) -> Declaration | None:
        """Return the declaration of a type; None if there is none.

        :param lock: lock the row until the transaction ends
        """
        query = sa.select(RESOURCE_TYPES).where(RESOURCE_TYPES.c.name == name)
        row = self._session.execute(query.with_for_update() if lock else query).one_or_none()
        return None if row is None else _declaration(row)

    def all(self) -> list[Declaration]:
        """Return all declarations, by name."""
        rows = self._session.execute(sa.select(RESOURCE_TYPES).order_by(RESOURCE_TYPES.c.name))
        return [_declaration(row) for row in rows]

    def insert(self, declaration: Declaration) -> None:
        """Insert a declaration."""
        values = {'name': declaration.name, 'declaration': _stored(declaration)}
        self._insert_row(RESOURCE_TYPES, **values, created_at=self._now, updated_at=None)

    def update(self, declaration: Declaration) -> None:
        """Replace a declaration."""
        mine = RESOURCE_TYPES.c.name == declaration.name
        values = {'declaration': _stored(declaration), 'updated_at': self._now}
        self._update_rows(RESOURCE_TYPES, mine, **values)

    def delete(self, name: str) -> None:
        """Delete a declaration."""
        self._delete_rows(RESOURCE_TYPES, RESOURCE_TYPES.c.name == name)

    def users(self, name: str) -> str:
        """Return what uses the type: ``resources``, ``reservations``, or '' if unused.

        Ended reservations do not count.
        """
        resources = sa.select(RESOURCES.c.id).where(*conditions.of_type(name))
        if self._session.scalar(resources.limit(1)) is not None:
            return 'resources'
        reservations = (
            sa.select(RESERVATIONS.c.id)
            .join(LEASES, LEASES.c.id == RESERVATIONS.c.lease_id)
            .where(
                RESERVATIONS.c.resource_type == name,
                RESERVATIONS.c.status != ReservationStatus.DELETED,
                LEASES.c.deleted_at.is_(None),
            )
        )
        return '' if self._session.scalar(reservations.limit(1)) is None else 'reservations'


def _stored(declaration: Declaration) -> dict[str, Any]:
    return {
        **picked(declaration, 'description', 'exclusive', 'noun', 'noun_one'),
        'classes': [dataclasses.asdict(item) for item in declaration.classes],
        'announce': list(declaration.announce),
    }


def _declaration(row: Any) -> Declaration:
    stored = row.declaration
    return Declaration(
        name=row.name,
        description=stored['description'],
        exclusive=stored['exclusive'],
        noun=stored['noun'],
        noun_one=stored.get('noun_one', ''),
        classes=tuple(Inventory(**item) for item in stored['classes']),
        announce=tuple(stored['announce']),
        origin=Origin.API,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
