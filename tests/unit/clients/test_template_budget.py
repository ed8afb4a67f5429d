# SPDX-License-Identifier: Apache-2.0

"""Texts of YAML are counted with all aliases written out, before they are read."""

from __future__ import annotations

from typing import Any

import hypothesis
from hypothesis import strategies as st

from climate import exceptions
from climate.cloud import templates
from climate.cloud.protocols.stacks import StackDraft
from climate.cloud.template_budget import Budget
from climate.cloud.template_budget import MOST_LEVELS
from climate.cloud.template_budget import TooLarge
from climate.simulator import templates as cloud
from tests import base

VERSION = 'heat_template_version: 2021-04-16\n'


def bomb(levels: int, link: str = '[{}]') -> str:
    """Return a few lines that stand for ten to the power of *levels* nodes.

    :param link: how a level has the ten aliases of the one before
    """
    lines = ['l0: &l0 {a: 1}']
    for level in range(1, levels + 1):
        aliases = ', '.join([f'*l{level - 1}'] * 10)
        lines.append(f'l{level}: &l{level} ' + link.format(aliases))
    return '\n'.join(lines)


values = st.recursive(
    st.integers(0, 9) | st.text('abc', max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('xy'), inner, max_size=3),
    max_leaves=8,
)


def written_out(value: Any) -> int:
    """Return how many nodes a value has, each counted wherever it is."""
    if isinstance(value, dict):
        return 1 + sum(1 + written_out(item) for item in value.values())
    if isinstance(value, list):
        return 1 + sum(written_out(item) for item in value)
    return 1


class BudgetTest(base.TestCase):
    """What a text costs."""

    @hypothesis.given(values, st.integers(1, 3))
    def test_each_use_of_an_alias_counts(self, value, times):
        # The writer makes aliases of what is in the value several times.
        whole = [value] * times
        text = templates.dump(whole)
        nodes = written_out(whole)
        templates.check_size([text], Budget(nodes=nodes))
        self.assertRaises(TooLarge, templates.check_size, [text], Budget(nodes=nodes - 1))

    @hypothesis.given(values)
    def test_a_value_counts_as_its_text(self, value):
        nodes = written_out(value)
        Budget(nodes=nodes).spend_on(value)
        self.assertRaises(TooLarge, Budget(nodes=nodes - 1).spend_on, value)

    def test_aliases_and_merges_of_each_other(self):
        for link in ('[{}]', '{{<<: [{}]}}'):
            self.assertRaisesRegex(TooLarge, 'aliases', templates.parse, bomb(9, link))

    def test_a_long_text_in_many_places(self):
        text = 'a: &a ' + 'x' * 5000 + '\nb: [' + ', '.join(['*a'] * 1000) + ']'
        self.assertRaises(TooLarge, templates.parse, text)

    def test_all_texts_together(self):
        budget = Budget(nodes=10)
        templates.check_size(['[1, 2, 3]', '[1, 2, 3]'], budget)
        self.assertRaises(TooLarge, templates.check_size, ['[1, 2, 3]'], budget)

    def test_depth(self):
        deep = '[' * MOST_LEVELS + ']' * MOST_LEVELS
        templates.parse(deep)
        for text in (f'[{deep}]', '[' * 100000, '- ' * 100000, '{a: ' * 100000):
            self.assertRaises(TooLarge, templates.parse, text)

    def test_depth_of_aliases(self):
        def nested(inner: str, levels: int) -> str:
            return '[' * levels + inner + ']' * levels

        # What is in a mapping, and in what an alias stands for.
        text = f'a: &a {nested("1", 40)}\nb: &b {nested("*a", 40)}\nc: '
        templates.parse(text + nested('*b', MOST_LEVELS - 81))
        self.assertRaises(TooLarge, templates.parse, text + nested('*b', MOST_LEVELS - 80))

    def test_what_contains_itself(self):
        self.assertRaises(TooLarge, templates.parse, '&a [*a]')

    def test_what_is_no_yaml_costs_nothing(self):
        templates.check_size(['#!/bin/sh\n\tcase $1 in', '*unknown', ': : :'], Budget())

    def test_tags_that_lie(self):
        for text in ('!!int x', '!!int ""', '!!timestamp x', '!!bool x', '9' * 5000):
            self.assertRaises(templates.yaml.YAMLError, templates.parse, text)

    def test_numbers_that_cannot_be_printed_are_refused(self):
        # Python can read these, in a time that grows with their square, and not write them.
        for text in ('1' + ':1' * 45000, '0x' + 'f' * 5000, '-0b' + '1' * 20000):
            self.assertRaises(templates.yaml.YAMLError, templates.parse, f'a: {text}')
            self.assertEqual(text, templates.parse(f'a: "{text}"')['a'])


class SimulatedTest(base.TestCase):
    """The simulated Heat has the limits of the real one."""

    def refused(self, template: str, **others: Any) -> str:
        """Return why a stack is not planned."""
        draft = StackDraft(name='web', template=VERSION + template, **others)
        return self.assertRaises(exceptions.Permanent, cloud.plan, draft).message

    def test_groups(self):
        many = (
            'resources: {g: {type: OS::Heat::ResourceGroup, properties: {count: 1000000000, '
            'resource_def: {type: OS::Heat::ResourceGroup, properties: {count: 0}}}}}'
        )
        self.assertIn('Maximum resources', self.refused(many))

    def test_a_template_in_itself(self):
        text = VERSION + 'resources: {a: {type: b.yaml}}'
        self.assertIn(
            'Recursion depth',
            self.refused('resources: {a: {type: b.yaml}}', files={'b.yaml': text}),
        )

    def test_what_is_no_template(self):
        for text in ('parameters: [1]', 'resources: 7', 'resources: {a: 1}'):
            self.assertIn('not in valid format', self.refused(text))

    def test_properties_that_are_none(self):
        text = 'resources: {a: {type: OS::Nova::Server, properties: [1]}}'
        self.assertIn('Property error: resources.a.properties', self.refused(text))

    def test_members_without_end(self):
        group = '{type: OS::Heat::ResourceGroup, properties: {count: .inf}}'
        self.assertIn('not in valid format', self.refused(f'resources: {{g: {group}}}'))
