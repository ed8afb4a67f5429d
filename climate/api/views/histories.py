# SPDX-License-Identifier: Apache-2.0

"""What was done for leases, as JSON."""

from __future__ import annotations

from typing import Any

from climate.api.http import dates
from climate.api.http.microversions import Microversion
from climate.domain.events import Event
from climate.domain.history import History
from climate.domain.history import HistoryStep


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
