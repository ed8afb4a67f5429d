# SPDX-License-Identifier: Apache-2.0

"""Parts of the JSON schemas of fields."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from typing import Final

from climate.allocation import requirements
from climate.domain.names import Characters

Schema = dict[str, Any]


def without_others(allowed: Characters) -> Schema:
    """Return what a schema of texts has to have, so that they have only *allowed* characters."""
    return {'not': {'pattern': allowed.value.pattern}}


NO_CONTROLS: Final[Schema] = without_others(Characters.ONE_LINE)
LINES: Final[Schema] = without_others(Characters.LINES)
STORABLE: Final[Schema] = without_others(Characters.ANY)

_KEY = {'type': 'string', 'minLength': 2, 'maxLength': requirements.MAX_KEY + 1, **LINES}
_VALUE = {'anyOf': [{'type': ['boolean', 'number']}, {'type': 'string', **LINES}]}
_WHOLE = {'$ref': '#/$defs/requirement'}
REQUIREMENT: Final[Schema] = {
    'description': (
        f'An expression: at most {requirements.MAX_DEPTH} levels, {requirements.MAX_CONDITIONS} '
        f'comparisons and traits, and {requirements.MAX_CHARACTERS} characters of names and '
        'values. Traits need microversion 1.5.'
    ),
    'type': 'array',
    'anyOf': [
        {
            'prefixItems': [
                {'enum': ['=', *(each.value for each in requirements.Operator)]},
                {**_KEY, 'pattern': r'^\$'},
                _VALUE,
            ],
            'minItems': 3,
            'maxItems': 3,
        },
        {
            'prefixItems': [
                {'const': 'trait'},
                {'type': 'string', 'pattern': f'^{requirements.TRAIT_NAME}$'},
            ],
            'minItems': 2,
            'maxItems': 2,
        },
        {'prefixItems': [{'enum': ['and', 'or']}], 'items': _WHOLE, 'minItems': 2},
        {'prefixItems': [{'const': 'not'}], 'items': _WHOLE, 'minItems': 2, 'maxItems': 2},
    ],
}
"""The JSON schema of a requirement that is written as a list."""


def up_to(most: int) -> str:
    """Return a regular expression for the numbers from 1 to *most*, without leading zeros."""
    digits = str(most)
    patterns = [f'[1-9][0-9]{{0,{len(digits) - 2}}}'] if len(digits) > 1 else []
    for place, digit in enumerate(digits):
        first = '0' if place else '1'
        if digit > first:
            rest = len(digits) - place - 1
            below = f'{digits[:place]}[{first}-{int(digit) - 1}]'
            patterns.append(below + (f'[0-9]{{{rest}}}' if rest else ''))
    return '|'.join([*patterns, digits])


def optional(schema: Schema, *, blank: bool = False) -> Schema:
    """Return the schema of a field that clients may omit or set to null.

    :param blank: whether an empty text means the same
    """
    nothing: list[Any] = [None, ''] if blank else [None]
    if set(schema) == {'enum'}:
        return {
            'enum': [*schema['enum'], *(each for each in nothing if each not in schema['enum'])]
        }
    if set(schema) == {'anyOf'}:
        return {'anyOf': [*schema['anyOf'], {'enum': nothing}]}
    return {'anyOf': [schema, {'enum': nothing}]}


def given(key: str) -> Schema:
    """Return the schema of bodies in which a field is neither null nor empty."""
    return {'required': [key], 'properties': {key: {'not': {'enum': [None, '']}}}}


def named(key: str) -> Schema:
    """Return the schema of bodies in which a field names something."""
    return {'required': [key], 'properties': {key: {'type': 'string', 'pattern': r'\S'}}}


def called(key: str) -> Schema:
    """Return the schema of bodies in which a field is a text that is not blank, or a number."""
    text = {'type': 'string', 'pattern': r'\S'}
    return {'required': [key], 'properties': {key: {'anyOf': [text, {'type': 'integer'}]}}}


def without(keys: Iterable[str]) -> Schema:
    """Return the schema of bodies in which every field of *keys* is null, empty or missing."""
    return {'properties': {key: {'enum': [None, '', [], {}]} for key in keys}}


def including(key: str, *words: str) -> Schema:
    """Return the schema of bodies in which the steps of a field include one of *words*."""
    listed = {'type': 'array', 'contains': {'enum': list(words)}}
    text = {'type': 'string', 'pattern': '|'.join(words)}
    return {'required': [key], 'properties': {key: {'anyOf': [listed, text]}}}


def flagged(key: str, value: bool) -> Schema:
    """Return the schema of bodies in which a boolean is *value*, or its name."""
    text = {'type': 'string', 'pattern': rf'^\s*{any_case(str(value))}\s*$'}
    return {'required': [key], 'properties': {key: {'anyOf': [{'const': value}, text]}}}


def any_case(word: str) -> str:
    """Return a regular expression for a word in any mix of upper and lower case."""
    return ''.join(f'[{letter.upper()}{letter.lower()}]' for letter in word)
