# SPDX-License-Identifier: Apache-2.0

"""The queue of flexible leases: what is ahead of each, and when it may begin."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Final

from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.offers import Shortage

MOST_QUEUED: Final = 100
"""The largest number of leases on a page of the queue."""
MOST_AHEAD: Final = 10_000
"""How many reservations ahead of a page are counted at most."""
MOST_MOVABLE: Final = 10_000
"""How many allocations of leases that may still move availability counts apart at most."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class QueueQuery:
    """The conditions of a page of the queue.

    :ivar project_id: whose leases are shown; None for those of all projects
    :ivar resource_type: only leases with a reservation of this type; None for any
    :ivar lease_id: only this lease; None for any
    :ivar marker: the id of the last lease of the page before
    :ivar limit: the largest number of leases, at most :data:`MOST_QUEUED`
    """

    project_id: str | None = None
    resource_type: str | None = None
    lease_id: str | None = None
    marker: str | None = None
    limit: int = MOST_QUEUED


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class QueuedReservation:
    """A reservation of a lease in the queue.

    :ivar turn: of the lease, see :attr:`climate.domain.leases.Lease.turn`
    """

    turn: tuple[int, datetime.datetime | None, str]
    reservation: Reservation


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class LeasesAhead:
    """The leases that compete with one and come before it, of any project.

    They are flexible, not firm, and have a resource type in common with it.

    :ivar leases: how many they are
    :ivar amounts: what they require at least, in slots such as hosts or instances, by type
    """

    leases: int = 0
    amounts: Mapping[str, int] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Forecast:
    """When a flexible lease may begin, as far as that is known now.

    :ivar start: its booked start, or the soonest at which there is room in its window (aware
        UTC); None if there is none
    :ivar room_at: the soonest start at which there is room, even after its window; None if
        there is none within the horizon of the planner
    :ivar waits_for: what is missing for it to begin as early as its window allows
    """

    start: datetime.datetime | None = None
    room_at: datetime.datetime | None = None
    waits_for: tuple[Shortage, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class QueuedLease:
    """A flexible lease that is not firm, or waits for a booking.

    :ivar ahead: what competes with it and comes before it
    """

    lease: Lease
    ahead: LeasesAhead
    forecast: Forecast

    @property
    def id(self) -> str:
        """The id of the lease."""
        return self.lease.id

    @property
    def place(self) -> int:
        """Its place in the queue; the first is 1."""
        return self.ahead.leases + 1
