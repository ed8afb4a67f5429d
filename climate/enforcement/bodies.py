# SPDX-License-Identifier: Apache-2.0

"""Builds the request bodies for an external service, see doc/source/admin/limits.rst."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any

from climate.domain.leases import Allocation
from climate.domain.leases import Reservation
from climate.domain.resources import Resource
from climate.enforcement.base import AllocatedLease
from climate.enforcement.base import End
from climate.enforcement.base import FilterQuestion


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """The properties of the cloud that an external service receives."""

    auth_url: str | None = None
    region_name: str | None = None


def question(asked: FilterQuestion, around: Surroundings) -> dict[str, Any]:
    """Return the body of a question, and of the notification of its outcome."""
    body: dict[str, Any] = {
        'id': asked.id,
        'action': asked.action.value,
        'context': _context(asked.user_id, asked.terms, around),
        'lease': lease(asked.terms),
    }
    if asked.current is not None:
        body['current_lease'] = lease(asked.current)
    if asked.undone:
        body['undone'] = True
    return body


def end(over: End, around: Surroundings) -> dict[str, Any]:
    """Return the body of an end."""
    return {
        'id': over.id,
        'context': _context(over.terms.lease.user_id, over.terms, around),
        'lease': lease(over.terms),
        'reason': over.ending.value,
        'ended_at': stamp(over.ended_at),
        'used_seconds': int(over.used.total_seconds()),
    }


def lease(terms: AllocatedLease) -> dict[str, Any]:
    """Return a lease, its reservations and their allocations."""
    value = terms.lease
    resources = {item.id: item for item in terms.resources}
    return {
        'id': value.id,
        'name': value.name,
        'user_id': value.user_id,
        'project_id': value.project_id,
        'start_date': stamp(value.period.start),
        'end_date': stamp(value.period.end),
        'before_end_date': None if value.before_end_date is None else stamp(value.before_end_date),
        'status': value.status.value,
        'reservations': [
            _reservation(
                item,
                terms.descriptions.get(item.id, {}),
                [
                    _allocation(one, resources.get(one.resource_id))
                    for one in terms.allocations
                    if one.reservation_id == item.id
                ],
            )
            for item in value.reservations
        ],
    }


def _context(user_id: str, terms: AllocatedLease, around: Surroundings) -> dict[str, Any]:
    return {
        'user_id': user_id,
        'project_id': terms.lease.project_id,
        'auth_url': around.auth_url,
        'region_name': around.region_name,
    }


def _reservation(
    value: Reservation, description: Mapping[str, Any], allocations: list[dict[str, Any]]
) -> dict[str, Any]:
    return {
        **description,
        'id': value.id,
        'resource_type': value.resource_type,
        'allocations': allocations,
    }


def _allocation(value: Allocation, resource: Resource | None) -> dict[str, Any]:
    """Return an allocation, with all properties of its resource."""
    known: dict[str, Any] = {}
    if resource is not None:
        known = {**resource.capabilities, **resource.attributes}
        known['resource_type'] = resource.resource_type
    return {
        **known,
        'id': str(value.resource_id),
        'name': value.resource_name,
        'resource_class': value.resource_class,
        'amount': value.amount,
    }


def stamp(instant: datetime.datetime) -> str:
    """Return an instant as microversion 1.0 does: UTC, microseconds, no time zone."""
    return instant.astimezone(datetime.UTC).strftime('%Y-%m-%dT%H:%M:%S.%f')
