# SPDX-License-Identifier: Apache-2.0

"""Fits lists into a terminal: a line for each row.

Formats for programs, pipes and ``-f wide`` have everything in full.
"""

from __future__ import annotations

import argparse
import datetime
import shutil
import sys
import unicodedata
from collections.abc import Iterable
from collections.abc import Sequence
from typing import Any
from typing import ClassVar
from typing import Final
from typing import Protocol
from typing import TextIO

from cliff import columns as cliff_columns

from climate.client import times
from climate.client.osc import columns

# Columns are not made narrower than this, if others can be left out instead.
_READABLE: Final = 10
_NARROWEST: Final = 3
# A border on the left of each column and after the last, and a blank on both sides.
_BORDERS: Final = 3
_SHORT_ID: Final = 8
_CUT: Final = '…'
_FAR: Final = datetime.timedelta(days=300)


class ListCommand(Protocol):
    """A command with columns that a narrow terminal can do without.

    :ivar spare: these columns, the first one first
    :ivar alike: columns to leave out before, if all rows are alike in them
    """

    spare: ClassVar[Sequence[str]]
    alike: ClassVar[Sequence[str]]


class FittedTable:
    """The formatter of a command, which it gives rows that fit.

    :param formatter: what writes the table
    :param width: of the terminal, in characters
    :param command: has the columns that a narrow terminal can do without
    :param now: the present instant, in the zone of the user
    """

    def __init__(
        self, formatter: Any, width: int, command: ListCommand, now: datetime.datetime
    ) -> None:
        self._formatter = formatter
        self._width = width
        self._command = command
        self._now = now

    def __getattr__(self, name: str) -> Any:
        return getattr(self._formatter, name)

    def emit_list(
        self,
        column_names: Sequence[str],
        data: Iterable[Sequence[Any]],
        stdout: TextIO,
        parsed_args: argparse.Namespace,
    ) -> None:
        """Write the rows."""
        # Columns that the user has selected stay.
        rows = list(data)
        spare = [] if parsed_args.columns else _spare(self._command, column_names, rows)
        fitted = fit(column_names, rows, self._width, spare, self._now)
        self._formatter.emit_list(*fitted, stdout, parsed_args)


def _spare(command: ListCommand, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """Return the columns to leave out of a narrow table, the first one first."""
    values = {name: {_text(row[at]) for row in rows} for at, name in enumerate(names)}
    alike = [name for name in command.alike if len(values.get(name, ())) == 1]
    return [*alike, *(name for name in command.spare if name not in alike)]


def _text(value: Any) -> str:
    return str(value.human_readable() if isinstance(value, columns.IdColumn) else value)


def width_for(parsed: argparse.Namespace) -> int:
    """Return the width that a table has to fit; 0 for any width."""
    if parsed.formatter != 'table':
        return 0
    if parsed.max_width > 0:
        return int(parsed.max_width)
    if parsed.fit_width or sys.stdout.isatty():
        return shutil.get_terminal_size().columns
    return 0


def fit(
    names: Sequence[str],
    rows: Sequence[Sequence[Any]],
    width: int,
    spare: Sequence[str],
    now: datetime.datetime,
) -> tuple[list[str], list[list[Any]]]:
    """Return the names of columns and the rows of a table that is not wider than *width*.

    Ids are as short as they can be and differ, times have no zone, and long texts are cut in
    the middle. If that is not enough, columns are left out.

    :param spare: the columns to leave out, the first one first
    :param now: the present instant, in the zone of the user
    """
    if not rows:
        return list(names), []
    table = {name: _cells([row[at] for row in rows], now) for at, name in enumerate(names)}
    rigid = {
        name
        for at, name in enumerate(names)
        if any(isinstance(row[at], columns.IdColumn | columns.TimeColumn) for row in rows)
    }
    room = {name: max(_length(name), *map(_length, cells), 0) for name, cells in table.items()}
    for name in spare:
        least = (wide if each in rigid else min(wide, _READABLE) for each, wide in room.items())
        if _total(least) <= width:
            break
        table.pop(name, None)
        room.pop(name, None)
    while _total(room.values()) > width:
        widest = max(room, key=lambda each: -1 if each in rigid else room[each])
        if widest in rigid or room[widest] <= _NARROWEST:
            break
        room[widest] -= 1
    cut = [[_shortened(cell, room[name]) for cell in cells] for name, cells in table.items()]
    headers = [_shortened(name, room[name]) for name in table]
    return headers, [list(row) for row in zip(*cut, strict=True)]


def _total(widths: Iterable[int]) -> int:
    cells = list(widths)
    return sum(cells) + _BORDERS * len(cells) + 1


def _cells(values: Sequence[Any], now: datetime.datetime) -> list[Any]:
    ids = [value for value in values if isinstance(value, columns.IdColumn)]
    short = iter(short_ids([value.human_readable() for value in ids]))
    return [
        next(short) if isinstance(value, columns.IdColumn) else _cell(value, now)
        for value in values
    ]


def _cell(value: Any, now: datetime.datetime) -> Any:
    if isinstance(value, columns.TimeColumn):
        return short_time(value.machine_readable(), now)
    if isinstance(value, cliff_columns.FormattableColumn):
        value = value.human_readable()
    # Numbers are aligned on the right by what writes the table.
    return ', '.join(value.split('\n')) if isinstance(value, str) else value


def short_ids(ids: Sequence[str]) -> list[str]:
    """Return the beginnings of ids, as long as they must be to differ."""
    different = set(ids)
    for length in range(_SHORT_ID, max(map(len, different), default=0)):
        if len({each[:length] for each in different}) == len(different):
            return [each[:length].rstrip('-') for each in ids]
    return list(ids)


def short_time(text: str | None, now: datetime.datetime) -> str:
    """Return an instant of the API without zone, and without year unless it is far away.

    :param text: ISO 8601; '' is returned for None
    :param now: the present instant, in the zone of the user
    """
    if not text:
        return ''
    local = times.read(text).astimezone(now.tzinfo)
    return f'{local:%d %b %H:%M}' if abs(local - now) < _FAR else f'{local:%Y-%m-%d %H:%M}'


def _length(value: Any) -> int:
    """Return the cells of a terminal that a text takes."""
    return sum(
        0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in 'WF' else 1
        for sign in str(value)
    )


def _shortened(value: Any, width: int) -> Any:
    """Return a text that takes at most *width* cells: its beginning and its end."""
    if _length(value) <= width:
        return value
    text = str(value)
    kept = len(text) - 1
    while kept > 0:
        shortened = text[: -(-kept // 2)] + _CUT + (text[-(kept // 2) :] if kept // 2 else '')
        if _length(shortened) <= width:
            return shortened
        kept -= 1
    return _CUT
