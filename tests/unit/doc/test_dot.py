# SPDX-License-Identifier: Apache-2.0

"""The drawn life cycles have every state and every transition of their tables."""

from __future__ import annotations

import enum

from climate.domain import lifecycles
from climate.domain.lifecycles import LifeCycle
from doc.ext import dot
from tests import base

ALL = (lifecycles.LEASE, lifecycles.RESERVATION, lifecycles.EVENT)


class Light(enum.StrEnum):
    """States whose names are special in Graphviz."""

    OFF = 'off & <cold>'
    ON = 'on "hot"'


class Push(enum.StrEnum):
    """One trigger."""

    PUSH = 'push & <hold>'


LIGHT = LifeCycle('light', (Light.OFF,), {(Light.OFF, Push.PUSH): Light.ON})


class DotTest(base.TestCase):
    def test_every_transition_is_an_arrow(self) -> None:
        for lifecycle in ALL:
            lines = dot.dot(lifecycle).splitlines()
            for (old, trigger), new in lifecycle.table.items():
                start = f'  "{old}" -> "{new}" [label="'
                labels = [line[len(start) :] for line in lines if line.startswith(start)]
                self.assertEqual(1, len(labels))
                self.assertIn(trigger.value, labels[0].partition('"')[0].strip().split(', '))

    def test_every_arrow_is_a_transition(self) -> None:
        for lifecycle in ALL:
            lines = [line for line in dot.dot(lifecycle).splitlines() if ' -> ' in line]
            self.assertEqual(len(lifecycle.beginnings) + len(dot.arrows(lifecycle)), len(lines))

    def test_every_state_is_a_box(self) -> None:
        for lifecycle in ALL:
            lines = dot.dot(lifecycle).splitlines()
            for state in type(lifecycle.beginnings[0]):
                self.assertEqual(1, sum(line.startswith(f'  "{state}"') and '->' not in line
                                        for line in lines), state)  # fmt: skip

    def test_the_initial_state_has_the_first_arrow(self) -> None:
        self.assertIn('  "" -> "PENDING";', dot.dot(lifecycles.LEASE).splitlines())

    def test_a_state_that_nothing_leaves_is_final(self) -> None:
        final = [line for line in dot.dot(lifecycles.LEASE).splitlines() if 'final' in line]
        self.assertEqual(['  "DELETED" [peripheries=2, class="final"];'], final)
        # An arrow back to itself does not leave it.
        self.assertIn('"deleted" [peripheries=2', dot.dot(lifecycles.RESERVATION))

    def test_names_are_quoted(self) -> None:
        self.assertIn(r'"off & <cold>" -> "on \"hot\""', dot.dot(LIGHT))


class TextTest(base.TestCase):
    def test_description_has_every_transition(self) -> None:
        for lifecycle in ALL:
            text = dot.description(lifecycle)
            self.assertIn(f'It begins as {" or ".join(lifecycle.beginnings)}.', text)
            for (old, new), triggers in dot.arrows(lifecycle).items():
                self.assertIn(f'{old} becomes {new} on {" or ".join(triggers)}.', text)

    def test_table_has_a_row_per_transition(self) -> None:
        for lifecycle in ALL:
            text = dot.rst_table(lifecycle)
            self.assertEqual(1 + len(lifecycle.table), text.count('   * - '))
            for (old, trigger), new in lifecycle.table.items():
                self.assertIn(f'   * - ``{old}``\n     - {trigger}\n     - ``{new}``\n', text)
