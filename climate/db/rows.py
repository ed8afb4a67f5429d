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

"""Rows into values: the only place that knows both."""

from __future__ import annotations

from typing import Any

from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.leases import Allocation
from climate.domain.leases import AllocationState
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.lifecycles import EventState
from climate.domain.lifecycles import LeaseStatus
from climate.domain.lifecycles import ReservationStatus
from climate.domain.periods import Period


def lease(
    row: Any, reservations: tuple[Reservation, ...] = (), events: tuple[Event, ...] = ()
) -> Lease:
    """Return the lease of a row of ``leases``."""
    notify = row.options.get('notify_before_start')
    return Lease(
        id=row.id,
        name=row.name,
        user_id=row.user_id,
        project_id=row.project_id,
        period=Period(start=row.start_date, end=row.end_date),
        status=LeaseStatus(row.status),
        degraded=bool(row.degraded),
        before_end_date=row.before_end_date,
        notify_before_start=None if notify is None else tuple(notify),
        next_due=row.next_due,
        reservations=reservations,
        events=events,
        created_at=row.created_at,
        updated_at=row.updated_at,
        deleted_at=row.deleted_at,
    )


def reservation(row: Any) -> Reservation:
    """Return the reservation of a row of ``reservations``."""
    return Reservation(
        id=row.id,
        lease_id=row.lease_id,
        position=row.position,
        resource_type=row.resource_type,
        status=ReservationStatus(row.status),
        request=row.request,
        facts=row.facts,
        missing_resources=bool(row.missing_resources),
        resources_changed=bool(row.resources_changed),
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def event(row: Any) -> Event:
    """Return the event of a row of ``events``."""
    return Event(
        id=row.id,
        lease_id=row.lease_id,
        kind=EventKind(row.kind),
        time=row.time,
        due=row.due,
        state=EventState(row.state),
        attempts=row.attempts,
        begun_at=row.begun_at,
        error=row.error,
        payload=row.payload,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def allocation(row: Any) -> Allocation:
    """Return the allocation of a row of ``allocations`` joined with its resource."""
    return Allocation(
        id=row.id,
        reservation_id=row.reservation_id,
        resource_id=row.resource_id,
        resource_name=row.name,
        resource_class=row.resource_class,
        amount=row.amount,
        period=Period(start=row.start_date, end=row.end_date),
        state=AllocationState(row.state),
    )
