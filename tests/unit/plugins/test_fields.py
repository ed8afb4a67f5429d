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

"""Fields of a reservation's body, as real clients send them."""

from __future__ import annotations

import json
from typing import Any

import hypothesis
from hypothesis import strategies as st

from climate import exceptions
from climate.plugins import fields
from tests import base
from tests.unit.allocation import strategies

SCHEMA = {'properties': {'resource_type': {'const': 'some:type'}, 'min': {}}}

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


class TestText(base.TestCase):
    @hypothesis.given(anything)
    @hypothesis.example('a\x00')
    @hypothesis.example('\ud800')
    @hypothesis.example('a' * 256)
    @hypothesis.example(123)
    @hypothesis.example(True)
    @hypothesis.example(2**64)
    def test_anything_is_a_text_or_refused_by_name(self, value: Any) -> None:
        try:
            found = fields.text({'name': value}, 'name')
        except exceptions.MalformedParameter as error:
            self.assertIn('name', error.message)
            self.assertNotEqual('', value)
        else:
            self.assertEqual('' if value is None else str(value), found)
            self.assertLessEqual(len(found), fields.LONGEST_TEXT)
            found.encode()

    def test_what_is_required_is_not_empty(self) -> None:
        for body in ({}, {'name': None}, {'name': ''}, {'name': ' '}):
            with self.assertRaisesRegex(exceptions.MissingParameter, 'name'):
                fields.text(body, 'name', required=True)


class TestCount(base.TestCase):
    @hypothesis.given(st.integers(1, fields.MAX_COUNT))
    def test_number_or_text(self, number: int) -> None:
        self.assertEqual(number, fields.count({'min': number}, 'min'))
        self.assertEqual(number, fields.count({'min': str(number)}, 'min'))

    def test_missing(self) -> None:
        for body in ({}, {'min': None}, {'min': ''}):
            with self.assertRaisesRegex(exceptions.MissingParameter, 'min'):
                fields.count(body, 'min')

    @hypothesis.given(anything)
    @hypothesis.example('1-2')
    @hypothesis.example('2,foo=bar')
    @hypothesis.example('٣')
    @hypothesis.example('1' * 5000)
    @hypothesis.example(True)
    @hypothesis.example(1.0)
    @hypothesis.example(0)
    @hypothesis.example(-1)
    @hypothesis.example(2**31)
    @hypothesis.example([1])
    def test_anything_is_a_count_or_refused_by_name(self, value: Any) -> None:
        try:
            count = fields.count({'max': value}, 'max')
        except exceptions.InvalidInput as error:
            self.assertIn('max', error.message)
            self.assertLess(len(error.message), 150)
        else:
            self.assertIs(int, type(count))
            self.assertTrue(1 <= count <= fields.MAX_COUNT)
            self.assertEqual(count, int(value))


class TestRequirement(base.TestCase):
    def test_none(self) -> None:
        for none in (None, '', ' ', [], '[]', ' [ ] '):
            self.assertEqual('', fields.requirement({'p': none}, 'p'), none)
        self.assertEqual('', fields.requirement({}, 'p'))

    def test_text_stays_as_it_was_written(self) -> None:
        text = '[ ">=",  "$vcpus", "2" ]'
        self.assertEqual(text, fields.requirement({'p': text}, 'p'))

    def test_list_becomes_text(self) -> None:
        value = ['==', '$gpu', 'True']
        self.assertEqual(value, json.loads(fields.requirement({'p': value}, 'p')))

    @hypothesis.given(strategies.trees)
    def test_what_is_read_can_be_read_again(self, tree: Any) -> None:
        text = fields.requirements.dumps(tree)
        once = fields.requirement({'p': text}, 'p')
        self.assertEqual(once, fields.requirement({'p': once}, 'p'))
        listed = fields.requirement({'p': json.loads(text)}, 'p')
        self.assertEqual(fields.requirements.parse(once), fields.requirements.parse(listed))

    @hypothesis.given(anything)
    @hypothesis.example('[')
    @hypothesis.example('[">=", "$vcpus"]')
    @hypothesis.example({'and': []})
    @hypothesis.example(5)
    def test_anything_is_read_or_refused_by_name(self, value: Any) -> None:
        try:
            fields.requirement({'resource_properties': value}, 'resource_properties')
        except exceptions.MalformedRequirements as error:
            self.assertIn('resource_properties', error.message)


class TestKnown(base.TestCase):
    def test_unknown_is_refused_if_strict(self) -> None:
        body = {'resource_type': 'some:type', 'mn': 1}
        fields.known(body, SCHEMA, strict=False)
        with self.assertRaisesRegex(exceptions.MalformedParameter, "'mn' is not a field of some:t"):
            fields.known(body, SCHEMA, strict=True)

    def test_also(self) -> None:
        fields.known({'id': 'x', 'min': 1}, SCHEMA, strict=True, also=('id',))
        with self.assertRaises(exceptions.MalformedParameter):
            fields.known({'id': 'x', 'min': 1}, SCHEMA, strict=True)
