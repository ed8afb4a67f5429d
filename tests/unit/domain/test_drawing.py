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

"""The drawn life cycles show every state and every trigger."""

from __future__ import annotations

import enum
import itertools
import re
from xml.etree import ElementTree

from climate.domain import drawing
from climate.domain import lifecycles
from climate.domain import pictures
from climate.domain.lifecycles import LifeCycle
from tests import base

SVG = '{http://www.w3.org/2000/svg}'
ALL = (lifecycles.LEASE, lifecycles.RESERVATION, lifecycles.EVENT)


class Light(enum.StrEnum):
    """States whose names are special in XML and in Graphviz."""

    OFF = 'off & <cold>'
    ON = 'on "hot"'


class Push(enum.StrEnum):
    """One trigger."""

    PUSH = 'push & <hold>'


LIGHT = LifeCycle('light', Light.OFF, {(Light.OFF, Push.PUSH): Light.ON})


def words(root: ElementTree.Element) -> list[str]:
    """Return the texts that can be seen in a picture."""
    return [text.text or '' for text in root.iter(f'{SVG}text')]


def picture(lifecycle: LifeCycle) -> pictures.Picture:
    """Return where everything is."""
    labels = {
        (old.value, new.value): ', '.join(triggers)
        for (old, new), triggers in drawing.arrows(lifecycle).items()
    }
    names = [state.value for state in drawing.states(lifecycle)]
    return pictures.lay_out(lifecycle.initial.value, names, labels)


class SvgTest(base.TestCase):
    def test_every_state_and_every_transition_is_shown(self) -> None:
        for lifecycle in (*ALL, LIGHT):
            shown = words(ElementTree.fromstring(drawing.svg(lifecycle)))
            for state in type(lifecycle.initial):
                self.assertEqual(1, shown.count(state.value), state)
            labels = [', '.join(t) for t in drawing.arrows(lifecycle).values()]
            states = [state.value for state in type(lifecycle.initial)]
            self.assertCountEqual([*states, *labels], shown)

    def test_every_trigger_is_shown(self) -> None:
        for lifecycle in ALL:
            shown = ', '.join(words(ElementTree.fromstring(drawing.svg(lifecycle)))).split(', ')
            for _, trigger in lifecycle.table:
                self.assertIn(trigger.value, shown)

    def test_it_can_be_read_aloud(self) -> None:
        root = ElementTree.fromstring(drawing.svg(lifecycles.LEASE))
        title, description = root.find(f'{SVG}title'), root.find(f'{SVG}desc')
        assert title is not None and description is not None
        self.assertEqual('Life cycle of the lease', title.text)
        self.assertIn('STARTING becomes ACTIVE on started.', description.text)
        self.assertEqual(f'{title.get("id")} {description.get("id")}', root.get('aria-labelledby'))
        self.assertEqual('img', root.get('role'))

    def test_nothing_is_drawn_outside_the_paper(self) -> None:
        for lifecycle in ALL:
            paper = picture(lifecycle)
            for area in itertools.chain(
                (box.area for box in paper.boxes), (edge.label_area for edge in paper.edges)
            ):
                self.assertTrue(area.left >= 0 and area.right <= paper.width, lifecycle.name)
                self.assertTrue(area.top >= 0 and area.bottom <= paper.height, lifecycle.name)
            for edge in paper.edges:
                numbers = [float(n) for n in re.findall(r'-?[\d.]+', edge.path)]
                self.assertTrue(all(0 <= x <= paper.width for x in numbers[::2]), edge.label)
                self.assertTrue(all(0 <= y <= paper.height for y in numbers[1::2]), edge.label)

    def test_nothing_hides_anything(self) -> None:
        for lifecycle in ALL:
            paper = picture(lifecycle)
            areas = [*(b.area for b in paper.boxes), *(e.label_area for e in paper.edges)]
            for one, other in itertools.combinations(areas, 2):
                self.assertFalse(one.meets(other), f'{lifecycle.name}: {one} {other}')

    def test_columns_by_distance(self) -> None:
        columns = {box.name: box.column for box in picture(lifecycles.LEASE).boxes}
        first = ('STARTING', 'TERMINATING', 'DELETING')
        self.assertEqual({0: ['PENDING'], 1: sorted(first)}, {
            number: sorted(name for name in columns if columns[name] == number)
            for number in (0, 1)
        })  # fmt: skip
        self.assertEqual(max(columns.values()), columns['DELETED'])

    def test_the_same_each_time(self) -> None:
        self.assertEqual(drawing.svg(lifecycles.RESERVATION), drawing.svg(lifecycles.RESERVATION))

    def test_many_states_in_a_column(self) -> None:
        names = ['hub', *(f'leaf {n}' for n in range(9))]
        labels = {pair: 'go' for name in names[1:] for pair in (('hub', name), (name, 'hub'))}
        self.assertEqual(10, len(pictures.lay_out('hub', names, labels).boxes))


class TextTest(base.TestCase):
    def test_dot_has_every_transition(self) -> None:
        for lifecycle in ALL:
            lines = drawing.dot(lifecycle).splitlines()
            for (old, trigger), new in lifecycle.table.items():
                start = f'  "{old}" -> "{new}" [label="'
                labels = [line[len(start) : -3] for line in lines if line.startswith(start)]
                self.assertEqual(1, len(labels))
                self.assertIn(trigger.value, labels[0].split(', '))
            for state in type(lifecycle.initial):
                self.assertIn(f'  "{state}";', lines)

    def test_dot_quotes(self) -> None:
        self.assertIn(r'"off & <cold>" -> "on \"hot\""', drawing.dot(LIGHT))

    def test_table_has_a_row_per_transition(self) -> None:
        for lifecycle in ALL:
            text = drawing.rst_table(lifecycle)
            self.assertEqual(1 + len(lifecycle.table), text.count('   * - '))
            for (old, trigger), new in lifecycle.table.items():
                row = f'   * - ``{old}``\n     - {trigger}\n     - ``{new}``\n'
                self.assertIn(row, text)
