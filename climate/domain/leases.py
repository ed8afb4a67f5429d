# SPDX-License-Identifier: Apache-2.0

"""Leases, reservations and allocations as values."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import uuid
from collections.abc import Mapping
from typing import Any
from typing import Final

from climate.domain.events import Event
from climate.domain.holdings import Holding
from climate.domain.lifecycles import LeaseStatus
from climate.domain.lifecycles import ReservationStatus
from climate.domain.origins import RequestOrigin
from climate.domain.periods import Period
from climate.domain.placements import MemberPlacement
from climate.domain.placements import PlacedMembers


class AllocationState(enum.StrEnum):
    """The state of an allocation.

    ``booked``: reserved for its period; ``held``: assigned to the lease in the
    cloud; ``released``: returned, and kept for the record.
    """

    BOOKED = 'booked'
    HELD = 'held'
    RELEASED = 'released'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Allocation:
    """An amount of a resource class on a resource, for a period.

    :ivar resource_class: None if the whole resource is taken
    :ivar amount: units of the class; 1 if the whole resource is taken
    """

    reservation_id: str
    resource_id: int
    period: Period
    resource_name: str = ''
    resource_class: str | None = None
    amount: int = 1
    state: AllocationState = AllocationState.BOOKED
    id: int | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Reservation:
    """The resources of one type that a lease reserves.

    :ivar request: the requirements, as the plugin's ``dump`` wrote them
    :ivar facts: what effects created in the cloud, such as an aggregate's id
    :ivar placement: how its members are placed; None if anywhere
    :ivar placed: where they are, if it has a placement
    :ivar part_of: id of the reservation of the same lease that includes this
        one, such as that of a server; None if a user requested it directly
    :ivar holding: the resources that it holds; None where that is not shown
    """

    id: str
    lease_id: str
    resource_type: str
    request: Mapping[str, Any]
    position: int = 0
    status: ReservationStatus = ReservationStatus.PENDING
    facts: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    missing_resources: bool = False
    resources_changed: bool = False
    part_of: str | None = None
    placement: MemberPlacement | None = None
    placed: tuple[PlacedMembers, ...] = dataclasses.field(default=(), compare=False)
    holding: Holding | None = dataclasses.field(default=None, compare=False)
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None


class YieldMode(enum.StrEnum):
    """What becomes of a preemptible lease whose place others need.

    ``suspend``: it is suspended, and resumes with the time that is left; ``requeue``: it is
    taken back, and begins again; ``end``: it ends.
    """

    SUSPEND = 'suspend'
    REQUEUE = 'requeue'
    END = 'end'


LEAST_PRIORITY: Final = -100
MOST_PRIORITY: Final = 100

_RESTS: Final = uuid.UUID('7a1c5f0e-93f4-4d0b-9c1e-5d2f6b8a4e37')

NOTICES: Final = (
    *('moved', 'before_start', 'started', 'yielding', 'before_end', 'degraded', 'error'),
)
"""The kinds of email notices that the owner of a lease can request."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Readiness:
    """The last report on the resources that a lease waits for.

    :ivar ready: names of those that are ready
    :ivar waiting: names of those that are not, such as hosts that boot
    :ivar by: the source of the report
    :ivar detail: an explanation for people
    :ivar at: the time of the report (aware UTC)
    """

    ready: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    by: str = ''
    detail: str = ''
    at: datetime.datetime


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Lease:
    """A contract of one project over resources for a period.

    :ivar next_due: when a manager must next process it; the durable timer
    :ivar notify_before_start: seconds from the announcement of the start to the
        start; None for the operator's default
    :ivar before_end_date: when to announce the end; None for the operator's
        default
    :ivar notices: of :data:`NOTICES`, in that order; None for the operator's
        default
    :ivar readiness: None before the first report
    :ivar end_reason: why it ends when it does, for people; None if there is none
    :ivar earliest: of a flexible lease, the earliest start (aware UTC): it may move within its
        window until it is firm; None for a lease with a fixed start
    :ivar latest: of a flexible lease, the latest end (aware UTC); None if any will do
    :ivar firm_before: of a flexible lease, how many seconds before its start it is firm
    :ivar wait_until: until when a lease without a booking waits for one at most (aware UTC);
        None for as long as it can begin
    :ivar priority: from :data:`LEAST_PRIORITY` to :data:`MOST_PRIORITY`: a higher one comes first;
        None for 0
    :ivar yields: what becomes of a preemptible lease whose place others need; None for a lease
        that is not preemptible
    :ivar min_duration: of a preemptible lease, how many seconds it needs in one slice
    :ivar time_left: of a preemptible lease, how many seconds it needs from the start of its
        present slice on; None if it ends with that slice
    :ivar ran: how many seconds it has run before its present slice; None if it has not
    :ivar rest_of: id of the lease whose later slices it holds; None for a lease of its own
    :ivar lead_time: the longest time, in seconds, that one of its resources
        needs to get ready, from the capability ``lead_time``; None if no
        resource has the capability
    :ivar origin: the request that made or last changed it; None if none is known
    :ivar user_name: of the token with which it was created; None if that is unknown
    :ivar project_name: likewise
    :ivar trust_id: Keystone's id of the trust by which effects act for the
        user; None if no effect needs one
    """

    id: str
    name: str
    user_id: str
    project_id: str
    period: Period
    status: LeaseStatus = LeaseStatus.PENDING
    degraded: bool = False
    before_end_date: datetime.datetime | None = None
    notify_before_start: tuple[int, ...] | None = None
    notices: tuple[str, ...] | None = None
    readiness: Readiness | None = None
    end_reason: str | None = None
    earliest: datetime.datetime | None = None
    latest: datetime.datetime | None = None
    firm_before: int | None = None
    wait_until: datetime.datetime | None = None
    priority: int | None = None
    yields: YieldMode | None = None
    min_duration: int | None = None
    time_left: int | None = None
    ran: int | None = None
    rest_of: str | None = None
    lead_time: int | None = None
    trust_id: str | None = None
    origin: RequestOrigin | None = None
    user_name: str | None = None
    project_name: str | None = None
    next_due: datetime.datetime | None = None
    reservations: tuple[Reservation, ...] = ()
    events: tuple[Event, ...] = ()
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None
    deleted_at: datetime.datetime | None = None

    @property
    def is_flexible(self) -> bool:
        """Whether it was requested for a window, not for a fixed start."""
        return self.earliest is not None

    @property
    def rank(self) -> int:
        """Its priority, as a number."""
        return self.priority or 0

    @property
    def turn(self) -> tuple[int, datetime.datetime | None, str]:
        """Sorts leases as plans look at them: by priority, and then by request."""
        return -self.rank, self.created_at, self.id

    @property
    def firm_at(self) -> datetime.datetime | None:
        """When it stops moving (aware UTC); None if it has a fixed start."""
        if self.firm_before is None:
            return None
        return self.period.start - datetime.timedelta(seconds=self.firm_before)

    @property
    def length(self) -> datetime.timedelta:
        """How long it needs resources from its start on, perhaps in several slices."""
        return (
            self.period.length
            if self.time_left is None
            else datetime.timedelta(seconds=self.time_left)
        )

    @property
    def is_cut(self) -> bool:
        """Whether its present slice ends before its time is over, and another follows."""
        follows = self.yields not in (None, YieldMode.END)
        return follows and self.period.length < self.length

    @property
    def may_hold_rest(self) -> bool:
        """Whether its later slices are held ahead, because it has to end in time."""
        return self.yields not in (None, YieldMode.END) and self.latest is not None

    @property
    def holds_rest(self) -> bool:
        """Whether later slices are held for it."""
        return self.may_hold_rest and self.is_cut

    @property
    def rest(self) -> datetime.timedelta:
        """How long it needs resources after its present slice; zero if it ends with that."""
        if not self.is_cut:
            return datetime.timedelta(0)
        if any(item.status is not ReservationStatus.ACTIVE for item in self.reservations):
            return datetime.timedelta(0)
        has_run = self.period.length if self.yields is YieldMode.SUSPEND else datetime.timedelta(0)
        return self.length - has_run

    def is_firm(self, now: datetime.datetime) -> bool:
        """Whether it no longer moves: it has a fixed start, begins soon, or has begun."""
        at = self.firm_at
        return at is None or at <= now or self.status is not LeaseStatus.PENDING

    @property
    def started(self) -> bool:
        """Whether its start has succeeded, so that it has, or had, its resources.

        The events do not show this: a cancelled start is also done.
        """
        return self.ran is not None or any(
            item.status is ReservationStatus.ACTIVE for item in self.reservations
        )


def rest_id(known: str) -> str:
    """Return the id of what holds the later slices of a lease, or of one of its reservations."""
    return str(uuid.uuid5(_RESTS, known))


OPTIONS: Final = (
    'notify_before_start',
    'notices',
    'readiness',
    'end_reason',
    'earliest',
    'latest',
    'firm_before',
    'wait_until',
    'priority',
    'yields',
    'min_duration',
    'time_left',
    'ran',
    'rest_of',
    'lead_time',
    'origin',
    'user_name',
    'project_name',
)
"""The fields that most leases do not have; the store keeps them in one column."""
