# SPDX-License-Identifier: Apache-2.0

"""Validates bodies against JSON schemas, with readable messages."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any
from typing import cast

import fastjsonschema
import jsonschema

from climate import exceptions
from climate.api.http import bodies

Schema = Mapping[str, Any]
Mismatch = fastjsonschema.JsonSchemaException

_MOST_FAULTS = 20
_INNER = frozenset({'items', 'properties', 'additionalProperties', 'patternProperties'})

_TYPES = {
    'array': 'a list',
    'boolean': 'a boolean',
    'integer': 'an integer',
    'null': 'null',
    'number': 'a number',
    'object': 'an object',
    'string': 'a string',
}


def _differ(
    _validator: object, wanted: bool, items: Any, _schema: object
) -> Iterator[jsonschema.ValidationError]:
    """Yield a fault if two items of a list are the same.

    The library compares each object in a list with each other one: minutes for as many as a
    body can have.
    """
    if wanted and isinstance(items, list):
        written = {json.dumps(_plain(item), sort_keys=True) for item in items}
        if len(written) < len(items):
            yield jsonschema.ValidationError('the items are not different')


def _plain(value: Any) -> Any:
    """Return a value of which equal ones are written alike: in JSON, 1.0 is 1."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


_FAULTS: Any = jsonschema.validators.extend(
    jsonschema.Draft202012Validator, {'uniqueItems': _differ}
)


class Validator:
    """A schema that is compiled once.

    fastjsonschema decides whether a body is valid. If it is not, jsonschema finds the
    faults, and only the first ones, since a body can have more faults than bytes.

    :param compiled: whether to generate code, which takes some milliseconds for the
        first body; false for a schema that is used once
    """

    def __init__(self, schema: Schema, *, compiled: bool = True) -> None:
        jsonschema.Draft202012Validator.check_schema(schema)
        self._schema = _outside_in(schema)
        self._validator = _FAULTS(self._schema)
        self._compiled = compiled

    @property
    def schema(self) -> Schema:
        """The schema, in the order in which faults are reported."""
        return self._schema

    def check(self, body: Any) -> None:
        """Check *body* against the schema.

        :raises climate.exceptions.InvalidInput: naming the first field that does not
            match, and why
        """
        if self._compiled and self._fits(body):
            return
        self.refuse(body)

    def refuse(self, body: Any) -> None:
        """Check *body* with jsonschema alone, which finds out what is wrong with it.

        :raises climate.exceptions.InvalidInput: as :meth:`check`
        """
        errors = itertools.islice(self._validator.iter_errors(body), _MOST_FAULTS)
        # A missing field at the top is reported before faults further down.
        first = min(errors, key=_depth_first, default=None)
        if first is not None:
            raise _to_exception(first)

    def _fits(self, body: Any) -> bool:
        try:
            self.code(body)
        except Mismatch:
            return False
        return True

    @functools.cached_property
    def code(self) -> Callable[[Any], Any]:
        """The schema as a function, which raises :class:`Mismatch` for an invalid body."""
        made: Callable[[Any], Any] = fastjsonschema.compile(
            dict(self._schema), use_default=False, use_formats=False, detailed_exceptions=False
        )
        return made


def _outside_in(schema: Any) -> Any:
    """Return *schema* ordered so that jsonschema reports outer faults first.

    jsonschema follows the order of keywords and properties.
    """
    if not isinstance(schema, Mapping):
        return schema
    properties = {name: _outside_in(one) for name, one in schema.get('properties', {}).items()}
    ordered = {key: value for key, value in schema.items() if key not in ('properties', 'items')}
    if properties:
        ordered['properties'] = dict(
            sorted(properties.items(), key=lambda item: bool(_INNER & item[1].keys()))
        )
    if 'items' in schema:
        ordered['items'] = _outside_in(schema['items'])
    return ordered


def _depth_first(error: jsonschema.ValidationError) -> tuple[int, bool]:
    return (len(error.absolute_path), error.validator != 'required')


def field_name(path: Iterable[str | int]) -> str:
    """Return a path as text, such as ``reservations[0].id``."""
    name = ''
    for part in path:
        if isinstance(part, int):
            name += f'[{part}]'
        else:
            name += f'.{part}' if name else part
    return bodies.printable(name)


def _to_exception(error: jsonschema.ValidationError) -> exceptions.InvalidInput:
    path = list(error.absolute_path)
    # jsonschema types these as possibly unset, which they never are here.
    kind, schema, instance = str(error.validator), error.schema, cast(Any, error.instance)
    wanted: Any = cast(Any, error.validator_value)
    if kind == 'required':
        missing = next(key for key in wanted if key not in instance)
        return exceptions.MissingParameter(param=field_name([*path, missing]))
    if kind == 'additionalProperties':
        known = cast(Schema, schema).get('properties', {})
        unknown = next(key for key in instance if key not in known)
        return exceptions.InvalidInput(f'Unknown field {field_name([*path, unknown])}')
    facts: dict[str, Any] = {}
    if kind == 'maxLength' and path:
        facts = {'field': field_name(path), 'most': wanted}
    explain = _REASONS.get(kind)
    reason = explain(wanted) if explain else 'the value is not allowed'
    message = f'Malformed parameter {field_name(path) or "body"}: {reason}'
    return exceptions.MalformedParameter(message, **facts)


def _type(wanted: Any) -> str:
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    return f'{" or ".join(_TYPES[name] for name in names)} is required'


_REASONS: dict[str, Callable[[Any], str]] = {
    'type': _type,
    'enum': lambda value: 'one of ' + ', '.join(str(one) for one in value) + ' is required',
    'const': lambda value: f'{value} is required',
    'minLength': lambda value: f'at least {value} character(s) are required',
    'maxLength': lambda value: f'at most {value} characters are allowed',
    'minimum': lambda value: f'at least {value} is required',
    'maximum': lambda value: f'at most {value} is allowed',
    'minItems': lambda value: f'at least {value} item(s) are required',
    'maxItems': lambda value: f'at most {value} items are allowed',
    'pattern': lambda value: f'a text that matches {value} is required',
    'uniqueItems': lambda _value: 'each item may be given once only',
    'exclusiveMinimum': lambda value: f'more than {value} is required',
    'maxProperties': lambda value: f'at most {value} fields are allowed',
    'minProperties': lambda value: f'at least {value} field(s) are required',
}


def boolean(field: str, value: Any) -> bool:
    """Return a boolean that may be written as a word.

    :raises climate.exceptions.MalformedParameter: if it is not a boolean
    """
    if isinstance(value, bool):
        return value
    word = value.strip().lower() if isinstance(value, str) else None
    if word in {'true', '1', 'yes', 'on', 't', 'y'}:
        return True
    if word in {'false', '0', 'no', 'off', 'f', 'n', 'none', ''}:
        return False
    raise exceptions.MalformedParameter.of(bodies.printable(field), 'a boolean is required')
