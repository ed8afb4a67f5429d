# SPDX-License-Identifier: Apache-2.0

"""Bars over time, drawn with characters."""

from __future__ import annotations

import datetime
import zoneinfo

from hypothesis import given
from hypothesis import strategies as st

from climate.client import gantt
from climate.domain.periods import Period
from tests import base

START = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)
HOUR = datetime.timedelta(hours=1)
DAY = Period(start=START, end=START + 24 * HOUR)


def bar(first: float, last: float, text: str = '') -> gantt.Bar:
    """Return a bar from one hour to another."""
    return gantt.Bar(
        period=Period(start=START + first * HOUR, end=START + last * HOUR), sign='█', text=text
    )


class GanttTest(base.TestCase):
    """A row for each thing."""

    def test_a_chart(self) -> None:
        rows = [
            gantt.Row(name='demo', bars=[bar(0, 6), bar(12, 24, 'x')]),
            gantt.Row(name='a longer name', bars=[bar(-9, 1), bar(30, 40)]),
        ]
        expected = [
            '               |Tue 01 Jan |06:00      |12:00      |18:00',
            'demo          ▕████████████            █x██████████████████████▏',
            'a longer name ▕██                                              ▏',
        ]
        self.assertEqual(expected, gantt.draw(rows, DAY, 64, datetime.UTC))

    def test_a_long_name_is_cut(self) -> None:
        lines = gantt.draw([gantt.Row(name='n' * 50, bars=[])], DAY, 60, datetime.UTC)
        self.assertEqual(('n' * 19 + '… ▕', 60), (lines[1][:22], len(lines[1])))

    def test_days_begin_at_midnight_after_a_change_of_the_clock(self) -> None:
        berlin = zoneinfo.ZoneInfo('Europe/Berlin')
        start = datetime.datetime(2030, 3, 30, tzinfo=berlin)
        week = Period(start=start, end=start + datetime.timedelta(days=7))
        found = [part.strip() for part in gantt.draw([], week, 140, berlin)[0].split('|')[1:5]]
        self.assertEqual(['Sat 30 Mar', 'Sun 31 Mar', 'Mon 01 Apr', 'Tue 02 Apr'], found)

    @given(st.floats(0, 23.9), st.floats(0.001, 100), st.integers(20, 200))
    def test_every_bar_is_seen(self, first: float, length: float, width: int) -> None:
        row = gantt.Row(name='', bars=[bar(first, first + length)])
        line = gantt.draw([row], DAY, width, datetime.UTC)[1]
        self.assertIn('█', line)
        self.assertEqual(max(width, 23), len(line))
