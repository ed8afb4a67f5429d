# SPDX-License-Identifier: Apache-2.0

"""Finds out what is wrong with a body that does not match its JSON schema.

Loaded for the first such body, with jsonschema: most processes could do without it for long.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from collections.abc import Iterator
from typing import Any
from typing import cast

import jsonschema

from climate import exceptions
from climate.api.http.validation import field_name
from climate.api.http.validation import Schema

_MOST_FAULTS = 20

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


class BodyFaults:
    """Finds the faults of bodies; only the first ones, as a body can have more than bytes.

    :param schema: in the order in which faults are reported
    """

    def __init__(self, schema: Schema) -> None:
        jsonschema.Draft202012Validator.check_schema(schema)
        self._validator = _FAULTS(schema)

    def refuse(self, body: Any) -> None:
        """Check *body* against the schema.

        :raises climate.exceptions.InvalidInput: naming the first field that does not
            match, and why
        """
        errors = itertools.islice(self._validator.iter_errors(body), _MOST_FAULTS)
        # A missing field at the top is reported before faults further down.
        first = min(errors, key=_depth_first, default=None)
        if first is not None:
            raise _to_exception(first)


def _depth_first(error: jsonschema.ValidationError) -> tuple[int, bool]:
    return (len(error.absolute_path), error.validator != 'required')


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
