# SPDX-License-Identifier: Apache-2.0

"""Queries of reservations."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from climate.db.encryption.vault import Vault
from climate.db.engine.prepared import prepared
from climate.db.leases.placements import Placements
from climate.db.schema.tables import ALLOCATIONS
from climate.db.schema.tables import RESERVATIONS
from climate.db.statements import inserts
from climate.db.statements.lists import Among
from climate.db.statements.repository import Repository
from climate.domain import drafts
from climate.domain.leases import Allocation
from climate.domain.leases import Reservation
from climate.domain.lifecycles import ReservationStatus
from climate.domain.placements import dumped
from climate.domain.placements import loaded
from climate.domain.placements import STORED

VAULT = 'vault'
"""Key of the vault in ``Connection.info``; :class:`climate.db.transactions.store.Store` sets it."""


# Built once, see leases.py.
# In the order in which rows are unpacked: a row takes longer to look up a name than to
# yield all its values.
_COLUMNS = (
    *RESERVATIONS.c['id', 'lease_id', 'position', 'resource_type', 'status', 'request', 'facts'],
    *RESERVATIONS.c['missing_resources', 'resources_changed', 'part_of'],
    *RESERVATIONS.c['created_at', 'updated_at'],
)
_INSERT = prepared(sa.insert(RESERVATIONS))
_UPDATE = sa.update(RESERVATIONS).where(RESERVATIONS.c.id == sa.bindparam('row_id'))
# Faster than calls of the enumeration, in long lists.
_STATUSES = {status.value: status for status in ReservationStatus}
_OF_LEASES = (
    sa.select(*_COLUMNS)
    .where(Among(RESERVATIONS.c.lease_id, 'lease_ids'))
    .order_by(RESERVATIONS.c.position)
)


class SealedRows(Repository):
    """Rows with columns that are encrypted."""

    @property
    def _vault(self) -> Vault:
        vault: Vault = self._session.info[VAULT]
        return vault


class Reservations(SealedRows):
    """Rows of ``reservations``."""

    def insert(self, new: Iterable[Reservation]) -> None:
        """Insert reservations, in one statement."""
        values = [
            {
                'id': reservation.id,
                'lease_id': reservation.lease_id,
                'position': reservation.position,
                'resource_type': reservation.resource_type,
                'status': reservation.status,
                'request': _stored(self._vault.seal(reservation.request), reservation),
                'facts': dict(reservation.facts),
                'missing_resources': reservation.missing_resources,
                'resources_changed': reservation.resources_changed,
                'part_of': reservation.part_of,
                'created_at': self._now,
                'updated_at': None,
            }
            for reservation in new
        ]
        if values:
            inserts.insert(self._session, _INSERT, values)

    def of_leases(self, lease_ids: Collection[str]) -> list[Reservation]:
        """Return the reservations of the leases, in the order of the requests."""
        rows = self._session.execute(_OF_LEASES, {'lease_ids': lease_ids})
        read = [self._reservation(row) for row in rows.all()]
        if all(item.placement is None for item in read):
            return read
        return list(self.with_members(read, None))

    def with_members(
        self, reservations: Collection[Reservation], allocations: Collection[Allocation] | None
    ) -> tuple[Reservation, ...]:
        """Return reservations with where their members are, if they have a placement.

        :param allocations: that they have or get; None for those in the database
        """
        placed = {item.id: item.placement for item in reservations if item.placement is not None}
        members = Placements(self._session, self._now).members(placed, allocations)
        return tuple(
            dataclasses.replace(item, placed=members[item.id]) if item.id in placed else item
            for item in reservations
        )

    def _reservation(self, row: Any) -> Reservation:
        (
            reservation_id,
            lease_id,
            position,
            resource_type,
            status,
            request,
            facts,
            missing_resources,
            resources_changed,
            part_of,
            created_at,
            updated_at,
        ) = row
        placement = request.get(STORED)
        if placement is not None:
            request = {key: value for key, value in request.items() if key != STORED}
        # Only drafts have secrets.
        draft = drafts.DRAFT in request
        return Reservation(
            id=reservation_id,
            lease_id=lease_id,
            position=position,
            resource_type=resource_type,
            status=_STATUSES[status],
            request=self._vault.open(request) if draft else request,
            facts=facts,
            missing_resources=bool(missing_resources),
            resources_changed=bool(resources_changed),
            part_of=part_of,
            placement=None if placement is None else loaded(placement),
            created_at=created_at,
            updated_at=updated_at,
        )

    def exists(self, reservation_id: str) -> bool:
        """Whether a reservation has or had this id."""
        query = sa.select(RESERVATIONS.c.id).where(RESERVATIONS.c.id == reservation_id)
        return self._session.scalar(query) is not None

    def update(self, reservation: Reservation) -> None:
        """Update the columns that may change; an ended reservation keeps no secrets."""
        self._update(reservation, {**_plain(reservation), 'request': self._request(reservation)})

    def update_from(self, old: Reservation, reservation: Reservation) -> None:
        """Update only the columns in which a reservation differs from *old*, which is stored."""
        before = _plain(old)
        values = {key: value for key, value in _plain(reservation).items() if value != before[key]}
        same = old.request == reservation.request and old.placement == reservation.placement
        if not same or reservation.status is ReservationStatus.DELETED:
            values['request'] = self._request(reservation)
        self._update(reservation, values)

    def _update(self, reservation: Reservation, values: dict[str, Any]) -> None:
        row = {'row_id': reservation.id, **values, 'updated_at': self._now}
        self._session.execute(_UPDATE, row)

    def _request(self, reservation: Reservation) -> dict[str, Any]:
        over = reservation.status is ReservationStatus.DELETED
        keep = drafts.hidden if over else self._vault.seal
        return _stored(keep(reservation.request), reservation)

    def required_of_resource(self, resource_id: int) -> list[str]:
        """Return the requirements of current and future reservations of a resource.

        A property that a placement compares is written as in a requirement.
        """
        query = (
            sa.select(RESERVATIONS.c.request)
            .join(ALLOCATIONS, ALLOCATIONS.c.reservation_id == RESERVATIONS.c.id)
            .where(ALLOCATIONS.c.resource_id == resource_id, ALLOCATIONS.c.live == 1)
        )
        requests = self._session.scalars(query).all()
        compared = {
            name
            for request in requests
            if STORED in request
            for name in loaded(request[STORED]).properties
        }
        texts = [str(request.get('resource_properties') or '') for request in requests]
        return [*texts, *(f'"${name}"' for name in compared)]


def _plain(reservation: Reservation) -> dict[str, Any]:
    """Return the columns that may change and that are stored as they are."""
    return {
        'status': reservation.status,
        'facts': dict(reservation.facts),
        'missing_resources': reservation.missing_resources,
        'resources_changed': reservation.resources_changed,
    }


def _stored(request: Mapping[str, Any], reservation: Reservation) -> dict[str, Any]:
    """Return a request with the placement of the reservation."""
    if reservation.placement is None:
        return dict(request)
    return {**request, STORED: dumped(reservation.placement)}
