# SPDX-License-Identifier: Apache-2.0

"""Builds the payload of a notification from a lease, or from what else it is about.

The functions are pure and cheap, because they run inside the transaction that causes the
notification. Payloads have no fields for tokens, trusts and other secrets.
"""

from __future__ import annotations

import datetime
import functools
from collections.abc import Mapping
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any
from typing import Final

from climate.domain import events as ordering
from climate.domain.events import Event
from climate.domain.events import PUBLIC_AT_1_1
from climate.domain.facts import AggregateFacts
from climate.domain.history import DeletedObject
from climate.domain.history import EvictedServer
from climate.domain.holdings import Holding
from climate.domain.leases import Lease
from climate.domain.leases import Readiness
from climate.domain.leases import Reservation
from climate.domain.nouns import Nouns
from climate.domain.owners import Owner
from climate.domain.owners import StoppedSubscription
from climate.domain.resources import Resource
from climate.messaging import schemas

ERROR: Final = schemas.ERROR

EVENT_TYPES: Final = tuple(schemas.SCHEMAS)
"""All types of notifications."""

_NOTHING: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType({})

# Plugins describe reservations, with values that users have chosen. Keys that contain one
# of these words are left out, because not every subscriber may read secrets.
_SECRET: Final = ('token', 'trust', 'password', 'secret', 'credential')
# Descriptions of a type have the same keys.
_KNOWN_KEYS: Final = 1024
# A lease and its events share most of theirs, and so do the leases of a batch.
_KNOWN_INSTANTS: Final = 1024


def build(
    event_type: str,
    lease: Lease,
    *,
    now: datetime.datetime,
    event: Event | None = None,
    descriptions: Mapping[str, Mapping[str, Any]] = _NOTHING,
    reason: str | None = None,
    moved: Mapping[str, Any] = MappingProxyType({}),
    readiness: Readiness | None = None,
    held: Mapping[str, Mapping[str, Any]] = _NOTHING,
    resumes_at: datetime.datetime | None = None,
) -> dict[str, Any]:
    """Return the payload of a notification, as :mod:`schemas` describes it.

    :param event_type: one of :data:`EVENT_TYPES`
    :param lease: the lease after the change that the notification reports
    :param now: the instant of the notification (aware UTC)
    :param event: the event that happened; required for types that begin with
        ``lease.event.``
    :param descriptions: the descriptions of the reservations by their plugins, by id
    :param reason: a text that explains a failure or an action
    :param moved: the reservation and its old and new resources, for ``lease.rehomed``
    :param readiness: which resources are ready, for ``lease.ready`` and
        ``lease.not_ready``
    :param held: what each reservation holds, by id, for types in :data:`schemas.HELD`:
        the fields of :func:`holding`
    :param resumes_at: when a lease that yields will probably resume (aware UTC)
    :raises KeyError: if the event type or what a reservation holds is unknown
    :raises ValueError: if the type requires an event and none was given
    """
    extra = schemas.EXTRA[event_type]
    payload = {'payload_version': schemas.VERSIONS[event_type], **_lease(lease, descriptions)}
    if 'event_id' in extra:
        if event is None:
            raise ValueError(f'{event_type} requires an event')
        payload['event_id'] = event.id
        payload['event_time'] = stamp(event.time)
        payload['late_by_seconds'] = round(ordering.lateness(event, now).total_seconds(), 3)
        if 'event_type' in extra:
            payload['event_type'] = event.kind.value
    if 'seconds_to_start' in extra:
        payload['seconds_to_start'] = _seconds(lease.period.start - now)
    if 'seconds_to_end' in extra:
        payload['seconds_to_end'] = _seconds(lease.period.end - now)
    slices = {
        'yield': str(lease.yields),
        'resumes_at': None if resumes_at is None else stamp(resumes_at),
        'resumed': bool(lease.ran),
    }
    payload.update({name: value for name, value in slices.items() if name in extra})
    if 'reason' in extra:
        payload['reason'] = reason or 'unknown'
    if event_type in schemas.HELD:
        payload.update(user_name=lease.user_name, project_name=lease.project_name)
        for reservation in payload['reservations']:
            reservation.update(held[reservation['id']])
    payload.update(moved)
    if readiness is not None:
        payload.update(_readiness(readiness))
    return payload


def holding(
    reservation: Reservation, nouns: Nouns, held: Holding, uses: Sequence[Mapping[str, str]]
) -> dict[str, Any]:
    """Return the fields of what a reservation holds.

    :param nouns: what people call its resources
    :param uses: what a person does with it, as the API shows it
    """
    return {
        'part_of': reservation.part_of,
        'noun': nouns.many,
        'noun_one': nouns.one,
        'resources': [
            {'id': str(one.id), 'name': one.name}
            for one in held.resources[: schemas.MOST_RESOURCES]
        ],
        'resources_count': held.number,
        'instructions': [dict(one) for one in uses],
    }


def deletion_type(found: DeletedObject) -> str:
    """Return the event type of the notification that an object is deleted."""
    return schemas.SERVER_DELETED if found.object_type == 'server' else schemas.OBJECT_DELETED


def deletion(found: DeletedObject) -> dict[str, Any]:
    """Return the payload of the notification that an object is deleted.

    It is for the project that owns the object, so it has no fields of the lease but the id.
    """
    return {
        'payload_version': schemas.VERSIONS[deletion_type(found)],
        'lease_id': found.lease_id,
        'project_id': found.project_id,
        'object_type': found.object_type,
        'object_id': found.object_id,
        'object_name': found.name,
        'host': found.host,
        'deleted_at': stamp(found.at),
        'reason': found.reason,
    }


def eviction(lease: Lease, server: EvictedServer) -> dict[str, Any]:
    """Return the payload of the notice that the start of a lease will delete a server.

    It is for the project that owns the server, so it has no fields of the lease but the id.
    """
    return {
        'payload_version': schemas.VERSIONS[schemas.SERVER_YIELDING],
        'lease_id': lease.id,
        'project_id': server.project_id,
        'user_id': server.user_id,
        'object_type': 'server',
        'object_id': server.id,
        'object_name': server.name,
        'host': server.host,
        'yields_at': stamp(lease.period.start),
        'reason': 'it runs on a host of a lease of another project, and the lease starts',
    }


def resource(
    event_type: str, found: Resource, *, reason: str, now: datetime.datetime
) -> dict[str, Any]:
    """Return the payload of a notification about a resource, which has no lease.

    :param found: the resource after the change
    :param reason: how it has changed; of a recovery, how it had changed before
    """
    return {
        'payload_version': schemas.VERSIONS[event_type],
        'resource_id': found.id,
        'resource_type': found.resource_type,
        'name': found.name,
        'project_id': found.project_id,
        'unusable': found.unusable,
        'changed_at': stamp(now),
        'reason': reason,
    }


def stopped(
    event_type: str,
    owner: Owner,
    found: StoppedSubscription,
    *,
    reason: str,
    now: datetime.datetime,
) -> dict[str, Any]:
    """Return the payload of the notification that a webhook or a feed is stopped.

    It has no URL, which may have a secret.
    """
    return {
        'payload_version': schemas.VERSIONS[event_type],
        'id': found.id,
        'name': found.name,
        'user_id': owner.user_id,
        'project_id': owner.project_id,
        'stopped_at': stamp(now),
        'reason': reason,
    }


def priority(event_type: str) -> str:
    """Return the priority of an event type, as Notifier writes it."""
    return 'ERROR' if event_type == ERROR else 'INFO'


@functools.lru_cache(_KNOWN_INSTANTS)
def stamp(instant: datetime.datetime) -> str:
    """Format an aware *instant* as naive UTC, which existing consumers expect."""
    naive = instant.astimezone(datetime.UTC).replace(tzinfo=None)
    return naive.isoformat(timespec='microseconds')


def _maybe_stamp(instant: datetime.datetime | None) -> str | None:
    return None if instant is None else stamp(instant)


def _seconds(left: datetime.timedelta) -> int:
    # Rounded, so that a notification 30 seconds ahead that is sent a few milliseconds
    # late still says 30 seconds.
    return max(round(left.total_seconds()), 0)


def _lease(lease: Lease, descriptions: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {
        'lease_id': lease.id,
        'name': lease.name,
        'user_id': lease.user_id,
        'project_id': lease.project_id,
        'start_date': stamp(lease.period.start),
        'end_date': stamp(lease.period.end),
        'status': lease.status.value,
        'degraded': lease.degraded,
        'notices': None if lease.notices is None else list(lease.notices),
        'created_at': _maybe_stamp(lease.created_at),
        'updated_at': _maybe_stamp(lease.updated_at),
        'reservations': [
            _reservation(reservation, descriptions.get(reservation.id, {}))
            for reservation in lease.reservations
        ],
        # Events that are internal to the managers may change with any release.
        'events': [_event(event) for event in lease.events if event.kind in PUBLIC_AT_1_1],
    }


def _readiness(said: Readiness) -> dict[str, Any]:
    return {
        'ready': list(said.ready),
        'waiting': list(said.waiting),
        'by': said.by,
        'detail': said.detail,
    }


def _reservation(reservation: Reservation, description: Mapping[str, Any]) -> dict[str, Any]:
    # All other facts are internal to the plugin.
    aggregate_id = AggregateFacts.of(reservation).aggregate_id
    return {
        'id': reservation.id,
        'lease_id': reservation.lease_id,
        'resource_type': reservation.resource_type,
        'status': reservation.status.value,
        'missing_resources': reservation.missing_resources,
        'resources_changed': reservation.resources_changed,
        'request': _without_secrets(description),
        'aggregate_id': aggregate_id,
        # Aggregates of leased hosts are named after their reservation.
        'aggregate_name': None if aggregate_id is None else reservation.id,
        'created_at': _maybe_stamp(reservation.created_at),
        'updated_at': _maybe_stamp(reservation.updated_at),
    }


def _event(event: Event) -> dict[str, Any]:
    return {
        'id': event.id,
        'event_type': event.kind.value,
        'time': stamp(event.time),
        'status': event.state.value,
    }


@functools.lru_cache(_KNOWN_KEYS)
def _is_secret(key: str) -> bool:
    return any(word in key.lower() for word in _SECRET)


def _without_secrets(value: Any) -> Any:
    """Return *value* without keys that may hold secrets, at any depth."""
    if isinstance(value, Mapping):
        return {
            key: _without_secrets(item) for key, item in value.items() if not _is_secret(str(key))
        }
    if isinstance(value, list | tuple):
        return [_without_secrets(item) for item in value]
    return value
