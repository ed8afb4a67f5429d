# SPDX-License-Identifier: Apache-2.0

"""Bodies of declared resource types, in requests and in files."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.api.http.json_schema import form
from climate.api.http.json_schema import some_of
from climate.api.http.microversions import MAX
from climate.api.http.microversions import Microversion
from climate.api.http.microversions import V1_2
from climate.api.http.microversions import V1_7
from climate.api.http.validation import Validator
from climate.api.schemas import inventories
from climate.domain.resource_types import Declaration
from climate.domain.resource_types import Origin

_FIELDS: dict[str, Any] = {
    'description': {'type': 'string', 'maxLength': 1000},
    'exclusive': {'type': 'boolean'},
    'noun': {'type': 'string', 'minLength': 1, 'maxLength': 64},
    'classes': inventories.schema(0),
    'announce': {
        'type': 'array',
        'maxItems': 32,
        'items': {'type': 'string', 'minLength': 1, 'maxLength': 64},
    },
}
_FIELDS_1_7: dict[str, Any] = {**_FIELDS, 'noun_one': _FIELDS['noun']}
_NAME = {'type': 'string', 'maxLength': 64, 'pattern': '^custom:[a-z0-9_-]+\\Z'}


def _create(fields: dict[str, Any]) -> Validator:
    return Validator(form('name', name=_NAME, **fields))


def _update(fields: dict[str, Any]) -> Validator:
    return Validator(some_of(**fields))


CREATE = {V1_2: _create(_FIELDS), V1_7: _create(_FIELDS_1_7)}
"""Validators by the microversion from which on each is used."""
UPDATE = {V1_2: _update(_FIELDS), V1_7: _update(_FIELDS_1_7)}
"""Likewise."""


def read_new(body: Any, origin: Origin = Origin.API, version: Microversion = MAX) -> Declaration:
    """Return the declaration of a new type.

    :param version: of the request; a file has all fields
    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    _at(CREATE, version).check(body)
    return _checked(Declaration(name=body['name'], origin=origin, **_facts(body)))


def check_change(body: dict[str, Any], version: Microversion) -> None:
    """Check the change of a declaration.

    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    _at(UPDATE, version).check(body)
    _facts(body)


def changed(old: Declaration, body: dict[str, Any]) -> Declaration:
    """Return *old* with the changes of a checked body.

    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    return _checked(dataclasses.replace(old, **_facts(body)))


def _at(validators: Mapping[Microversion, Validator], version: Microversion) -> Validator:
    return validators[max(known for known in validators if known <= version)]


def _facts(body: dict[str, Any]) -> dict[str, Any]:
    facts = {key: body[key] for key in _FIELDS_1_7 if key in body}
    if 'classes' in facts:
        facts['classes'] = inventories.read('classes', facts['classes'])
    if 'announce' in facts:
        facts['announce'] = tuple(dict.fromkeys(facts['announce']))
    return facts


def _checked(declaration: Declaration) -> Declaration:
    if declaration.exclusive and declaration.classes:
        raise exceptions.MalformedParameter.of(
            'classes', 'an exclusive type has none, because its resources are reserved as a whole'
        )
    if not declaration.exclusive and not declaration.classes:
        raise exceptions.MissingParameter(
            'Missing parameter classes: a type that is not exclusive requires at least one'
        )
    return declaration
