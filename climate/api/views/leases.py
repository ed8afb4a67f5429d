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

"""Leases, their reservations, events and history as JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

from climate.allocation import shares
from climate.api import dates
from climate.api.microversions import Microversion
from climate.api.microversions import V1_1
from climate.api.microversions import V1_3
from climate.api.microversions import V1_4
from climate.api.microversions import V1_5
from climate.api.microversions import V1_7
from climate.api.views import holdings
from climate.api.views import placements
from climate.booking.rehearsal import Rehearsed
from climate.domain.events import Event
from climate.domain.events import PUBLIC_AT_1_0
from climate.domain.events import PUBLIC_AT_1_1
from climate.domain.history import History
from climate.domain.history import HistoryStep
from climate.domain.holdings import Holding
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.leases import Readiness
from climate.domain.leases import Reservation
from climate.leases.reading import Describer

RESERVATION_KEYS: Final = frozenset(
    {
        *('id', 'lease_id', 'resource_id', 'resource_type', 'status', 'missing_resources'),
        *('resources_changed', 'created_at', 'updated_at', 'part_of'),
        *('resources_count', 'instructions'),
    }
)
"""The keys of reservations of every type."""


def lease(
    value: Lease, describers: Mapping[str, Describer], version: Microversion, *, named: bool = True
) -> dict[str, Any]:
    """Return a lease as it is shown at *version*.

    :param named: whether the caller may see the resources that it holds
    """
    shown: dict[str, Any] = {
        'id': value.id,
        'name': value.name,
        'user_id': value.user_id,
        'project_id': value.project_id,
        'start_date': dates.write(value.period.start, version),
        'end_date': dates.write(value.period.end, version),
        # Clients read the key; its value is internal.
        'trust_id': None,
        'status': value.status,
        'degraded': value.degraded,
        'created_at': dates.write_record(value.created_at, version),
        'updated_at': dates.write_record(value.updated_at, version),
        'reservations': [
            reservation(one, describers.get(one.resource_type), version, named=named)
            for one in value.reservations
        ],
        'events': events(value.events, version),
    }
    if version >= V1_1:
        notices = value.notify_before_start
        shown['before_end_date'] = dates.write(value.before_end_date, version)
        shown['notify_before_start'] = None if notices is None else list(notices)
    if version >= V1_3:
        shown['notices'] = None if value.notices is None else list(value.notices)
        shown['readiness'] = readiness(value.readiness, version)
    if version >= V1_5:
        shown['end_reason'] = value.end_reason
    if version >= V1_7:
        shown |= {'user_name': value.user_name, 'project_name': value.project_name}
    return shown


def rehearsed(
    value: Rehearsed, describers: Mapping[str, Describer], version: Microversion, *, named: bool
) -> dict[str, Any]:
    """Return what a booking would do.

    :param named: whether the caller may see the names of the resources
    """
    parts = tuple(dataclasses.replace(one, holding=Holding()) for one in value.lease.reservations)
    return {
        # What is rolled back holds nothing.
        'lease': lease(dataclasses.replace(value.lease, reservations=parts), describers, version),
        'reservations': [
            _chosen(one, value.allocations, named=named) for one in value.lease.reservations
        ],
        'filters_not_asked': list(value.unasked),
    }


def _chosen(
    reservation: Reservation, allocations: Sequence[Allocation], *, named: bool
) -> dict[str, Any]:
    mine = [item for item in allocations if item.reservation_id == reservation.id]
    names = sorted({item.resource_name for item in mine})
    shown: dict[str, Any] = {
        'id': reservation.id,
        'resource_type': reservation.resource_type,
        'resources': len(names),
        'classes': {name: units for name, units in shares.total(mine).items() if name},
    }
    if named:
        shown['resource_names'] = names
    return shown


def readiness(value: Readiness | None, version: Microversion) -> dict[str, Any] | None:
    """Return the last report on the resources of a lease; None if there is none."""
    if value is None:
        return None
    return {
        'ready': list(value.ready),
        'waiting': list(value.waiting),
        'by': value.by,
        'detail': value.detail,
        'said_at': dates.write(value.at, version),
    }


def reservation(
    value: Reservation, describer: Describer | None, version: Microversion, *, named: bool = True
) -> dict[str, Any]:
    """Return one reservation of a lease as it is shown at *version*.

    :param describer: the plugin of its type; None if the type is no longer served,
        which leaves only the common keys. If the plugin cannot read the reservation,
        ``fault`` replaces the keys of the type.
    :param named: whether the caller may see the resources that it holds
    """
    own = holdings.own(describer, value, version) if describer else {}
    shown = {
        **own,
        'id': value.id,
        'lease_id': value.lease_id,
        # Clients expect the id of the record of the type, which is this one.
        'resource_id': value.id,
        'resource_type': value.resource_type,
        'status': value.status,
        'missing_resources': value.missing_resources,
        'resources_changed': value.resources_changed,
        'created_at': dates.write_record(value.created_at, version),
        'updated_at': dates.write_record(value.updated_at, version),
    }
    if version >= V1_3:
        shown['part_of'] = value.part_of
    if version >= V1_4 and value.placement is not None:
        shown['placement'] = placements.placement(value.placement, value, describer)
    if version >= V1_7:
        shown |= holdings.holding(value, describer, named=named)
    return shown


def events(values: tuple[Event, ...], version: Microversion) -> list[dict[str, Any]]:
    """Return the events that users can see, in the order of *values*."""
    public = PUBLIC_AT_1_1 if version >= V1_1 else PUBLIC_AT_1_0
    return [event(one, version) for one in values if one.kind in public]


def event(value: Event, version: Microversion) -> dict[str, Any]:
    """Return one event of a lease."""
    return {
        'id': value.id,
        'lease_id': value.lease_id,
        'event_type': value.kind,
        'time': dates.write(value.time, version),
        'status': value.state,
        'created_at': dates.write_record(value.created_at, version),
        'updated_at': dates.write_record(value.updated_at, version),
    }


def history(value: History, version: Microversion) -> dict[str, Any]:
    """Return the history of a lease as it is shown at *version*."""
    return {
        'lease_id': value.lease.id,
        'steps': [_step(step, version) for step in value.steps],
        'awaited': [_awaited(event, version) for event in value.awaited],
    }


def _step(value: HistoryStep, version: Microversion) -> dict[str, Any]:
    return {
        'event_id': value.event_id,
        'reservation_id': value.reservation_id,
        'resource_type': value.resource_type,
        'effect': value.effect.value,
        'state': value.state.value,
        'attempts': value.attempts,
        'first_at': dates.write(value.first_at, version),
        'last_at': dates.write(value.last_at, version),
        'waiting_for': value.waiting_for,
        'error': value.error,
        'lines': [{'at': dates.write(line.at, version), 'text': line.text} for line in value.lines],
    }


def _awaited(value: Event, version: Microversion) -> dict[str, Any]:
    return {
        'event_id': value.id,
        'event_type': value.kind.value,
        'time': dates.write(value.time, version),
        'due': dates.write(value.due, version),
        'failures': value.attempts,
        'why': value.error,
    }
