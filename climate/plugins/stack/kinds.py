# SPDX-License-Identifier: Apache-2.0
"""The kinds of fields that only the request of a stack has."""

from __future__ import annotations

import dataclasses
from typing import Any
from typing import Final

from climate.domain.names import Characters
from climate.plugins import fields
from climate.plugins import schemas
from climate.plugins.fields import Fault
from climate.plugins.steps import Actions

DEFAULT: Final = 'default'
_STORABLE_TEXT: schemas.Schema = {'type': 'string', **schemas.STORABLE}
_STORABLE: schemas.Schema = {
    'description': 'A value without the characters that no database can store.',
    'anyOf': [
        {'type': ['boolean', 'number', 'null']},
        _STORABLE_TEXT,
        {'type': 'array', 'items': {'$ref': '#/$defs/storable'}},
        {
            'type': 'object',
            'propertyNames': schemas.STORABLE,
            'additionalProperties': {'$ref': '#/$defs/storable'},
        },
    ],
}


@dataclasses.dataclass(frozen=True)
class StackActions(Actions):
    """Actions on a stack; clients have a word for the default."""

    blank: bool = True

    @property
    def schema(self) -> schemas.Schema:
        """The JSON schema of the values it takes."""
        return {'anyOf': [*super().schema['anyOf'], {'const': DEFAULT}]}

    def read(self, value: Any) -> tuple[str, ...] | None:
        """Return the actions."""
        return None if value == DEFAULT else super().read(value)


@dataclasses.dataclass(frozen=True)
class Content(fields.Kind):
    """A text of any length, such as a template."""

    characters = Characters.ANY
    kind = 'text'

    @property
    def schema(self) -> schemas.Schema:
        """The JSON schema of the values it takes."""
        return _STORABLE_TEXT

    def read(self, value: Any) -> str:
        """Return the text."""
        if not isinstance(value, str) or fields.UNSTORABLE.search(value):
            raise Fault('it is not a text')
        return value


@dataclasses.dataclass(frozen=True)
class ParameterValues(fields.Kind):
    """Values of any type, by name."""

    characters = Characters.ANY
    kind = 'object'
    definitions = {'storable': _STORABLE}

    @property
    def schema(self) -> schemas.Schema:
        """The JSON schema of the values it takes."""
        return {'type': 'object', '$ref': '#/$defs/storable'}

    def read(self, value: Any) -> dict[str, Any]:
        """Return the values."""
        if not isinstance(value, dict) or not _is_storable(value):
            raise Fault('it is not an object')
        return value


@dataclasses.dataclass(frozen=True)
class Files(fields.Kind):
    """Texts by name."""

    characters = Characters.ANY
    kind = 'object'

    @property
    def schema(self) -> schemas.Schema:
        """The JSON schema of the values it takes."""
        return {
            'type': 'object',
            'propertyNames': schemas.STORABLE,
            'additionalProperties': _STORABLE_TEXT,
        }

    def read(self, value: Any) -> dict[str, str]:
        """Return the texts."""
        if not isinstance(value, dict) or not _is_storable(value):
            raise Fault('it is not an object')
        for name, text in value.items():
            if not isinstance(text, str):
                raise Fault(f'{name[:60]!r} is not a text')
        return value


def _is_storable(value: Any) -> bool:
    """Whether every database engine can store each text in a JSON value."""
    if isinstance(value, dict):
        return all(_is_storable(key) and _is_storable(item) for key, item in value.items())
    if isinstance(value, list):
        return all(_is_storable(item) for item in value)
    return not (isinstance(value, str) and fields.UNSTORABLE.search(value))


_KEEPS_NONE: Final = 'Heat deletes the snapshots of a stack with it'
ON_END: Final = StackActions(
    'What is done with the stack at the end, step by step; by default one that exists is saved '
    'and suspended.',
    words=('snapshot', 'suspend', 'delete'),
    # The actions that Heat allows after each action, and that are of use: it deletes
    # the snapshots of a stack with the stack, and cannot resume one whose snapshot
    # was taken while it was suspended.
    after={
        'snapshot': frozenset({'suspend'}),
        'suspend': frozenset({'delete'}),
        'delete': frozenset(),
    },
    reasons={
        ('snapshot', 'delete'): _KEEPS_NONE,
        ('suspend', 'snapshot'): 'Heat could not resume it any more',
    },
)
BEFORE_END: Final = StackActions(
    'What is done shortly before the end, when its owner is notified.', words=('snapshot', 'notify')
)
