# SPDX-License-Identifier: Apache-2.0

"""Validates bodies against JSON schemas, with readable messages."""

from __future__ import annotations

import functools
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any
from typing import TYPE_CHECKING

import fastjsonschema

from climate import exceptions
from climate.api.http import bodies

if TYPE_CHECKING:
    from climate.api.http import faults

Schema = Mapping[str, Any]
Mismatch = fastjsonschema.JsonSchemaException

_INNER = frozenset({'items', 'properties', 'additionalProperties', 'patternProperties'})


class Validator:
    """A schema that is compiled once.

    fastjsonschema decides whether a body is valid. If it is not, jsonschema finds the
    faults: :mod:`climate.api.http.faults`.

    :param compiled: whether to generate code, which takes some milliseconds for the
        first body; false for a schema that is used once
    """

    def __init__(self, schema: Schema, *, compiled: bool = True) -> None:
        self._schema = _outside_in(schema)
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
        self._faults.refuse(body)

    @functools.cached_property
    def _faults(self) -> faults.BodyFaults:
        from climate.api.http import faults  # noqa: PLC0415  loads jsonschema

        return faults.BodyFaults(self._schema)

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


def field_name(path: Iterable[str | int]) -> str:
    """Return a path as text, such as ``reservations[0].id``."""
    name = ''
    for part in path:
        if isinstance(part, int):
            name += f'[{part}]'
        else:
            name += f'.{part}' if name else part
    return bodies.printable(name)


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
