# SPDX-License-Identifier: Apache-2.0

"""Lists fit into a terminal."""

from __future__ import annotations

import datetime
import io
import types
import unicodedata
from typing import Any

from cliff.formatters import table
from hypothesis import given
from hypothesis import strategies as st

from climate.client.osc import columns
from climate.client.osc import tables
from climate.client.osc import wide
from tests import base

NOW = datetime.datetime(2030, 1, 2, 9, tzinfo=datetime.UTC)
NAMES = ('ID', 'Name', 'Status', 'Start', 'Reservations', 'Owner')
FIRST = '0b8e1a52-64f0-4c0e-9a55-1f3c9d7be210'
SECOND = '0b8e1a52-64f1-4c0e-9a55-1f3c9d7be210'
HOSTS = {'resource_type': 'physical:host', 'min': 2, 'max': 2}
VOLUMES = {'resource_type': 'virtual:volume', 'amount': 1}


def row(lease_id: str = FIRST, name: str = 'training', owner: Any = 'alice') -> list[Any]:
    """Return a row of a list of leases."""
    return [
        columns.IdColumn(lease_id),
        name,
        'PENDING',
        columns.TimeColumn('2030-01-31T08:00:00Z'),
        columns.SummaryColumn([HOSTS, VOLUMES]),
        owner,
    ]


def cells(text: str) -> int:
    """Return how many cells of a terminal a line takes."""
    return sum(2 if unicodedata.east_asian_width(each) in 'WF' else 1 for each in text)


class FittedTablesTest(base.TestCase):
    """A line for each row, and no line longer than the terminal."""

    def draw(self, rows: list[list[Any]], width: int, spare: tuple[str, ...] = ()) -> list[str]:
        out = io.StringIO()
        command: Any = types.SimpleNamespace(spare=spare, alike=('Owner',))
        arguments: Any = types.SimpleNamespace(
            columns=[], print_empty=False, max_width=width, fit_width=False
        )
        found = tables.FittedTable(table.TableFormatter(), width, command, NOW)
        found.emit_list(NAMES, rows, out, arguments)
        return out.getvalue().splitlines()

    def test_everything_that_has_room(self) -> None:
        lines = self.draw([row(), row(SECOND, owner='bob')], 200)
        self.assertIn('| 31 Jan 08:00 | 2 hosts, 1 volume | alice |', lines[3])
        self.assertIn('| 0b8e1a52-64f1 |', lines[4])
        self.assertEqual(6, len(lines))

    def test_long_names_are_cut_in_the_middle(self) -> None:
        lines = self.draw([row(name='practice-of-the-group-in-room-5')], 70, ('Reservations',))
        self.assertRegex(lines[3], r'\| practi\S*…\S*room-5 +\|')
        self.assertNotIn('alice', lines[3])
        self.assertEqual({70}, set(map(len, lines)))

    @given(
        st.lists(st.tuples(st.uuids(), st.text('aé日本- ', max_size=40)), min_size=1, max_size=5),
        st.integers(60, 140),
    )
    def test_no_line_is_too_long(self, found: list[tuple[Any, str]], width: int) -> None:
        rows = [row(str(lease_id), name) for lease_id, name in found]
        lines = self.draw(rows, width, ('Reservations',))
        self.assertEqual(len(rows) + 4, len(lines))
        self.assertLessEqual(max(map(cells, lines)), width)

    @given(st.lists(st.uuids().map(str), max_size=20))
    def test_short_ids_are_unique_beginnings(self, ids: list[str]) -> None:
        for whole, beginning in zip(ids, tables.short_ids(ids), strict=True):
            self.assertEqual({whole}, {each for each in ids if each.startswith(beginning)})

    def test_times(self) -> None:
        for text, expected in (
            (None, ''),
            ('2030-01-31T08:00:30.5Z', '31 Jan 08:00'),
            ('2031-01-31T08:00:00Z', '2031-01-31 08:00'),
        ):
            self.assertEqual(expected, tables.short_time(text, NOW))

    def test_no_rows(self) -> None:
        self.assertEqual((list(NAMES), []), tables.fit(NAMES, [], 40, (), NOW))

    def test_wide_shows_everything(self) -> None:
        out = io.StringIO()
        arguments: Any = types.SimpleNamespace()
        wide.WideFormatter().emit_list(NAMES, [row(name='x' * 300)], out, arguments)
        self.assertIn('x' * 300, out.getvalue())
        self.assertIn(FIRST, out.getvalue())
        wide.WideFormatter().emit_one(('name',), ['x' * 300], out, arguments)
        self.assertRegex(out.getvalue(), '| name  | x{300} |')
