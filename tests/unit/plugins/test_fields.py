# SPDX-License-Identifier: Apache-2.0

"""Fields of a reservation's body, as real clients send them."""

from __future__ import annotations

import dataclasses
import json
from typing import Annotated
from typing import Any

import hypothesis
from hypothesis import strategies as st

from climate import exceptions
from climate.allocation import requirements
from climate.plugins import fields
from climate.plugins import models
from tests import base
from tests.unit.allocation import strategies

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Sample(models.Request):
    """A request with a field of each kind, none of which has to be there."""

    name: Annotated[str, fields.Text('A name.')] = ''
    least: Annotated[int, fields.Count('A number.', key='min')] = 0
    most: Annotated[int, fields.Count('A number.', key='max')] = 0
    p: Annotated[str, fields.Requirement('A requirement.')] = ''
    resource_properties: Annotated[str, fields.Requirement('A requirement.')] = ''


@dataclasses.dataclass(frozen=True, kw_only=True)
class Strict(models.Request):
    """A request whose fields have to be there."""

    name: Annotated[str, fields.Text('A name.', required=True)]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Pair(models.Request):
    """Another one."""

    least: Annotated[int, fields.Count('A number.', key='min')]


def parse(request: type[Any], body: dict[str, Any], *, strict: bool = False) -> Any:
    """Read a body."""
    return models.of(request).parse(body, 'some:type', strict=strict)


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
            found = parse(Sample, {'name': value}).name
        except exceptions.MalformedParameter as error:
            self.assertIn('name', error.message)
            self.assertNotEqual('', value)
        else:
            self.assertEqual('' if value is None else str(value), found)
            self.assertLessEqual(len(found), fields.LONGEST_TEXT)
            found.encode()

    def test_what_is_required_is_not_empty(self) -> None:
        for body in ({}, {'name': None}, {'name': ''}, {'name': ' '}):
            self.assertRaisesRegex(exceptions.MissingParameter, 'name', parse, Strict, body)


class TestCount(base.TestCase):
    @hypothesis.given(st.integers(1, fields.MAX_COUNT))
    def test_number_or_text(self, number: int) -> None:
        self.assertEqual(number, parse(Pair, {'min': number}).least)
        self.assertEqual(number, parse(Pair, {'min': str(number)}).least)

    def test_missing(self) -> None:
        for body in ({}, {'min': None}, {'min': ''}):
            self.assertRaisesRegex(exceptions.MissingParameter, 'min', parse, Pair, body)

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
            count = fields.Count('').of({'max': value}, 'max')
        except exceptions.InvalidInput as error:
            self.assertIn('max', error.message)
            self.assertLess(len(error.message), 150)
        else:
            self.assertIs(int, type(count))
            self.assertTrue(1 <= count <= fields.MAX_COUNT)
            self.assertEqual(count, int(value))


class TestOneOf(base.TestCase):
    def test_a_refusal_repeats_no_long_text(self) -> None:
        kind = fields.OneOf('An action.', words=('email',))
        self.assertEqual('email', kind.read('email'))
        for value, text in (('burn', "'burn' is not one of 'email'"), (7, "'7' is not one of")):
            error = self.assertRaises(fields.Fault, kind.read, value)
            self.assertIn(text, error.why)
        error = self.assertRaises(fields.Fault, kind.read, 'x' * 100_000)
        self.assertLess(len(error.why), 100)


class TestRequirement(base.TestCase):
    def test_none(self) -> None:
        for none in (None, '', ' ', [], '[]', ' [ ] '):
            self.assertEqual('', parse(Sample, {'p': none}).p, none)
        self.assertEqual('', parse(Sample, {}).p)

    def test_text_stays_as_it_was_written(self) -> None:
        text = '[ ">=",  "$vcpus", "2" ]'
        self.assertEqual(text, parse(Sample, {'p': text}).p)

    def test_list_becomes_text(self) -> None:
        value = ['==', '$gpu', 'True']
        self.assertEqual(value, json.loads(parse(Sample, {'p': value}).p))

    @hypothesis.given(strategies.trees)
    def test_what_is_read_can_be_read_again(self, tree: Any) -> None:
        text = requirements.dumps(tree)
        once = parse(Sample, {'p': text}).p
        self.assertEqual(once, parse(Sample, {'p': once}).p)
        listed = parse(Sample, {'p': json.loads(text)}).p
        self.assertEqual(requirements.parse(once), requirements.parse(listed))

    @hypothesis.given(anything)
    @hypothesis.example('[')
    @hypothesis.example('[">=", "$vcpus"]')
    @hypothesis.example({'and': []})
    @hypothesis.example(5)
    def test_anything_is_read_or_refused_by_name(self, value: Any) -> None:
        try:
            parse(Sample, {'resource_properties': value})
        except exceptions.MalformedRequirements as error:
            self.assertIn('resource_properties', error.message)


class TestKnown(base.TestCase):
    def test_unknown_is_refused_if_strict(self) -> None:
        body = {'resource_type': 'some:type', 'mn': 1, 'min': 1}
        parse(Pair, body)
        with self.assertRaisesRegex(exceptions.MalformedParameter, "'mn' is not a field of some:t"):
            parse(Pair, body, strict=True)

    def test_also(self) -> None:
        body, model = {'id': 'x', 'min': 1}, models.of(Pair)
        model.change(Pair(least=1), body, 'some:type', strict=True, running=False)
        self.assertRaises(exceptions.MalformedParameter, parse, Pair, body, strict=True)
