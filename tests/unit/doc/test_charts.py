# SPDX-License-Identifier: Apache-2.0

"""Pictures show what was recorded, and the timeline what the schedule says."""

from __future__ import annotations

import datetime
import json
from typing import Any
from xml.etree import ElementTree

from climate.domain.events import EventKind
from doc.ext import charts
from doc.ext import free_hosts
from doc.ext import timeline
from doc.ext import waits
from doc.ext.charts import Picture
from doc.ext.svg import NAMESPACE
from tests import base

RECORD = {
    'now': '2030-01-02T09:00:00+00:00',
    'hosts': ['compute-1', 'compute-2'],
    'allocations': [
        {
            'host': 'compute-1',
            'lease': 'long lease',
            'status': 'ACTIVE',
            'start': '2030-01-02T09:00:00Z',
            'end': '2030-01-02T21:00:00Z',
        },
        {
            'host': 'compute-2',
            'lease': 'a name that is too long for an hour',
            'status': 'PENDING',
            'start': '2030-01-03T08:00:00Z',
            'end': '2030-01-03T09:00:00Z',
        },
    ],
    'maintenances': [
        {'host': 'compute-2', 'start': '2030-01-02T12:00:00Z', 'end': '2030-01-02T15:00:00Z'}
    ],
}


def figure(engine: str, value: float, what: str = 'search', **others: Any) -> dict[str, Any]:
    """Return a figure as benchmarks print it."""
    found = {'engine': engine, 'what': what, 'value': value, 'unit': 'ms', 'aim': None}
    return {**found, 'samples': [], **others}


def found(picture: Picture, tag: str, kind: str | None = None) -> list[ElementTree.Element]:
    """Return the elements of a picture, or those of a class."""
    every = picture.sheet.root.iter(f'{{{NAMESPACE}}}{tag}')
    return [each for each in every if kind is None or each.get('class') == kind]


def words(picture: Picture) -> list[str]:
    """Return the texts of a picture."""
    return [each.text or '' for each in found(picture, 'text')]


class HostsTest(base.TestCase):
    def test_a_bar_for_each_allocation(self) -> None:
        picture = charts.hosts(RECORD)
        active = [
            bar for bar in found(picture, 'rect', 'first') if float(bar.get('height', '')) > 12
        ]
        self.assertEqual(1, len(active))
        # Twelve of twenty-four hours.
        axis = picture.sheet.width - charts._LABEL - 16
        self.assertAlmostEqual(axis / 2 - 1.5, float(active[0].get('width', '')), places=0)
        self.assertAlmostEqual(charts._LABEL, float(active[0].get('x', '')), places=3)

    def test_names_that_fit_are_shown(self) -> None:
        shown = words(charts.hosts(RECORD))
        for name in ('compute-1', 'compute-2', 'long lease', '+24 h'):
            self.assertIn(name, shown)
        self.assertNotIn('a name that is too long for an hour', shown)

    def test_all_is_reported_in_words(self) -> None:
        text = charts.hosts(RECORD).description
        self.assertIn('compute-1 has long lease (ACTIVE).', text)
        self.assertIn('compute-2 is in maintenance once.', text)


class FiguresTest(base.TestCase):
    def test_histogram(self) -> None:
        samples = [*([4.0] * 60), *([14.0] * 30), *([24.0] * 10)]
        picture = charts.lateness([figure('SQLite', 24.0, 'starts: late, p99', samples=samples)])
        self.assertIn('SQLite: median 4 ms, 99 of 100 within 24 ms', words(picture))
        bars = found(picture, 'rect', charts.ENGINES['SQLite'])
        heights = sorted((float(bar.get('height', '')) for bar in bars), reverse=True)
        self.assertEqual([56, 28, 9.3333], heights)

    def test_free_hosts(self) -> None:
        asked = {'hosts': 2, 'hours': 1, 'periods': [
            {'start': '2030-01-01T14:00:00Z', 'end': '2030-01-01T15:00:00Z'}]}  # fmt: skip
        picture = free_hosts.free_hosts({
            'hosts': ['a', 'b', 'c', 'd'],
            'free': {'start': '2030-01-01T12:00:00Z', 'hosts': [0, 2, 4]},
            'offers': [asked],
        })  # fmt: skip
        cells = found(picture, 'rect', 'first')[:3]
        self.assertEqual(['0.06', '0.5', '1'], [cell.get('fill-opacity') for cell in cells])
        offered = found(picture, 'rect', 'third')[0]
        self.assertEqual(cells[2].get('x'), offered.get('x'))
        self.assertIn('2 hosts for 1 h: offers after 2 hours.', picture.description)

    def test_bars(self) -> None:
        figures = [figure('SQLite', 10.0, aim=20.0), figure('MariaDB', 40.0, aim=20.0)]
        others = [figure('SQLite', 99.0, 'create')]
        picture = charts.bars('Search', 'search', {'figures': [*figures, *others]})
        one, other = (found(picture, 'rect', charts.ENGINES[name])[0] for name in
                      ('SQLite', 'MariaDB'))  # fmt: skip
        self.assertAlmostEqual(4, float(other.get('width', '')) / float(one.get('width', '')))
        self.assertEqual(2, len(found(picture, 'line', 'dash')))
        self.assertNotIn('99 ms', words(picture))

    def test_waits(self) -> None:
        runs = [
            {'share': share, 'way': way, 'figures': [figure('SQLite', mean, 'mean wait')]}
            for share, way, mean in (
                (10, 'cancel and queue again', 20.0), (10, 'Climate', 10.0), (20, 'Climate', 5.0)
            )
        ]  # fmt: skip
        picture = waits.waits({'runs': runs})
        bars = [bar for bar in found(picture, 'rect') if float(bar.get('height', '')) > 10]
        widths = [float(bar.get('width', '')) for bar in bars]
        self.assertEqual([4, 2, 1], [round(width / widths[-1], 3) for width in widths])
        self.assertEqual(3, len({bar.get('y') for bar in bars}))
        self.assertIn('20 %, Climate: 5.0.', picture.description)


class TimelineTest(base.TestCase):
    def test_it_has_what_is_scheduled(self) -> None:
        times = [time for time, _, _ in timeline.moments()]
        self.assertEqual(times, sorted(times))
        before, settings = timeline.START, timeline.SETTINGS
        for seconds in settings.notify_before_start:
            self.assertIn(before - datetime.timedelta(seconds=seconds), times)
        self.assertIn(timeline.END - settings.notify_before_end, times)
        self.assertEqual(timeline.END + settings.cleaning_time, times[-1])

    def test_each_moment_is_drawn(self) -> None:
        picture = timeline.timeline()
        self.assertEqual(len(timeline.moments()), len(found(picture, 'circle')))
        shown = words(picture)
        for text in ('start − 5 min', 'start', 'end − 1 h', 'end', 'end + 30 min', 'prepared'):
            self.assertIn(text, shown)
        self.assertIn(timeline.WORDS[EventKind.START][1], shown)


class RecordsTest(base.TestCase):
    """What the pictures are drawn from."""

    def test_records_are_read(self) -> None:
        for record in charts.DATA.glob('*.json'):
            self.assertTrue(json.loads(record.read_text()), record.name)
