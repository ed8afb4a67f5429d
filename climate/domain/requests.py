# SPDX-License-Identifier: Apache-2.0

"""Requests of callers, as values between the API and the layers below."""

from __future__ import annotations

import dataclasses
import datetime
import enum
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any
from typing import Final

from climate.domain.budgets import RequestBudget
from climate.domain.budgets import UNLIMITED
from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.domain.leases import YieldMode
from climate.domain.listed import ListedLease
from climate.domain.origins import RequestOrigin
from climate.domain.periods import Period
from climate.domain.placements import MemberPlacement
from climate.domain.resources import Inventory
from climate.domain.resources import Resource

Check = Callable[[Lease], None]
"""Raises if a lease is not as the caller requires; called with its row locked."""


class Unset(enum.Enum):
    """The type of :data:`UNSET`."""

    UNSET = 'unset'


UNSET: Final = Unset.UNSET
"""Marks a field as absent where None is a value of its own."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """The caller of a request; from the token only, never from a body.

    :ivar user_name: None if the token has none; likewise ``project_name``
    :ivar all_projects: whether policy lets the caller see every project
    :ivar budget: what is left of what the request may cost
    :ivar origin: the ids of the request; None if there is no request
    :ivar token: for queries to the cloud with the rights of the caller; never
        stored
    """

    user_id: str
    project_id: str
    roles: frozenset[str] = frozenset()
    user_name: str | None = None
    project_name: str | None = None
    all_projects: bool = False
    origin: RequestOrigin | None = None
    token: str | None = dataclasses.field(default=None, repr=False)
    budget: RequestBudget = dataclasses.field(default=UNLIMITED, repr=False, compare=False)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Reach:
    """The webhooks and feeds that a caller can see and use.

    :ivar project_id: those of this project; None for every project
    :ivar privileged: whether also those that only a special right can create: webhooks for
        all projects, and feeds of resources
    """

    project_id: str | None = None
    privileged: bool = True


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class EventDraft:
    """An event that the user requests."""

    kind: EventKind
    time: datetime.datetime


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class LeaseDraft:
    """A request for a lease.

    :ivar start: aware UTC; the caller of the core has already turned ``now``
        into an instant
    :ivar earliest: of a flexible lease, its earliest start, which *start* is at first;
        None for a lease with a fixed start
    :ivar latest: of a flexible lease, its latest end (aware UTC); None if any will do
    :ivar firm_before: how long before its start a flexible lease stops moving; None for the
        operator's default
    :ivar waits: whether a flexible lease waits if there is no room in its window
    :ivar wait_until: until when it waits at most (aware UTC); None for as long as it can begin
    :ivar preemptible: whether a flexible lease may be in several slices, and yields to others
    :ivar yields: what becomes of a preemptible lease whose place others need; None for the
        best that its types can do
    :ivar min_duration: how long it needs resources in one slice; None for the default
    :ivar priority: a higher one comes first; None for 0
    :ivar preempt_own: whether it may preempt leases of its own project, too
    :ivar id: of the lease, never from a body; None for a generated one. Drafts with
        the same id are tries of one request, which books one lease
    :ivar reservations: the bodies as received; each type's plugin reads its own
    :ivar placements: of the reservations, in the same order; empty if none has one
    :ivar strict: whether unknown keys are refused (1.1) or dropped (1.0)
    :ivar traits: whether requirements may name traits (1.5)
    :ivar grain: the precision of the requested times; a start is in the past only
        if it is before now floored to the grain
    :ivar notices: kinds of email notices for the owner, see
        :data:`climate.domain.leases.NOTICES`; None for the operator's default
    :ivar asked_at: the instant of the request, with which its times are
        compared, so that ``now`` is not in the past when the check runs; None for
        the present instant
    :ivar limited: whether the limits of the project apply; they do unless the
        operator imposes the lease on the project
    """

    name: str
    start: datetime.datetime
    end: datetime.datetime
    earliest: datetime.datetime | None = None
    latest: datetime.datetime | None = None
    firm_before: datetime.timedelta | None = None
    waits: bool = False
    wait_until: datetime.datetime | None = None
    preemptible: bool = False
    yields: YieldMode | None = None
    min_duration: datetime.timedelta | None = None
    priority: int | None = None
    preempt_own: bool = False
    id: str | None = None
    reservations: tuple[Mapping[str, Any], ...] = ()
    placements: tuple[MemberPlacement | None, ...] = ()
    events: tuple[EventDraft, ...] = ()
    before_end_date: datetime.datetime | None = None
    notify_before_start: tuple[int, ...] | None = None
    notices: tuple[str, ...] | None = None
    strict: bool = False
    traits: bool = True
    grain: datetime.timedelta = datetime.timedelta(minutes=1)
    asked_at: datetime.datetime | None = None
    limited: bool = True


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ReservationChange:
    """New values for one reservation of a lease; ``body`` as received, with ``id``."""

    id: str
    body: Mapping[str, Any]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class WindowChange:
    """New values for the window of a flexible lease; by default, each keeps its value.

    :ivar earliest: the earliest start (aware UTC); None makes the start a fixed one
    :ivar latest: the latest end (aware UTC); None for any
    :ivar firm_before: how long before its start it stops moving; None for the operator's default
    :ivar duration: of the lease; None for the present one
    :ivar wait_until: until when it waits at most (aware UTC); None for as long as it can begin
    :ivar sliced: whether the new period is a slice of a preemptible lease, whose time left stays
    """

    earliest: datetime.datetime | Unset | None = UNSET
    latest: datetime.datetime | Unset | None = UNSET
    firm_before: datetime.timedelta | Unset | None = UNSET
    duration: datetime.timedelta | None = None
    wait_until: datetime.datetime | Unset | None = UNSET
    sliced: bool = False

    @property
    def replans(self) -> bool:
        """Whether the lease has to be booked again, at the soonest start in its window."""
        moved = (self.earliest, self.latest)
        return self.duration is not None or any(
            one is not UNSET and one is not None for one in moved
        )


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class LeaseChange:
    """New values for a lease; by default, each field keeps its value.

    :ivar end_reason: why the lease ends then; None for no reason, which replaces an earlier
        one if the end changes
    :ivar window: of a flexible lease
    :ivar preempt_own: whether it may preempt leases of its own project, too
    :ivar check: of the lease before the change; None for none

    ``priority``, ``notices``, ``strict``, ``traits``, ``grain`` and ``asked_at`` as in
    :class:`LeaseDraft`.
    """

    name: str | None = None
    start: datetime.datetime | None = None
    end: datetime.datetime | None = None
    before_end_date: datetime.datetime | Unset | None = UNSET
    notify_before_start: tuple[int, ...] | Unset | None = UNSET
    notices: tuple[str, ...] | Unset | None = UNSET
    reservations: tuple[ReservationChange, ...] = ()
    end_reason: str | None = None
    window: WindowChange = WindowChange()
    priority: int | Unset = UNSET
    preempt_own: bool = False
    strict: bool = False
    traits: bool = True
    grain: datetime.timedelta = datetime.timedelta(minutes=1)
    asked_at: datetime.datetime | None = None
    check: Check | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Reallocation:
    """A request to replace a resource of a reservation.

    The resource is identified by its id, its name, or both.

    :ivar reason: for people
    :ivar forced: whether servers that run on the resource may be lost
    """

    reservation_id: str
    resource_id: int | None = None
    resource_name: str = ''
    reason: str = ''
    forced: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class LeaseQuery:
    """A query for leases: filters, order and page.

    :ivar project_id: None for every project
    :ivar status: None for every status
    :ivar with_waiting: whether leases that wait have the status PENDING, too
    :ivar user_id: None for every user
    :ivar sort: ``(key, 'asc' | 'desc')`` pairs; keys of :data:`SORT_KEYS`
    :ivar marker: id of the last lease of the page before
    """

    project_id: str | None
    status: str | None = None
    with_waiting: bool = False
    name: str | None = None
    user_id: str | None = None
    resource_type: str | None = None
    start_before: datetime.datetime | None = None
    start_after: datetime.datetime | None = None
    end_before: datetime.datetime | None = None
    end_after: datetime.datetime | None = None
    sort: tuple[tuple[str, str], ...] = ()
    limit: int | None = None
    marker: str | None = None


SORT_KEYS: Final = ('id', 'name', 'start_date', 'end_date', 'status', 'project_id', 'created_at')


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class LeasePage:
    """Some leases, and whether there are more after them."""

    leases: tuple[ListedLease, ...]
    more: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class BusyPeriod:
    """One allocation as others may see it.

    :ivar reservation_id: the real id if the caller may see it, otherwise an
        opaque one that is the same each time
    :ivar lease_id: likewise
    :ivar amounts: units by resource class; empty if the whole resource is taken
    :ivar held_until: until when it is held for an offer, whose id is that of the lease;
        None if it is booked
    """

    reservation_id: str
    lease_id: str
    start: datetime.datetime
    end: datetime.datetime
    amounts: Mapping[str, int] = dataclasses.field(default_factory=dict)
    held_until: datetime.datetime | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ReservedShare:
    """The share of one reservation in one resource, with its owner.

    :ivar period: of the lease
    :ivar amounts: as in :class:`BusyPeriod`
    :ivar held_until: likewise
    """

    resource_id: int
    reservation_id: str
    lease_id: str
    project_id: str
    period: Period
    amounts: Mapping[str, int] = dataclasses.field(default_factory=dict)
    held_until: datetime.datetime | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ResourceCalendar:
    """The periods in which one resource is booked; possibly empty."""

    resource_id: int
    resource_name: str
    busy: tuple[BusyPeriod, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class CalendarQuery:
    """A query for part of the calendar.

    :ivar resource_type: None for every type
    :ivar lease_id: only allocations of this lease
    :ivar reservation_id: only allocations of this reservation
    """

    resource_type: str | None = None
    lease_id: str | None = None
    reservation_id: str | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ResourceQuery:
    """A query for resources: filters, order and page.

    :ivar sort: ``(key, 'asc' | 'desc')`` pairs; keys of
        :data:`RESOURCE_SORT_KEYS`
    :ivar marker: id of the last resource of the page before
    :ivar project_id: the project whose own resources are included; None for all projects
    """

    limit: int
    project_id: str | None = None
    resource_type: str | None = None
    name: str | None = None
    sort: tuple[tuple[str, str], ...] = ()
    marker: int | None = None


RESOURCE_SORT_KEYS: Final = ('id', 'name', 'resource_type', 'created_at')


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ResourcePage:
    """Some resources, and whether there are more after them."""

    resources: tuple[Resource, ...]
    more: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ResourceChange:
    """New values for a resource; None keeps the present value.

    :ivar capabilities: set by operators; a value of None removes the capability
    :ivar disabled: whether new bookings exclude it
    :ivar inventories: the complete new inventories
    :ivar name: under which the cloud now has it
    """

    name: str | None = None
    capabilities: Mapping[str, str | None] = dataclasses.field(default_factory=dict)
    disabled: bool | None = None
    inventories: tuple[Inventory, ...] | None = None
