# SPDX-License-Identifier: Apache-2.0

"""Bodies of properties."""

from __future__ import annotations

from typing import Any

from climate import exceptions
from climate.api.http import microversions
from climate.api.http import validation
from climate.api.http.json_schema import BOOLEAN
from climate.api.http.json_schema import form

SCHEMAS: dict[microversions.Microversion, validation.Schema] = {
    microversions.V1_0: {'type': 'object', 'required': ['private']},
    microversions.V1_1: form('private', private=BOOLEAN),
}

_UPDATE = {version: validation.Validator(schema) for version, schema in SCHEMAS.items()}


def read_private(version: microversions.Microversion, body: dict[str, Any]) -> bool:
    """Return whether a property becomes private.

    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    _UPDATE[max(known for known in _UPDATE if known <= version)].check(body)
    private = body['private']
    # Empty values count as false elsewhere; here they would make the property public.
    if private is None or (isinstance(private, str) and private.strip() in {'', 'None'}):
        raise exceptions.MalformedParameter.of('private', 'a boolean is required')
    return validation.boolean('private', private)
