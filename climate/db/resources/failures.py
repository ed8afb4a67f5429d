# SPDX-License-Identifier: Apache-2.0

"""Queries of failed resources."""

from __future__ import annotations

import datetime
from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from climate.db.resources import conditions
from climate.db.resources.properties import ATTRIBUTE
from climate.db.resources.shortages import SHORT
from climate.db.resources.shortages import Shortages
from climate.db.schema.tables import PROPERTIES
from climate.db.schema.tables import RESOURCES
from climate.db.statements.repository import Repository
from climate.domain.health import MonitoredResource

_SERVICE = 'service_name'


class Failures(Repository):
    """The column ``failed_at`` of ``resources``."""

    def watched(self, resource_type: str) -> list[MonitoredResource]:
        """Return all resources of a type, with only what the health check needs.

        ::

            SELECT r.id, r.name, r.failed_at, r.unusable, p.value FROM resources r
            LEFT JOIN properties p ON p.resource_id = r.id AND p.name = 'service_name' …
            WHERE r.resource_type = :type AND r.deleted = 0 ORDER BY r.id
        """
        service = sa.and_(
            PROPERTIES.c.resource_id == RESOURCES.c.id,
            PROPERTIES.c.name == _SERVICE,
            PROPERTIES.c.kind == ATTRIBUTE,
        )
        query = (
            sa.select(
                RESOURCES.c.id,
                RESOURCES.c.name,
                RESOURCES.c.failed_at,
                RESOURCES.c.unusable,
                RESOURCES.c.id.in_(SHORT).label('short'),
                PROPERTIES.c.value,
            )
            .join(PROPERTIES, service, isouter=True)
            .where(*conditions.of_type(resource_type))
            .order_by(RESOURCES.c.id)
        )
        return [
            MonitoredResource(
                resource_id=row.id,
                name=row.name,
                service_host=row.value or row.name,
                failed=row.failed_at is not None and not row.short,
                unusable=bool(row.unusable),
            )
            for row in self._session.execute(query)
        ]

    def fail(self, ids: Collection[int]) -> set[int]:
        """Mark resources as failed; return those that were not marked before.

        What they are short of no longer matters, since everything has to leave them.
        """
        short = Shortages(self._session, self._now).clear(ids) if ids else set()
        return short | self._change(ids, RESOURCES.c.failed_at.is_(None), self._now)

    def recover(self, ids: Collection[int], seen_at: datetime.datetime) -> set[int]:
        """Mark resources as working; return those that were marked as failed.

        :param seen_at: when they were seen to work (aware UTC); a resource that has
            failed since then stays failed, and so does one that leases cannot use for
            another reason
        """
        earlier = RESOURCES.c.failed_at < sa.literal(seen_at, RESOURCES.c.failed_at.type)
        usable = sa.or_(RESOURCES.c.unusable.is_(None), RESOURCES.c.unusable.is_(False))
        return self._change(ids, sa.and_(earlier, usable), None)

    def set_degraded(self, resource_id: int, reason: str, *, unusable: bool, works: bool) -> None:
        """Record how the cloud has changed a resource since it was registered.

        :param reason: '' if it is as it was registered
        :param unusable: whether leases cannot use it for that reason
        :param works: whether it can be used otherwise; if not, a resource that was
            unusable stays failed until it is seen to work
        """
        failed_at: Any = RESOURCES.c.failed_at
        if unusable:
            failed_at = sa.func.coalesce(
                RESOURCES.c.failed_at, sa.literal(self._now, RESOURCES.c.failed_at.type)
            )
        elif works:
            failed_at = sa.case(
                (RESOURCES.c.unusable.is_(True), sa.null()), else_=RESOURCES.c.failed_at
            )
        # In this order: MariaDB assigns the columns one after the other.
        values = {'degraded': reason or None, 'failed_at': failed_at, 'unusable': unusable}
        mine = RESOURCES.c.id == resource_id
        self._update_rows(RESOURCES, mine, **values, **conditions.RAISED)

    def _change(self, ids: Collection[int], condition: Any, value: Any) -> set[int]:
        if not ids:
            return set()
        # In id order, as bookings lock them. A booking under way notices the new
        # generation and chooses again.
        query = (
            sa.select(RESOURCES.c.id)
            .where(RESOURCES.c.id.in_(ids), condition)
            .order_by(RESOURCES.c.id)
            .with_for_update()
        )
        changed = set(self._session.scalars(query))
        if changed:
            mine = RESOURCES.c.id.in_(changed)
            self._update_rows(RESOURCES, mine, failed_at=value, **conditions.RAISED)
        return changed
