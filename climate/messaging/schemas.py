# SPDX-License-Identifier: Apache-2.0

"""The payload of each notification: a JSON schema per event type.

Subscribers rely on these fields. Adding a field raises the minor version of the event
type; removing a field or changing its meaning raises the major version. A test compares
the fields with those of the stated version.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from typing import Final

CREATE: Final = 'lease.create'
UPDATE: Final = 'lease.update'
DELETE: Final = 'lease.delete'
BEFORE_START: Final = 'lease.event.before_start_lease'
START: Final = 'lease.event.start_lease'
NOTIFICATION: Final = 'lease.event.notification'
BEFORE_END: Final = 'lease.event.before_end_lease'
END: Final = 'lease.event.end_lease'
ERROR: Final = 'lease.event.error'
DEGRADED: Final = 'lease.degraded'
MOVED: Final = 'lease.moved'
YIELDING: Final = 'lease.yielding'
YIELDED: Final = 'lease.yielded'
REHOMED: Final = 'lease.rehomed'
READY: Final = 'lease.ready'
NOT_READY: Final = 'lease.not_ready'
SERVER_DELETED: Final = 'lease.server.deleted'
SERVER_YIELDING: Final = 'lease.server.yielding'
OBJECT_DELETED: Final = 'lease.object.deleted'
TRUST_LOST: Final = 'lease.trust.lost'
WEBHOOK_STOPPED: Final = 'webhook.stopped'
FEED_STOPPED: Final = 'feed.stopped'
RESOURCE_DEGRADED: Final = 'resource.degraded'
RESOURCE_REDUCED: Final = 'resource.reduced'
RESOURCE_RECOVERED: Final = 'resource.recovered'

Fields = dict[str, dict[str, Any]]

_TEXT: Final = {'type': 'string'}
_MAYBE_TEXT: Final = {'type': ['string', 'null']}
_NAMES: Final = {'type': 'array', 'items': _TEXT}
_BOOLEAN: Final = {'type': 'boolean'}
_WHOLE_SECONDS: Final = {'type': 'integer', 'minimum': 0}
_SECONDS: Final = {'type': 'number', 'minimum': 0}
_DATE_PATTERN: Final = r'^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$'
_DATE: Final = {'type': 'string', 'pattern': _DATE_PATTERN}
_MAYBE_DATE: Final = {'type': ['string', 'null'], 'pattern': _DATE_PATTERN}


def _object(fields: Fields) -> dict[str, Any]:
    return {
        'type': 'object',
        'properties': fields,
        'required': sorted(fields),
        'additionalProperties': False,
    }


_RESERVATION: Final[Fields] = {
    'id': _TEXT,
    'lease_id': _TEXT,
    'resource_type': _TEXT,
    'status': _TEXT,
    'missing_resources': _BOOLEAN,
    'resources_changed': _BOOLEAN,
    # The resource type defines the content, as in the API.
    'request': {'type': 'object'},
    'aggregate_id': {'type': ['integer', 'null']},
    'aggregate_name': _MAYBE_TEXT,
    'created_at': _MAYBE_DATE,
    'updated_at': _MAYBE_DATE,
}

_INSTRUCTION: Final = _object({'name': _TEXT, 'title': _TEXT, 'command': _TEXT, 'value': _TEXT})

MOST_RESOURCES: Final = 100
"""The most resources of a reservation that a notification names."""

_HELD: Final[Fields] = {
    'part_of': _MAYBE_TEXT,
    'noun': _TEXT,
    'noun_one': _TEXT,
    'resources': {
        'type': 'array',
        'items': _object({'id': _TEXT, 'name': _TEXT}),
        'maxItems': MOST_RESOURCES,
    },
    'resources_count': {'type': 'integer', 'minimum': 0},
    'instructions': {'type': 'array', 'items': _INSTRUCTION},
}

HELD: Final = frozenset(
    {
        *(MOVED, BEFORE_START, START, YIELDING, YIELDED, BEFORE_END),
        *(ERROR, DEGRADED, NOT_READY, TRUST_LOST),
    }
)
"""The types that owners receive as mails: they have names, and what each reservation holds."""

_EVENT: Final = _object({'id': _TEXT, 'event_type': _TEXT, 'time': _DATE, 'status': _TEXT})

_LEASE: Final[Fields] = {
    'payload_version': {'type': 'string', 'pattern': r'^[1-9]\d*\.\d+$'},
    'lease_id': _TEXT,
    'name': _TEXT,
    'user_id': _TEXT,
    'project_id': _TEXT,
    'start_date': _DATE,
    'end_date': _DATE,
    'status': _TEXT,
    'degraded': _BOOLEAN,
    'notices': {**_NAMES, 'type': ['array', 'null']},
    'created_at': _MAYBE_DATE,
    'updated_at': _MAYBE_DATE,
    'reservations': {'type': 'array', 'items': _object(_RESERVATION)},
    'events': {'type': 'array', 'items': _EVENT},
}

_OWNED: Final[Fields] = {
    'user_name': _MAYBE_TEXT,
    'project_name': _MAYBE_TEXT,
    'reservations': {'type': 'array', 'items': _object({**_RESERVATION, **_HELD})},
}

_HAPPENED: Final[Fields] = {'event_id': _TEXT, 'event_time': _DATE, 'late_by_seconds': _SECONDS}

_READINESS: Final[Fields] = {'ready': _NAMES, 'waiting': _NAMES, 'by': _TEXT, 'detail': _TEXT}

_OF_LEASES: Final[Mapping[str, tuple[str, Fields]]] = {
    CREATE: ('1.1', {}),
    UPDATE: ('1.1', {}),
    DELETE: ('1.1', {}),
    BEFORE_START: ('1.2', {**_HAPPENED, 'seconds_to_start': _WHOLE_SECONDS}),
    START: ('1.3', {**_HAPPENED, 'resumed': _BOOLEAN}),
    NOTIFICATION: ('1.1', _HAPPENED),
    BEFORE_END: ('1.2', {**_HAPPENED, 'seconds_to_end': _WHOLE_SECONDS}),
    END: ('1.1', _HAPPENED),
    ERROR: ('1.2', {**_HAPPENED, 'event_type': _TEXT, 'reason': _TEXT}),
    DEGRADED: ('1.2', {'reason': _TEXT}),
    MOVED: ('1.0', {'reason': _TEXT, 'seconds_to_start': _WHOLE_SECONDS}),
    YIELDING: (
        '1.0',
        {**_HAPPENED, 'seconds_to_end': _WHOLE_SECONDS, 'yield': _TEXT, 'resumes_at': _MAYBE_DATE},
    ),
    YIELDED: ('1.0', {**_HAPPENED, 'reason': _TEXT, 'yield': _TEXT}),
    REHOMED: ('1.1', {'reservation_id': _TEXT, 'from': _NAMES, 'to': _NAMES, 'reason': _TEXT}),
    READY: ('1.0', _READINESS),
    NOT_READY: ('1.1', {**_HAPPENED, **_READINESS}),
    TRUST_LOST: ('1.1', {'reason': _TEXT}),
}

EXTRA: Final[Mapping[str, Fields]] = MappingProxyType(
    {name: extra for name, (_, extra) in _OF_LEASES.items()}
)
"""The fields an event type has in addition to those of the lease."""

# Without the fields of the lease, which may be of another project than the object.
_DELETED: Final[Fields] = {
    'payload_version': _LEASE['payload_version'],
    'lease_id': _TEXT,
    'project_id': _TEXT,
    'object_type': _TEXT,
    'object_id': _TEXT,
    'object_name': _TEXT,
    'host': _TEXT,
    'deleted_at': _DATE,
    'reason': _TEXT,
}

_EVICTED: Final[Fields] = {
    'payload_version': _LEASE['payload_version'],
    'lease_id': _TEXT,
    'project_id': _TEXT,
    'user_id': _TEXT,
    'object_type': _TEXT,
    'object_id': _TEXT,
    'object_name': _TEXT,
    'host': _TEXT,
    'yields_at': _DATE,
    'reason': _TEXT,
}

_CHANGED: Final[Fields] = {
    'payload_version': _LEASE['payload_version'],
    'resource_id': {'type': 'integer'},
    'resource_type': _TEXT,
    'name': _TEXT,
    'project_id': _MAYBE_TEXT,
    'unusable': _BOOLEAN,
    'changed_at': _DATE,
    'reason': _TEXT,
}

_STOPPED: Final[Fields] = {
    'payload_version': _LEASE['payload_version'],
    'id': _TEXT,
    'name': _TEXT,
    'user_id': _TEXT,
    'project_id': _TEXT,
    'stopped_at': _DATE,
    'reason': _TEXT,
}

_OTHERS: Final[Mapping[str, tuple[str, Fields]]] = {
    SERVER_YIELDING: ('1.0', _EVICTED),
    SERVER_DELETED: ('1.0', _DELETED),
    OBJECT_DELETED: ('1.0', _DELETED),
    WEBHOOK_STOPPED: ('1.0', _STOPPED),
    FEED_STOPPED: ('1.0', _STOPPED),
    RESOURCE_DEGRADED: ('1.0', _CHANGED),
    RESOURCE_REDUCED: ('1.0', _CHANGED),
    RESOURCE_RECOVERED: ('1.0', _CHANGED),
}

VERSIONS: Final[Mapping[str, str]] = MappingProxyType(
    {name: version for name, (version, _) in {**_OF_LEASES, **_OTHERS}.items()}
)

SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        **{
            name: _object({**_LEASE, **(_OWNED if name in HELD else {}), **extra})
            for name, extra in EXTRA.items()
        },
        **{name: _object(fields) for name, (_, fields) in _OTHERS.items()},
    }
)
