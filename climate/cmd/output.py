# SPDX-License-Identifier: Apache-2.0

"""Prints what commands find, as a table or as JSON.

A table has no borders and never wraps, so that ``awk`` and ``sort`` can read it. JSON is
one document, with times in ISO 8601 and null for what is unknown.
"""

from __future__ import annotations

import argparse
import datetime
import json
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

from climate.cmd import logs
from climate.cmd.composition import say

Row = Mapping[str, Any]

TABLE: Final = 'table'
JSON: Final = 'json'
EVENT: Final = ('id', 'lease_id', 'kind', 'state', 'time', 'due', 'attempts', 'error')
"""What is printed of an event of a lease."""


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add the option that chooses the format."""
    parser.add_argument(
        '-f',
        '--format',
        choices=(TABLE, JSON),
        default=TABLE,
        help='print a table (the default) or JSON',
    )


def row(thing: object, names: Iterable[str]) -> dict[str, Any]:
    """Return some attributes of an object, by name."""
    return {name: getattr(thing, name) for name in names}


def rows(lines: Sequence[Row], columns: Sequence[str], form: str) -> None:
    """Print rows; a table without rows is empty.

    :param columns: the keys to print, in this order
    :param form: :data:`TABLE` or :data:`JSON`
    """
    if form == JSON:
        document([{name: row[name] for name in columns} for row in lines])
        return
    if not lines:
        return
    table = [[name.upper() for name in columns]]
    table += [[_cell(row[name]) for name in columns] for row in lines]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        say('  '.join(cells).rstrip())


def fields(values: Row) -> None:
    """Print one object, a line for each of its fields."""
    width = max(map(len, values))
    for name, value in values.items():
        say(f'{name:<{width}}  {_cell(value)}'.rstrip())


def document(content: Any) -> None:
    """Print a JSON document."""
    say(json.dumps(content, default=_text, indent=2))


def _cell(value: Any) -> str:
    """Return a value as one line without control characters; ``-`` if it is unknown."""
    if value is None or value == '':
        return '-'
    if isinstance(value, (list, tuple)):
        return ','.join(map(_cell, value)) or '-'
    return logs.one_line(_text(value))


def _text(value: Any) -> str:
    if isinstance(value, datetime.datetime):
        return value.strftime('%Y-%m-%dT%H:%M:%SZ')
    return str(value)
