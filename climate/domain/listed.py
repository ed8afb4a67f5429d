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

"""Leases as lists show them: few fields, and cheap to make by the thousand.

Their instants are texts as the database writes them: ISO 8601 in UTC, without a zone. Most
are only copied into an answer.
"""

from __future__ import annotations

import datetime
import functools
import json
from collections.abc import Mapping
from typing import Any
from typing import Final
from typing import NamedTuple

from climate.domain.holdings import Holding
from climate.domain.leases import Readiness
from climate.domain.leases import Reservation
from climate.domain.lifecycles import ReservationStatus
from climate.domain.placements import MemberPlacement
from climate.domain.placements import PlacedMembers

_KNOWN_INSTANTS: Final = 8192


@functools.lru_cache(_KNOWN_INSTANTS)
def instant(text: str | None) -> datetime.datetime | None:
    """Return an instant (aware UTC) of something that is listed."""
    return None if text is None else datetime.datetime.fromisoformat(f'{text}+00:00')


class ListedEvent(NamedTuple):
    """An event of a listed lease; the fields are those of :class:`climate.domain.events.Event`."""

    id: str
    kind: str
    state: str
    time: str
    created_at: str | None
    updated_at: str | None
    due: str


class ListedReservation(NamedTuple):
    """A reservation of a listed lease; see :class:`climate.domain.leases.Reservation`.

    :ivar request: JSON text
    :ivar facts: JSON text
    :ivar missing_resources: 0, or 1 if it is so; likewise ``resources_changed``
    :ivar placed: where its members are, if it has a placement
    :ivar holding: the resources that it holds; None in lists of leases
    """

    id: str
    resource_type: str
    status: str
    request: str
    facts: str
    position: int
    missing_resources: int
    resources_changed: int
    part_of: str | None
    created_at: str | None
    updated_at: str | None
    placement: MemberPlacement | None
    placed: tuple[PlacedMembers, ...]
    holding: Holding | None

    def whole(self, lease_id: str) -> Reservation:
        """Return the reservation as an object, as plugins expect it."""
        return Reservation(
            id=self.id,
            lease_id=lease_id,
            resource_type=self.resource_type,
            request=json.loads(self.request),
            position=self.position,
            status=ReservationStatus(self.status),
            facts=json.loads(self.facts),
            missing_resources=bool(self.missing_resources),
            resources_changed=bool(self.resources_changed),
            part_of=self.part_of,
            created_at=instant(self.created_at),
            updated_at=instant(self.updated_at),
            placement=self.placement,
            placed=self.placed,
            holding=self.holding,
        )


class ListedLease(NamedTuple):
    """A lease in a list; the fields are those of :class:`climate.domain.leases.Lease`.

    :ivar degraded: 0, or 1 if it is
    :ivar options: ``notify_before_start``, ``notices``, ``end_reason``, ``user_name`` and
        ``project_name``, if the lease has them
    :ivar events: of all kinds, in chronological order
    :ivar reservations: in the order of the request
    """

    id: str
    name: str
    user_id: str
    project_id: str
    start: str
    end: str
    status: str
    degraded: int
    before_end_date: str | None
    created_at: str
    updated_at: str | None
    options: Mapping[str, Any]
    readiness: Readiness | None
    events: list[ListedEvent]
    reservations: list[ListedReservation]
