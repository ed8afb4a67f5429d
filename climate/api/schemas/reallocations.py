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

"""Bodies of reallocations."""

from __future__ import annotations

from typing import Any

from climate import exceptions
from climate.api.schemas import maintenances
from climate.api.validation import Validator
from climate.domain.requests import Reallocation

SCHEMA: dict[str, Any] = {
    'type': 'object',
    'required': ['reservation_id'],
    'additionalProperties': False,
    'properties': {
        'reservation_id': {'type': 'string', 'minLength': 1, 'maxLength': 36},
        'resource_id': maintenances.RESOURCE_ID,
        'resource_name': maintenances.NAME,
        'reason': maintenances.REASON,
        'force': {'type': 'boolean'},
    },
}

_VALIDATOR = Validator(SCHEMA)


def read(body: dict[str, Any]) -> Reallocation:
    """Return the reallocation that the caller wants.

    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    _VALIDATOR.check(body)
    if 'resource_id' not in body and 'resource_name' not in body:
        raise exceptions.MissingParameter(param='resource_id')
    return Reallocation(
        reservation_id=body['reservation_id'],
        resource_id=maintenances.read_id(body.get('resource_id')),
        resource_name=body.get('resource_name', ''),
        reason=body.get('reason', ''),
        forced=body.get('force', False),
    )
