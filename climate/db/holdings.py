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

"""Queries for the resources that reservations hold."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Collection
from collections.abc import Iterable
from typing import Final

import sqlalchemy as sa

from climate.db.lists import Among
from climate.db.repository import Repository
from climate.db.tables import ALLOCATIONS
from climate.db.tables import RESOURCES
from climate.domain.holdings import HeldResource
from climate.domain.holdings import Holding
from climate.domain.holdings import MOST_SHOWN
from climate.domain.leases import Lease
from climate.domain.listed import ListedLease
from climate.domain.natural_order import sort_key

_NOTHING: Final = Holding()
# Built once, see leases.py.
_HELD = (
    sa.select(ALLOCATIONS.c.reservation_id, RESOURCES.c.id, RESOURCES.c.name)
    .distinct()
    .join(RESOURCES, RESOURCES.c.id == ALLOCATIONS.c.resource_id)
    .where(Among(ALLOCATIONS.c.reservation_id, 'reservation_ids'), ALLOCATIONS.c.live == 1)
)


class Holdings(Repository):
    """What reservations hold now, which is known from their allocations."""

    def of(self, reservation_ids: Collection[str]) -> dict[str, Holding]:
        """Return what reservations hold, by id, without those that hold no resources."""
        found: defaultdict[str, list[HeldResource]] = defaultdict(list)
        if reservation_ids:
            rows = self._session.execute(_HELD, {'reservation_ids': list(reservation_ids)})
            for reservation_id, resource_id, name in rows:
                found[reservation_id].append(HeldResource(resource_id, name))
        return {key: holding(resources) for key, resources in found.items()}

    def added(self, lease: Lease) -> Lease:
        """Return a lease with what its reservations hold."""
        found = self.of([one.id for one in lease.reservations])
        return dataclasses.replace(
            lease,
            reservations=tuple(
                dataclasses.replace(one, holding=found.get(one.id, _NOTHING))
                for one in lease.reservations
            ),
        )

    def listed(self, lease: ListedLease) -> ListedLease:
        """Return a lease, as lists have it, with what its reservations hold."""
        found = self.of([one.id for one in lease.reservations])
        return lease._replace(
            reservations=[
                one._replace(holding=found.get(one.id, _NOTHING)) for one in lease.reservations
            ]
        )


def holding(resources: Iterable[HeldResource]) -> Holding:
    """Return what a reservation of these resources holds."""
    found = sorted(resources, key=lambda one: (sort_key(one.name), one.id))
    return Holding(tuple(found[:MOST_SHOWN]), len(found))
