# SPDX-License-Identifier: Apache-2.0

"""The parameters of operations: in paths, queries and headers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from climate.api import path_ids
from climate.api.http import json_schema
from climate.api.http import microversions
from climate.api.http.json_schema import choice
from climate.api.http.json_schema import COUNT
from climate.api.http.json_schema import Json
from climate.api.http.json_schema import TEXT
from climate.api.http.microversions import Microversion
from climate.domain.lifecycles import LeaseStatus
from climate.domain.requests import RESOURCE_SORT_KEYS
from climate.domain.requests import SORT_KEYS
from climate.domain.usage import UsageKey
from climate.domain.webhooks import DeliveryState

_NAME: Final[Json] = {'type': 'string', 'maxLength': 255}


def _said(schema: Json, description: str) -> Json:
    return {**schema, 'description': description}


QUERY: Final[dict[str, Json]] = {
    **dict.fromkeys(
        ('end', 'end_after', 'end_before', 'latest', 'start', 'start_after', 'start_before'),
        _said(TEXT, 'An instant: ISO 8601 with a zone, or now.'),
    ),
    'all': _said({}, 'Whether to add private ones; ignored for members.'),
    'by': _said(choice(UsageKey), 'What the rows are for.'),
    'detail': _said({}, 'Whether to add the values.'),
    'fields': _said(TEXT, 'Names of the fields wanted, with commas.'),
    'group_by': _said(_NAME, 'The property that divides the resources.'),
    'lease_id': TEXT,
    'limit': {'type': 'integer', 'minimum': 1, 'description': 'The most objects of a page.'},
    'marker': _said(TEXT, 'The id of the last object of the page before.'),
    'mine': _said({}, 'Whether to leave out resources of which the project has nothing.'),
    'name': _NAME,
    'offset': _said(COUNT, 'The number of objects before the page.'),
    'project_id': _NAME,
    'reservation_id': TEXT,
    'resource_properties': _said(TEXT, 'A requirement, as in leases.'),
    'resource_type': _NAME,
    'resources': {
        **TEXT,
        'pattern': '^[A-Z0-9_]{1,255}:[0-9]{1,10}(?:,[A-Z0-9_]{1,255}:[0-9]{1,10})*$',
        'description': 'Amounts by resource class, such as VCPU:2,MEMORY_MB:4096.',
    },
    'search': _said(_NAME, 'A part of a name, or of the value of a property.'),
    'sort_dir': json_schema.listed({**TEXT, 'enum': ['asc', 'desc']}),
    'sort_key': json_schema.listed({**TEXT, 'enum': list(SORT_KEYS)}),
    'state': choice(DeliveryState),
    'status': choice(LeaseStatus),
    'step': _said(TEXT, 'Seconds, an ISO 8601 duration, or such as 90m, 2h or 1d.'),
    'type': _said(_NAME, 'A resource type.'),
    'user': {**TEXT, 'enum': ['me'], 'description': 'Only leases of the caller.'},
    'user_id': _said(_NAME, 'Only leases of this user.'),
    'values': _said({}, 'Whether to count the resources with each value.'),
}
"""Schemas by name; a parameter with one name means the same in every route."""

REQUIRED: Final = frozenset(
    {
        ('GET', '/availability', 'resource_type'),
        ('GET', '/calendar', 'resource_type'),
        ('GET', '/resources/properties', 'type'),
        ('PATCH', '/resources/properties/{property_name}', 'type'),
    }
)
_OF_RESOURCES: Final[dict[str, Json]] = {
    'sort_key': json_schema.listed({**TEXT, 'enum': list(RESOURCE_SORT_KEYS)})
}
_PATHS: Final[dict[str, Json]] = {
    **dict.fromkeys(path_ids.UUIDS, json_schema.UUID),
    **{name: {'type': 'string', 'minLength': 1} for name in path_ids.NAMES},
}
_SEGMENT: Final = re.compile(r'\{(\w+)\}')
_TAGS: Final = 'An entity tag in quotes, a list of them, or *.'


def of_path(path: str) -> list[Json]:
    """Return the parameters in a path; ids of resources are numbers."""
    return [
        {
            'name': name,
            'in': 'path',
            'required': True,
            'schema': _PATHS.get(name, json_schema.RESOURCE_ID),
        }
        for name in _SEGMENT.findall(path)
    ]


def of_query(method: str, path: str, names: Iterable[str]) -> list[Json]:
    """Return the parameters of a query, in the order of their names.

    :raises KeyError: if one has no schema in :data:`QUERY`
    """
    own = _OF_RESOURCES if path == '/resources' else {}
    parameters = []
    for name in sorted(names):
        schema = dict(own.get(name) or QUERY[name])
        one: Json = {'name': name, 'in': 'query', 'schema': schema}
        if 'description' in schema:
            one['description'] = schema.pop('description')
        if (method, path, name) in REQUIRED:
            one['required'] = True
        parameters.append(one)
    return parameters


def microversion(version: Microversion) -> Json:
    """Return the header that chooses a microversion; without it requests are at 1.0."""
    value = f'{microversions.SERVICE_TYPE} {version}'
    return {
        'name': microversions.HEADER,
        'in': 'header',
        'required': version > microversions.MIN,
        'description': 'The microversion, of which this document is.',
        # Not a constant: some generators of clients know no constant in a header.
        'schema': {'type': 'string', 'default': value},
    }


def of_headers(names: Iterable[str]) -> list[Json]:
    """Return further headers of a request."""
    described = {
        'Idempotency-Key': 'A repetition with the same key gets the first answer.',
        'If-Match': _TAGS,
        'If-None-Match': _TAGS,
        'Prefer': 'wait=SECONDS: answer when the lease has started, or is gone.',
    }
    return [
        {'name': name, 'in': 'header', 'description': described[name], 'schema': TEXT}
        for name in names
    ]
