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

import datetime
from collections.abc import Mapping
from typing import Any

from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.leases import Allocation
from climate.domain.leases import AllocationState
from climate.domain.leases import Lease
from climate.domain.leases import Readiness
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
    notices = row.options.get('notices')
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
        notices=None if notices is None else tuple(notices),
        readiness=_readiness(row.options.get('readiness')),
        lead_time=row.options.get('lead_time'),
        trust_id=row.trust_id,
        next_due=row.next_due,
        reservations=reservations,
        events=events,
        created_at=row.created_at,
        updated_at=row.updated_at,
        deleted_at=row.deleted_at,
    )


def options(lease: Lease) -> dict[str, Any]:
    """Return the column ``options`` of a lease: what is not asked for is not in it."""
    said = lease.readiness
    values: dict[str, Any] = {
        'notify_before_start': lease.notify_before_start,
        'notices': lease.notices,
        'lead_time': lease.lead_time,
        'readiness': None
        if said is None
        else {
            'ready': list(said.ready),
            'waiting': list(said.waiting),
            'by': said.by,
            'detail': said.detail,
            'at': said.at.isoformat(),
        },
    }
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
        if value is not None
    }


def _readiness(stored: Any) -> Readiness | None:
    if stored is None:
        return None
    return Readiness(
        ready=tuple(stored['ready']),
        waiting=tuple(stored['waiting']),
        by=stored['by'],
        detail=stored['detail'],
        at=datetime.datetime.fromisoformat(stored['at']),
    )


def reservation(row: Any, request: Mapping[str, Any]) -> Reservation:
    """Return the reservation of a row of ``reservations``.

    :param request: as it was before it was stored
    """
    return Reservation(
        id=row.id,
        lease_id=row.lease_id,
        position=row.position,
        resource_type=row.resource_type,
        status=ReservationStatus(row.status),
        request=request,
        facts=row.facts,
        missing_resources=bool(row.missing_resources),
        resources_changed=bool(row.resources_changed),
        part_of=row.part_of,
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
