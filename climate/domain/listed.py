# SPDX-License-Identifier: Apache-2.0

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
from typing import Self

from climate.domain import copies
from climate.domain.events import Event
from climate.domain.holdings import Holding
from climate.domain.leases import Lease
from climate.domain.leases import OPTIONS
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


@functools.lru_cache(_KNOWN_INSTANTS)
def _text(instant: datetime.datetime | None) -> str | None:
    return None if instant is None else instant.replace(tzinfo=None).isoformat()


class ListedEvent(NamedTuple):
    """An event of a listed lease; the fields are those of :class:`climate.domain.events.Event`."""

    id: str
    kind: str
    state: str
    time: str | None
    created_at: str | None
    updated_at: str | None
    due: str | None

    @classmethod
    def of(cls, event: Event) -> Self:
        """Return an event as lists have it."""
        return cls(
            id=event.id,
            kind=event.kind,
            state=event.state,
            time=_text(event.time),
            created_at=_text(event.created_at),
            updated_at=_text(event.updated_at),
            due=_text(event.due),
        )


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

    @classmethod
    def of(cls, reservation: Reservation) -> Self:
        """Return a reservation as lists have it."""
        return copies.converted(
            cls,
            reservation,
            request=json.dumps(dict(reservation.request)),
            facts=json.dumps(dict(reservation.facts)),
            created_at=_text(reservation.created_at),
            updated_at=_text(reservation.updated_at),
        )

    def whole(self, lease_id: str) -> Reservation:
        """Return the reservation as an object, as plugins expect it."""
        return copies.converted(
            Reservation,
            self,
            lease_id=lease_id,
            request=json.loads(self.request),
            status=ReservationStatus(self.status),
            facts=json.loads(self.facts),
            missing_resources=bool(self.missing_resources),
            resources_changed=bool(self.resources_changed),
            created_at=instant(self.created_at),
            updated_at=instant(self.updated_at),
        )


class ListedLease(NamedTuple):
    """A lease in a list; the fields are those of :class:`climate.domain.leases.Lease`.

    :ivar degraded: 0, or 1 if it is
    :ivar options: of :data:`climate.domain.leases.OPTIONS`, those that the lease has, as JSON
    :ivar events: of all kinds, in chronological order
    :ivar reservations: in the order of the request
    """

    id: str
    name: str
    user_id: str
    project_id: str
    start: str | None
    end: str | None
    status: str
    degraded: int
    before_end_date: str | None
    created_at: str | None
    updated_at: str | None
    options: Mapping[str, Any]
    readiness: Readiness | None
    events: list[ListedEvent]
    reservations: list[ListedReservation]

    @classmethod
    def of(cls, lease: Lease) -> Self:
        """Return a lease as lists have it."""
        options = copies.picked(lease, *OPTIONS)
        return copies.converted(
            cls,
            lease,
            start=_text(lease.period.start),
            end=_text(lease.period.end),
            before_end_date=_text(lease.before_end_date),
            created_at=_text(lease.created_at),
            updated_at=_text(lease.updated_at),
            options={name: value for name, value in options.items() if value is not None},
            events=[ListedEvent.of(each) for each in lease.events],
            reservations=[ListedReservation.of(each) for each in lease.reservations],
        )
