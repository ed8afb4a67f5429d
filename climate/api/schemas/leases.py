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

"""Bodies of leases.

At 1.0 null stands for "not given" in whatever may be left out, because
existing clients send it so; what only newer versions know is dropped.
"""

from __future__ import annotations

from typing import Any

from climate.api import microversions
from climate.api.validation import Schema
from climate.api.validation import Validator
from climate.domain.leases import NOTICES

_MOST_ITEMS = 100
# Ten years are longer than anybody plans, and 32 messages more than one reads.
_LONGEST_NOTICE = 10 * 366 * 86400

_NAME = {'type': 'string', 'minLength': 1, 'maxLength': 80}
_NAME_OR_NULL = {**_NAME, 'type': ['string', 'null']}
_TEXT = {'type': 'string'}
_TEXT_OR_NULL = {'type': ['string', 'null']}
_NOTICES = {
    'type': ['array', 'null'],
    'maxItems': 32,
    'items': {'type': 'integer', 'minimum': 1, 'maximum': _LONGEST_NOTICE},
}
_WRITTEN = {
    'type': ['array', 'null'],
    'maxItems': _MOST_ITEMS,
    'items': {'type': 'string', 'enum': list(NOTICES)},
}
_DURATION = {'type': ['integer', 'string']}
_RESERVATIONS = {
    'type': 'array',
    'maxItems': _MOST_ITEMS,
    'items': {
        'type': 'object',
        'required': ['resource_type'],
        'properties': {'resource_type': {'type': 'string', 'minLength': 1, 'maxLength': 64}},
    },
}
_RESERVATION_CHANGES = {
    'type': 'array',
    'maxItems': _MOST_ITEMS,
    'items': {
        'type': 'object',
        'required': ['id'],
        'properties': {'id': {'type': 'string', 'minLength': 1, 'maxLength': 36}},
    },
}


def _events(*, strict: bool) -> dict[str, Any]:
    one: dict[str, Any] = {
        'type': 'object',
        'required': ['event_type'],
        'properties': {
            'event_type': {'type': 'string', 'enum': ['notification', 'before_end_lease']},
            'time': _TEXT_OR_NULL,
            'event_date': _TEXT_OR_NULL,
        },
    }
    if strict:
        one['additionalProperties'] = False
    return {'type': 'array', 'maxItems': _MOST_ITEMS, 'items': one}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {**schema, 'type': [schema['type'], 'null']}


CREATE_1_0: dict[str, Any] = {
    'type': 'object',
    'required': ['name', 'start_date', 'end_date'],
    'properties': {
        'name': _NAME,
        'start_date': _TEXT,
        'end_date': _TEXT,
        'before_end_date': _TEXT_OR_NULL,
        'reservations': _or_null(_RESERVATIONS),
        'events': _or_null(_events(strict=False)),
    },
}

CREATE_1_1: dict[str, Any] = {
    'type': 'object',
    'required': ['name', 'start_date'],
    'additionalProperties': False,
    'properties': {
        **CREATE_1_0['properties'],
        'end_date': _TEXT_OR_NULL,
        'duration': {'type': ['integer', 'string', 'null']},
        'notify_before_start': _NOTICES,
        'events': _or_null(_events(strict=True)),
    },
}

UPDATE_1_0: dict[str, Any] = {
    'type': 'object',
    'properties': {
        'name': _NAME_OR_NULL,
        'start_date': _TEXT_OR_NULL,
        'end_date': _TEXT_OR_NULL,
        'before_end_date': _TEXT_OR_NULL,
        'reservations': _or_null(_RESERVATION_CHANGES),
    },
}

UPDATE_1_1: dict[str, Any] = {
    'type': 'object',
    'additionalProperties': False,
    'properties': {
        'name': _NAME,
        'start_date': _TEXT,
        'end_date': _TEXT,
        'duration': _DURATION,
        'before_end_date': _TEXT_OR_NULL,
        'notify_before_start': _NOTICES,
        'reservations': _RESERVATION_CHANGES,
    },
}

CREATE_1_3: dict[str, Any] = {
    **CREATE_1_1,
    'properties': {**CREATE_1_1['properties'], 'notices': _WRITTEN},
}

UPDATE_1_3: dict[str, Any] = {
    **UPDATE_1_1,
    'properties': {**UPDATE_1_1['properties'], 'notices': _WRITTEN},
}

SCHEMAS: dict[str, dict[microversions.Microversion, Schema]] = {
    'create': {
        microversions.V1_0: CREATE_1_0,
        microversions.V1_1: CREATE_1_1,
        microversions.V1_3: CREATE_1_3,
    },
    'update': {
        microversions.V1_0: UPDATE_1_0,
        microversions.V1_1: UPDATE_1_1,
        microversions.V1_3: UPDATE_1_3,
    },
}

_VALIDATORS = {
    (verb, version): Validator(schema)
    for verb, versions in SCHEMAS.items()
    for version, schema in versions.items()
}


def check(verb: str, version: microversions.Microversion, body: dict[str, Any]) -> None:
    """Check a body of *verb* (``create`` or ``update``) at *version*.

    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    known = max(v for v in SCHEMAS[verb] if v <= version)
    _VALIDATORS[verb, known].check(body)
