# SPDX-License-Identifier: Apache-2.0

"""Words of JSON Schema that the schemas of the document are made of."""

from __future__ import annotations

import enum
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

from climate.domain import names

Json = dict[str, Any]

TEXT: Final[Json] = {'type': 'string'}
WHOLE: Final[Json] = {'type': 'integer'}
COUNT: Final[Json] = {'type': 'integer', 'minimum': 0}
BOOLEAN: Final[Json] = {'type': 'boolean'}
NULL: Final[Json] = {'type': 'null'}
UUID: Final[Json] = {'type': 'string', 'format': 'uuid'}
RESOURCE_ID: Final[Json] = {'type': 'string', 'pattern': '^[0-9]{1,10}$'}

_PREFIX: Final = '#/components/schemas/'
_OWN: Final = '#/$defs/'


def ref(name: str) -> Json:
    """Return a reference to a component."""
    return {'$ref': _PREFIX + name}


def references(schema: Any) -> set[str]:
    """Return the names of the components that *schema* refers to."""
    if isinstance(schema, Mapping):
        target = schema.get('$ref')
        referred = set()
        if isinstance(target, str) and target.startswith(_PREFIX):
            referred.add(target.removeprefix(_PREFIX))
        return referred.union(*(references(one) for one in schema.values()))
    if isinstance(schema, Sequence) and not isinstance(schema, str):
        return set().union(*(references(one) for one in schema))
    return set()


def renamed(schema: Any, names: Mapping[str, str]) -> Any:
    """Return a schema whose references to own definitions are references to components.

    :param names: of components, by the names of definitions
    """
    if isinstance(schema, Mapping):
        target = schema.get('$ref')
        if isinstance(target, str) and target.startswith(_OWN):
            return {**schema, '$ref': _PREFIX + names[target.removeprefix(_OWN)]}
        return {key: renamed(value, names) for key, value in schema.items()}
    if isinstance(schema, list):
        return [renamed(one, names) for one in schema]
    return schema


def choice(kind: type[enum.StrEnum]) -> Json:
    """Return the schema of a text that is one of those of an enumeration."""
    return {**TEXT, 'enum': [one.value for one in kind]}


def or_null(schema: Json) -> Json:
    """Return the schema of a value that may be null."""
    if isinstance(schema.get('type'), str) and 'enum' not in schema:
        return {**schema, 'type': [schema['type'], 'null']}
    return {'anyOf': [schema, NULL]}


def listed(schema: Json) -> Json:
    """Return the schema of a list."""
    return {'type': 'array', 'items': schema}


def by_name(schema: Json) -> Json:
    """Return the schema of an object whose keys are names."""
    return {'type': 'object', 'additionalProperties': schema}


def record(properties: Json, *, optional: Collection[str] = (), closed: bool = True) -> Json:
    """Return the schema of an object with all *properties* but the *optional* ones.

    :param closed: whether it has no further ones
    """
    required = [name for name in properties if name not in optional]
    schema: Json = {'type': 'object', 'properties': properties}
    if required:
        schema['required'] = required
    if closed:
        schema['additionalProperties'] = False
    return schema


def form(*required: str, **properties: Json) -> Json:
    """Return the schema of an object in a request: some fields are required, others unknown."""
    needed: Json = {'required': list(required)} if required else {}
    return {'type': 'object', **needed, 'additionalProperties': False, 'properties': properties}


def some_of(**properties: Json) -> Json:
    """Return the schema of a change: an object in a request with some of these fields."""
    return {'type': 'object', 'minProperties': 1, **form(**properties)}


def portable(schema: Any) -> Any:
    r"""Return a schema with patterns that are not for Python only.

    Others do not know ``\Z``, and some refuse halves of surrogate pairs, which are in no UTF-8.
    """
    if isinstance(schema, Mapping):
        return {
            key: value.replace('\\Z', '$').replace(names.SURROGATES, '')
            if key == 'pattern' and isinstance(value, str)
            else portable(value)
            for key, value in schema.items()
        }
    if isinstance(schema, list | tuple):
        return [portable(one) for one in schema]
    return schema
