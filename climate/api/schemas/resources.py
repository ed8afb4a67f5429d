# SPDX-License-Identifier: Apache-2.0

"""Bodies of resources of any type, from microversion 1.2 on."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping
from typing import Any
from typing import Final

from climate import exceptions
from climate.api.http import bodies
from climate.api.http.json_schema import BOOLEAN
from climate.api.http.json_schema import form
from climate.api.http.json_schema import Json
from climate.api.http.json_schema import some_of
from climate.api.http.microversions import Microversion
from climate.api.http.microversions import V1_2
from climate.api.http.microversions import V1_6
from climate.api.http.validation import Schema
from climate.api.http.validation import Validator
from climate.api.schemas import capabilities
from climate.api.schemas import inventories
from climate.domain.requests import ResourceChange
from climate.domain.resources import ResourceDraft

_NAME: Final = {'type': 'string', 'minLength': 1, 'maxLength': 255}
CREATE = Validator(
    form(
        'resource_type',
        resource_type={'type': 'string', 'minLength': 1, 'maxLength': 64},
        name=_NAME,
        attributes={'type': 'object', 'maxProperties': 100},
        properties={'type': 'object'},
        inventories=inventories.schema(1),
    )
)
_CHANGES: Final[Mapping[str, Json]] = {
    'disabled': BOOLEAN,
    'properties': {'type': 'object'},
    'inventories': inventories.schema(1),
}


UPDATE: Final[Mapping[Microversion, Validator]] = {
    V1_2: Validator(some_of(**_CHANGES)),
    V1_6: Validator(some_of(name=_NAME, **_CHANGES)),
}


def check_new(body: dict[str, Any]) -> None:
    """Check the fields that resources of all types have.

    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    CREATE.check(body)


def read_new(body: dict[str, Any], schema: Schema, reserved: Collection[str] = ()) -> ResourceDraft:
    """Return the draft of a new resource from a checked body.

    :param schema: of the attributes of its type
    :param reserved: names that properties of its type cannot have
    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    attributes = body.get('attributes', {})
    required = ['attributes'] if schema.get('required') else []
    whole = Validator(
        {'type': 'object', 'required': required, 'properties': {'attributes': schema}},
        compiled=False,
    )
    whole.check(body)
    # Resources that attributes identify are named after them.
    named = not schema.get('required')
    if named and 'name' not in body:
        raise exceptions.MissingParameter(param='name')
    if not named and 'name' in body:
        raise exceptions.MalformedParameter.of(
            'name', 'resources of this type are named after their attributes'
        )
    properties = capabilities.read(body.get('properties', {}), reserved)
    return ResourceDraft(
        resource_type=body['resource_type'],
        name=bodies.name('name', body.get('name', '')),
        attributes={key: _whole(value) for key, value in attributes.items()},
        # A new resource has nothing to remove, so null is ignored.
        capabilities={key: text for key, text in properties.items() if text is not None},
        inventories=inventories.read('inventories', body.get('inventories', {})),
    )


def check_change(version: Microversion, body: dict[str, Any]) -> None:
    """Check the change of a resource.

    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    UPDATE[max(known for known in UPDATE if known <= version)].check(body)
    capabilities.read(body.get('properties', {}), reserved=())


def read_change(body: dict[str, Any], reserved: Collection[str] = ()) -> ResourceChange:
    """Return the change of a resource from a checked body.

    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    wanted = body.get('inventories')
    return ResourceChange(
        name=bodies.name('name', body['name']) if 'name' in body else None,
        capabilities=capabilities.read(body.get('properties', {}), reserved),
        disabled=body.get('disabled'),
        inventories=None if wanted is None else inventories.read('inventories', wanted),
    )


def _whole(value: Any) -> Any:
    """Return an attribute; 4.0 is an integer in JSON, but not for a database."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
