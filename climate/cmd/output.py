# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Prints what commands find, as a table or as JSON.

A table has no borders and never wraps, so that ``awk`` and ``sort`` can read it. JSON is
one document, with times in ISO 8601 and null for what is unknown.
"""

from __future__ import annotations

import argparse
import datetime
import json
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

from climate.cmd import logs
from climate.cmd.composition import say

Row = Mapping[str, Any]

TABLE: Final = 'table'
JSON: Final = 'json'


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add the option that chooses the format."""
    parser.add_argument(
        '-f',
        '--format',
        choices=(TABLE, JSON),
        default=TABLE,
        help='print a table (the default) or JSON',
    )


def rows(found: Sequence[Row], columns: Sequence[str], form: str) -> None:
    """Print rows; a table without rows is empty.

    :param columns: the keys to print, in this order
    :param form: :data:`TABLE` or :data:`JSON`
    """
    if form == JSON:
        document([{name: row[name] for name in columns} for row in found])
        return
    if not found:
        return
    table = [[name.upper() for name in columns]]
    table += [[_cell(row[name]) for name in columns] for row in found]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        say('  '.join(cells).rstrip())


def fields(found: Row) -> None:
    """Print one object, a line for each of its fields."""
    width = max(map(len, found))
    for name, value in found.items():
        say(f'{name:<{width}}  {_cell(value)}'.rstrip())


def document(found: Any) -> None:
    """Print a JSON document."""
    say(json.dumps(found, default=_text, indent=2))


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
