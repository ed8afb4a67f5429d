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

"""What callers ask for, as values between the API and the layers below."""

from __future__ import annotations

import dataclasses
import datetime
import enum
from collections.abc import Mapping
from typing import Any
from typing import Final

from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.domain.periods import Period
from climate.domain.resources import Inventory
from climate.domain.resources import Resource


class Unset(enum.Enum):
    """The type of :data:`UNSET`."""

    UNSET = 'unset'


UNSET: Final = Unset.UNSET
"""Says "not mentioned" where None is a value of its own."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """Who asks; from the token only, never from a body.

    :ivar all_projects: whether policy lets the caller see every project
    :ivar token: with it the cloud can be asked what the caller may see there;
        never written down anywhere
    """

    user_id: str
    project_id: str
    roles: frozenset[str] = frozenset()
    all_projects: bool = False
    request_id: str | None = None
    token: str | None = dataclasses.field(default=None, repr=False)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class EventDraft:
    """An event the user wants."""

    kind: EventKind
    time: datetime.datetime


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class LeaseDraft:
    """A lease that somebody wants.

    :ivar start: aware UTC; the caller of the core has already turned ``now``
        into an instant
    :ivar id: of the lease, never from a body; None for a new one. No lease has
        it, nor had it
    :ivar reservations: the bodies as they came; each type's plugin reads its own
    :ivar strict: whether unknown keys are refused (1.1) or dropped (1.0)
    :ivar grain: how exact the wanted times are; a start is in the past only
        if it is before now floored to the grain
    :ivar notices: what the owner is to be written to about, see
        :data:`climate.domain.leases.NOTICES`; None if the operator's default holds
    :ivar asked_at: the instant of the request, against which its times are
        judged, so that ``now`` is not past by the time it is; None for the
        present instant
    :ivar limited: whether the limits of the project hold for it; they do unless it is
        the operator who imposes it on the project
    """

    name: str
    start: datetime.datetime
    end: datetime.datetime
    id: str | None = None
    reservations: tuple[Mapping[str, Any], ...] = ()
    events: tuple[EventDraft, ...] = ()
    before_end_date: datetime.datetime | None = None
    notify_before_start: tuple[int, ...] | None = None
    notices: tuple[str, ...] | None = None
    strict: bool = False
    grain: datetime.timedelta = datetime.timedelta(minutes=1)
    asked_at: datetime.datetime | None = None
    limited: bool = True


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ReservationChange:
    """New values for one reservation of a lease; ``body`` as it came, with ``id``."""

    id: str
    body: Mapping[str, Any]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class LeaseChange:
    """New values for a lease; None and UNSET leave what is.

    ``notices``, ``strict``, ``grain`` and ``asked_at`` as in :class:`LeaseDraft`.
    """

    name: str | None = None
    start: datetime.datetime | None = None
    end: datetime.datetime | None = None
    before_end_date: datetime.datetime | Unset | None = UNSET
    notify_before_start: tuple[int, ...] | Unset | None = UNSET
    notices: tuple[str, ...] | Unset | None = UNSET
    reservations: tuple[ReservationChange, ...] = ()
    strict: bool = False
    grain: datetime.timedelta = datetime.timedelta(minutes=1)
    asked_at: datetime.datetime | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Reallocation:
    """A resource that a reservation is to have another one in place of.

    The resource is named by its id or its name, or both.

    :ivar reason: for people
    :ivar forced: whether what runs there may be taken away
    """

    reservation_id: str
    resource_id: int | None = None
    resource_name: str = ''
    reason: str = ''
    forced: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class LeaseQuery:
    """Which leases, in which order, how many.

    :ivar project_id: None for every project
    :ivar sort: ``(key, 'asc' | 'desc')`` pairs; keys of :data:`SORT_KEYS`
    :ivar marker: id of the last lease of the page before
    """

    project_id: str | None
    status: str | None = None
    name: str | None = None
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

    leases: tuple[Lease, ...]
    more: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class BusyPeriod:
    """One allocation as others may see it.

    :ivar reservation_id: the real id for those who may know it, else an
        opaque one that is the same each time
    :ivar lease_id: likewise
    :ivar amounts: units by resource class; empty if the whole resource is taken
    """

    reservation_id: str
    lease_id: str
    start: datetime.datetime
    end: datetime.datetime
    amounts: Mapping[str, int] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Taken:
    """What one reservation has of one resource, and whose it is.

    :ivar period: of the lease
    :ivar amounts: as in :class:`BusyPeriod`
    """

    resource_id: int
    reservation_id: str
    lease_id: str
    project_id: str
    period: Period
    amounts: Mapping[str, int] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ResourceCalendar:
    """When one resource is taken; every resource has one, be it empty."""

    resource_id: int
    resource_name: str
    busy: tuple[BusyPeriod, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class CalendarQuery:
    """Which part of the calendar.

    :ivar resource_type: None for every type
    :ivar lease_id: only what this lease has
    :ivar reservation_id: only what this reservation has
    """

    resource_type: str | None = None
    lease_id: str | None = None
    reservation_id: str | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ResourceQuery:
    """Which resources, in which order, how many.

    :ivar sort: ``(key, 'asc' | 'desc')`` pairs; keys of
        :data:`RESOURCE_SORT_KEYS`
    :ivar marker: id of the last resource of the page before
    :ivar project_id: whose own things are among them; None for those of every project
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
    """New values for a resource; None leaves what is.

    :ivar capabilities: what operators say of it; a None among them removes
    :ivar disabled: whether it is out for new bookings
    :ivar inventories: all that it is to have
    """

    capabilities: Mapping[str, str | None] = dataclasses.field(default_factory=dict)
    disabled: bool | None = None
    inventories: tuple[Inventory, ...] | None = None
