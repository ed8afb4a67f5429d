# SPDX-License-Identifier: Apache-2.0

"""The operations of the OpenAPI document as reStructuredText tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_HEAD = ('Operation', 'From', 'Purpose', 'Reads', 'Answers')
_REF = re.compile(r'.*/')


def rst_tables(document: dict[str, Any]) -> str:
    """Return a ``list-table`` with a row per operation."""
    lines = ['.. list-table::', '   :header-rows: 1', '   :widths: 34 6 30 15 15', '']
    for row in (_HEAD, *_rows(document)):
        lines += [f'   {"*" if not place else " "} - {cell}' for place, cell in enumerate(row)]
    return '\n'.join([*lines, ''])


def _rows(document: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for path, item in document['paths'].items():
        for verb, operation in item.items():
            yield (
                f'``{verb.upper()} {path}``',
                operation['x-climate-since'],
                operation['summary'],
                _names(operation.get('requestBody', {})),
                _names(_success(operation)),
            )


def _success(operation: dict[str, Any]) -> list[Any]:
    answers = operation['responses'].items()
    return [answer for status, answer in answers if status.startswith('2')]


def _names(holder: Any) -> str:
    """Return the components that a body consists of at its top, and else its fields."""
    found: list[str] = []
    _collect(holder, found)
    return ', '.join(f'``{name}``' for name in dict.fromkeys(found)) or '\\-'


def _collect(schema: Any, found: list[str]) -> None:
    if isinstance(schema, list):
        for one in schema:
            _collect(one, found)
    elif isinstance(schema, dict):
        if 'properties' in schema:
            found += schema['properties']
        elif '$ref' in schema:
            found.append(_REF.sub('', schema['$ref']))
        else:
            for value in schema.values():
                _collect(value, found)
