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

"""Queries of reservations."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from climate.db.repository import Repository
from climate.db.tables import ALLOCATIONS
from climate.db.tables import RESERVATIONS
from climate.db.vault import Vault
from climate.domain import drafts
from climate.domain.leases import Reservation
from climate.domain.lifecycles import ReservationStatus

VAULT = 'vault'
"""Key of the vault in ``Session.info``; :class:`climate.db.store.Store` sets it."""


# Built once, see leases.py.
_UPDATE = sa.update(RESERVATIONS).where(RESERVATIONS.c.id == sa.bindparam('row_id'))
_OF_LEASES = (
    sa.select(RESERVATIONS)
    .where(RESERVATIONS.c.lease_id.in_(sa.bindparam('lease_ids', expanding=True)))
    .order_by(RESERVATIONS.c.position)
)


class Reservations(Repository):
    """Rows of ``reservations``."""

    @property
    def _vault(self) -> Vault:
        vault: Vault = self._session.info[VAULT]
        return vault

    def insert(self, new: Iterable[Reservation]) -> None:
        """Insert reservations, in one statement."""
        values = [
            {
                'id': reservation.id,
                'lease_id': reservation.lease_id,
                'position': reservation.position,
                'resource_type': reservation.resource_type,
                'status': reservation.status,
                'request': self._vault.seal(reservation.request),
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
            self._session.execute(sa.insert(RESERVATIONS), values)

    def of_leases(self, lease_ids: Collection[str] | sa.Select[Any]) -> list[Reservation]:
        """Return the reservations of the leases, in the order of the requests.

        :param lease_ids: ids, or a SELECT of ids
        """
        if isinstance(lease_ids, sa.Select):
            query = sa.select(RESERVATIONS).where(RESERVATIONS.c.lease_id.in_(lease_ids))
            found = self._session.execute(query.order_by(RESERVATIONS.c.position))
        else:
            found = self._session.execute(_OF_LEASES, {'lease_ids': lease_ids})
        return [self._reservation(row) for row in found.all()]

    def _reservation(self, row: Any) -> Reservation:
        # Only drafts have secrets.
        draft = drafts.DRAFT in row.request
        return Reservation(
            id=row.id,
            lease_id=row.lease_id,
            position=row.position,
            resource_type=row.resource_type,
            status=ReservationStatus(row.status),
            request=self._vault.open(row.request) if draft else row.request,
            facts=row.facts,
            missing_resources=bool(row.missing_resources),
            resources_changed=bool(row.resources_changed),
            part_of=row.part_of,
            created_at=row.created_at,
            updated_at=row.updated_at,
        )

    def exists(self, reservation_id: str) -> bool:
        """Whether a reservation has or had this id."""
        query = sa.select(RESERVATIONS.c.id).where(RESERVATIONS.c.id == reservation_id)
        return self._session.scalar(query) is not None

    def update(self, reservation: Reservation) -> None:
        """Update the columns that may change; an ended reservation keeps no secrets."""
        over = reservation.status is ReservationStatus.DELETED
        keep = drafts.hidden if over else self._vault.seal
        self._session.connection().execute(
            _UPDATE,
            {
                'row_id': reservation.id,
                'status': reservation.status,
                'request': keep(reservation.request),
                'facts': dict(reservation.facts),
                'missing_resources': reservation.missing_resources,
                'resources_changed': reservation.resources_changed,
                'updated_at': self._now,
            },
        )

    def required_of_resource(self, resource_id: int) -> list[str]:
        """Return the requirements of current and future reservations of a resource."""
        query = (
            sa.select(RESERVATIONS.c.request)
            .join(ALLOCATIONS, ALLOCATIONS.c.reservation_id == RESERVATIONS.c.id)
            .where(
                ALLOCATIONS.c.resource_id == resource_id,
                ALLOCATIONS.c.live == 1,
            )
        )
        found = self._session.scalars(query).all()
        return [str(request.get('resource_properties') or '') for request in found]
