# SPDX-License-Identifier: Apache-2.0

"""Bodies of reallocations."""

from __future__ import annotations

from typing import Any

from climate import exceptions
from climate.api.http.json_schema import BOOLEAN
from climate.api.http.json_schema import form
from climate.api.http.validation import Validator
from climate.api.schemas import maintenances
from climate.domain.requests import Reallocation

SCHEMA = form(
    'reservation_id',
    reservation_id={'type': 'string', 'minLength': 1, 'maxLength': 36},
    resource_id=maintenances.RESOURCE_ID,
    resource_name=maintenances.NAME,
    reason=maintenances.REASON,
    force=BOOLEAN,
)

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
