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

from collections.abc import Mapping
from typing import Any

from climate.api import dates
from climate.api.microversions import Microversion
from climate.api.microversions import V1_1
from climate.api.microversions import V1_3
from climate.domain.events import Event
from climate.domain.events import order
from climate.domain.events import PUBLIC_AT_1_0
from climate.domain.events import PUBLIC_AT_1_1
from climate.domain.history import History
from climate.domain.history import HistoryStep
from climate.domain.leases import Lease
from climate.domain.leases import Readiness
from climate.domain.leases import Reservation
from climate.leases import reading
from climate.leases.reading import Describer


def lease(
    value: Lease, describers: Mapping[str, Describer], version: Microversion
) -> dict[str, Any]:
    """Return a lease as it is shown at *version*."""
    shown: dict[str, Any] = {
        'id': value.id,
        'name': value.name,
        'user_id': value.user_id,
        'project_id': value.project_id,
        'start_date': dates.write(value.period.start, version),
        'end_date': dates.write(value.period.end, version),
        # Clients read the key; its value is internal.
        'trust_id': None,
        'status': value.status.value,
        'degraded': value.degraded,
        'created_at': dates.write_record(value.created_at, version),
        'updated_at': dates.write_record(value.updated_at, version),
        'reservations': [
            reservation(one, describers.get(one.resource_type), version)
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
        shown['readiness'] = _readiness(value.readiness, version)
    return shown


def _readiness(value: Readiness | None, version: Microversion) -> dict[str, Any] | None:
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
    value: Reservation, describer: Describer | None, version: Microversion
) -> dict[str, Any]:
    """Return one reservation of a lease as it is shown at *version*.

    :param describer: the plugin of its type; None if the type is no longer served,
        which leaves only the common keys. If the plugin cannot read the reservation,
        ``fault`` replaces the keys of the type.
    """
    own = reading.describe(describer, value) if describer else {}
    shown = {
        **own,
        'id': value.id,
        'lease_id': value.lease_id,
        # Clients expect the id of the record of the type, which is this one.
        'resource_id': value.id,
        'resource_type': value.resource_type,
        'status': value.status.value,
        'missing_resources': value.missing_resources,
        'resources_changed': value.resources_changed,
        'created_at': dates.write_record(value.created_at, version),
        'updated_at': dates.write_record(value.updated_at, version),
    }
    if version >= V1_3:
        shown['part_of'] = value.part_of
    return shown


def events(values: tuple[Event, ...], version: Microversion) -> list[dict[str, Any]]:
    """Return the events that users can see, in order."""
    public = PUBLIC_AT_1_1 if version >= V1_1 else PUBLIC_AT_1_0
    return [event(one, version) for one in sorted(values, key=order) if one.kind in public]


def event(value: Event, version: Microversion) -> dict[str, Any]:
    """Return one event of a lease."""
    return {
        'id': value.id,
        'lease_id': value.lease_id,
        'event_type': value.kind.value,
        'time': dates.write(value.time, version),
        'status': value.state.value,
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
