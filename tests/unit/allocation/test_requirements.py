# SPDX-License-Identifier: Apache-2.0

"""The requirement language: what is read, what is refused, what it means."""

from __future__ import annotations

import json
import operator

from hypothesis import given
from hypothesis import strategies as st

from climate.allocation import requirements
from climate.allocation.requirements import All
from climate.allocation.requirements import AnyOf
from climate.allocation.requirements import Comparison
from climate.allocation.requirements import Not
from climate.allocation.requirements import Operator
from tests import base
from tests.unit.allocation import strategies

VCPUS = Comparison(key='vcpus', op=Operator.GE, value='2')
GPU = Comparison(key='gpu', op=Operator.EQ, value='True')


def holds(text: str, **values: str | int | None) -> bool:
    """Whether a resource with *values* fulfils the expression *text*."""
    return requirements.matches(requirements.parse(text), values)


class ParseTest(base.TestCase):
    def test_nothing_is_no_requirement(self) -> None:
        for nothing in (None, '', '  ', '\n'):
            self.assertIsNone(requirements.parse(nothing))
        self.assertTrue(requirements.matches(None, {}))
        self.assertEqual('', requirements.dumps(None))
        self.assertEqual(frozenset(), requirements.keys(None))

    def test_what_the_stock_client_sends(self) -> None:
        self.assertEqual(VCPUS, requirements.parse('[">=", "$vcpus", "2"]'))
        self.assertEqual(GPU, requirements.parse('["==", "$gpu", "True"]'))

    def test_a_list_reads_like_its_text(self) -> None:
        nested = ['and', ['>=', '$vcpus', '2'], ['or', ['=', '$gpu', True]]]
        expected = All(parts=(VCPUS, AnyOf(parts=(GPU,))))
        self.assertEqual(expected, requirements.parse(nested))
        self.assertEqual(expected, requirements.parse(json.dumps(nested)))

    def test_every_operator(self) -> None:
        for word in ('==', '!=', '>=', '<=', '>', '<'):
            parsed = requirements.parse(json.dumps([word, '$x', '1']))
            self.assertEqual(Comparison(key='x', op=Operator(word), value='1'), parsed)
        found = requirements.parse('["=","$x","1"]')
        self.assertEqual(requirements.parse('["==","$x","1"]'), found)

    def test_values_of_every_json_kind_become_text(self) -> None:
        for written, text in (
            ('2', '2'),
            ('-2', '-2'),
            ('16.50', '16.50'),
            ('1e3', '1000.0'),
            ('1e-3', '0.001'),
            ('1e300', '1' + '0' * 300),
            ('true', 'True'),
            ('false', 'False'),
            ('"true"', 'true'),
            ('""', ''),
        ):
            parsed = requirements.parse(f'["==", "$x", {written}]')
            self.assertEqual(Comparison(key='x', op=Operator.EQ, value=text), parsed, written)

    def test_values_in_a_list_become_the_same_text(self) -> None:
        for value, text in ((2, '2'), (16.5, '16.5'), (1e-7, '0.0000001'), (False, 'False')):
            parsed = requirements.parse(['==', '$x', value])
            self.assertEqual(Comparison(key='x', op=Operator.EQ, value=text), parsed)

    def test_malformed(self) -> None:
        for text, complaint in (
            ('[[]]', 'unknown operator'),
            ('["not", []]', 'an empty list'),
            ('null', 'expected a list'),
            ('{}', 'expected a list'),
            ('"vcpus"', 'expected a list'),
            ('[">=", "$vcpus"', 'not JSON'),
            ('vcpus >= 2', 'not JSON'),
            ('[">=", "$vcpus"]', 'a comparison is'),
            ('[">=", "$vcpus", "2", "3"]', 'a comparison is'),
            ('[">=", "vcpus", "2"]', 'a key is written'),
            ('[">=", "$", "2"]', 'a key is written'),
            ('[">=", 5, "2"]', 'a key is written'),
            ('[">=", "$vcpus", null]', 'a value is'),
            ('[">=", "$vcpus", ["2"]]', 'a value is'),
            ('[">=", "$vcpus", {}]', 'a value is'),
            ('["in", "$vcpus", "2"]', "unknown operator 'in'"),
            ('[["==", "$a", "1"], ["==", "$b", "2"]]', 'unknown operator'),
            ('[true, "$vcpus", "2"]', 'unknown operator True'),
            ('["and"]', "'and' takes at least one part"),
            ('["or"]', "'or' takes at least one part"),
            ('["not"]', "'not' takes exactly one part"),
            ('["not", ["==", "$a", "1"], ["==", "$b", "2"]]', 'exactly one part, got 2'),
            ('["and", "$a"]', 'expected a list'),
            ('["==", "$a", NaN]', 'NaN is not a number'),
            ('["==", "$a", -Infinity]', 'Infinity is not a number'),
            ('["==", "$a", 1e999]', 'inf is not a number'),
            (r'["==", "$a", "\u0000"]', 'no value can have'),
            (r'["==", "$a", "\ud800"]', 'no value can have'),
            (r'["==", "$a\u0000", "1"]', 'no key can have'),
        ):
            error = self.assertRaises(requirements.RequirementError, requirements.parse, text)
            self.assertIn(complaint, str(error), text)

    def test_a_complaint_says_where(self) -> None:
        text = '["and", ["==", "$a", "1"], ["or", ["==", "$b", "1"], ["~", "$c", "1"]]]'
        self.assert_error(requirements.RequirementError, 'at [2][2]', requirements.parse, text)

    def test_a_complaint_is_short(self) -> None:
        text = json.dumps(['x' * 5000, '$a', '1'])
        error = self.assertRaises(requirements.RequirementError, requirements.parse, text)
        self.assertLess(len(str(error)), 300)

    def test_other_types_are_refused(self) -> None:
        for value in (5, {'a': 1}, True, object()):
            self.assertRaises(requirements.RequirementError, requirements.parse, value)

    @given(st.text(alphabet='[]",$ {}=<>!adnort01.\\u', max_size=40))
    def test_any_text_is_read_or_refused(self, text: str) -> None:
        try:
            requirements.parse(text)
        except requirements.RequirementError as error:
            self.assertTrue(str(error))

    @given(
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.text(max_size=4),
            lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner),
            max_leaves=10,
        )
    )
    def test_any_value_is_read_or_refused(self, value: object) -> None:
        try:
            requirements.parse(value)
        except requirements.RequirementError as error:
            self.assertTrue(str(error))


class BoundsTest(base.TestCase):
    """Nobody can keep a process busy with an expression."""

    def refused(self, value: object) -> str:
        return str(self.assertRaises(requirements.RequirementError, requirements.parse, value))

    def test_depth(self) -> None:
        nested: list[object] = ['==', '$a', '1']
        for _ in range(requirements.MAX_DEPTH - 1):
            nested = ['not', nested]
        self.assertIsNotNone(requirements.parse(nested))
        self.assertIn('deeper', self.refused(['not', nested]))

    def test_brackets_without_end(self) -> None:
        self.assertIn('deeper', self.refused('[' * requirements.MAX_CHARACTERS))
        self.assertIn('deeper', self.refused('["not",' * 9000 + ']' * 900))

    def test_conditions(self) -> None:
        most: list[object] = ['or', *([['==', '$a', '1']] * requirements.MAX_CONDITIONS)]
        self.assertIsNotNone(requirements.parse(most))
        self.assertIn('more than', self.refused([*most, ['==', '$a', '1']]))

    def test_characters(self) -> None:
        longest = json.dumps(['==', '$a', ''])
        longest = longest[:-2] + 'x' * (requirements.MAX_CHARACTERS - len(longest)) + '"]'
        self.assertIsNotNone(requirements.parse(longest))
        self.assertIn('longer', self.refused(longest + ' '))
        self.assertIn('longer', self.refused(['==', '$a', 'x' * requirements.MAX_CHARACTERS]))

    def test_key(self) -> None:
        key = '$' + 'x' * requirements.MAX_KEY
        self.assertIsNotNone(requirements.parse(['==', key, '1']))
        self.assertIn('a key longer', self.refused(['==', key + 'x', '1']))

    def test_digits(self) -> None:
        parsed = requirements.parse(f'["==", "$a", {"9" * 10000}]')
        assert isinstance(parsed, Comparison)
        self.assertIsNone(parsed.number)
        self.assertIn('too many digits', self.refused(['==', '$a', 10**10000]))


class NumberTest(base.TestCase):
    def test_plain_decimals(self) -> None:
        for text, number in (
            ('0', 0.0),
            ('16', 16.0),
            ('016', 16.0),
            ('-3', -3.0),
            ('16.50', 16.5),
            ('-0', 0.0),
            ('9007199254740993', 9007199254740992.0),
        ):
            self.assertEqual(number, requirements.as_number(text), text)

    def test_minus_zero_is_zero(self) -> None:
        self.assertEqual('0.0', str(requirements.as_number('-0')))

    def test_everything_else_is_text(self) -> None:
        for text in (
            '', '-', '.', '.5', '5.', '+1', '1e3', 'nan', 'inf', '-inf', 'Infinity', '0x10',
            '1_000', '1,5', ' 1', '1 ', '1\n', '1.10.2', '--1', '٣', '１', 'True', '9' * 309,
        ):  # fmt: skip
            self.assertIsNone(requirements.as_number(text), text)

    @given(st.floats(allow_nan=False, allow_infinity=False, width=32))
    def test_a_decimal_means_what_it_says(self, number: float) -> None:
        self.assertEqual(float(f'{number:.3f}'), requirements.as_number(f'{number:.3f}'))


class MatchesTest(base.TestCase):
    def test_numbers_compare_as_numbers(self) -> None:
        enough = [size for size in ('8', '16', '128') if holds('[">=", "$gpu", "16"]', gpu=size)]
        self.assertEqual(['16', '128'], enough)
        self.assertTrue(holds('["==", "$gpu", "16"]', gpu='16.0'))
        self.assertFalse(holds('["!=", "$gpu", "16"]', gpu='016'))
        self.assertTrue(holds('["<", "$gpu", 0]', gpu='-1.5'))
        self.assertTrue(holds('[">", "$vcpus", "9"]', vcpus=10))

    def test_texts_compare_by_code_point(self) -> None:
        self.assertTrue(holds('["<", "$version", "1.9.0"]', version='1.10.2'))
        self.assertTrue(holds('["<", "$name", "a"]', name='Z'))
        self.assertTrue(holds('[">", "$name", "z"]', name='é'))
        self.assertFalse(holds('["==", "$gpu", "true"]', gpu='True'))
        self.assertFalse(holds('["==", "$gpu", "a"]', gpu='a '))

    def test_a_number_and_a_text_compare_as_texts(self) -> None:
        self.assertTrue(holds('[">", "$size", "16"]', size='9 GB'))
        self.assertTrue(holds('["<", "$size", "9 GB"]', size='16'))
        self.assertFalse(holds('["==", "$size", "nan"]', size='16'))
        self.assertTrue(holds('["==", "$size", "nan"]', size='nan'))

    def test_a_missing_key_fails_every_comparison(self) -> None:
        for op in Operator:
            text = json.dumps([op.value, '$gpu', 'True'])
            self.assertFalse(holds(text), text)
            self.assertFalse(holds(text, gpu=None), text)
            self.assertTrue(holds(f'["not", {text}]'), text)

    def test_nested_parts_all_count(self) -> None:
        text = json.dumps(['and', ['==', '$a', '1'], ['and', ['==', '$b', '1'], ['==', '$c', '1']]])
        self.assertTrue(holds(text, a='1', b='1', c='1'))
        for missing in 'abc':
            self.assertFalse(holds(text, **{key: '1' for key in 'abc' if key != missing}))

    def test_or(self) -> None:
        text = '["or", ["==", "$a", "1"], ["==", "$b", "1"]]'
        self.assertTrue(holds(text, b='1'))
        self.assertTrue(holds(text, a='1', b='2'))
        self.assertFalse(holds(text, a='2'))

    @given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6))
    def test_whole_numbers(self, left: int, right: int) -> None:
        for op, function in (
            ('==', operator.eq), ('!=', operator.ne), ('>=', operator.ge),
            ('<=', operator.le), ('>', operator.gt), ('<', operator.lt),
        ):  # fmt: skip
            parsed = requirements.parse([op, '$x', right])
            for value in (left, str(left)):
                self.assertEqual(function(left, right), requirements.matches(parsed, {'x': value}))

    @given(strategies.texts, strategies.texts)
    def test_a_present_value_is_less_equal_or_greater(self, left: str, right: str) -> None:
        answers = [
            requirements.matches(requirements.parse([op, '$x', right]), {'x': left})
            for op in ('<', '==', '>')
        ]
        self.assertEqual(1, answers.count(True))

    @given(st.lists(strategies.trees, min_size=1, max_size=3), strategies.values)
    def test_de_morgan(
        self, parts: list[requirements.Requirement], values: dict[str, str | int | None]
    ) -> None:
        denied = tuple(Not(part=part) for part in parts)
        for one, other in (
            (Not(part=All(parts=tuple(parts))), AnyOf(parts=denied)),
            (Not(part=AnyOf(parts=tuple(parts))), All(parts=denied)),
        ):
            self.assertEqual(requirements.matches(one, values), requirements.matches(other, values))

    @given(strategies.trees, strategies.values)
    def test_not_turns_every_answer_round(
        self, tree: requirements.Requirement, values: dict[str, str | int | None]
    ) -> None:
        answer = requirements.matches(tree, values)
        self.assertEqual(not answer, requirements.matches(Not(part=tree), values))


class WholeTest(base.TestCase):
    @given(strategies.trees)
    def test_what_is_written_is_read_again(self, tree: requirements.Requirement) -> None:
        self.assertEqual(tree, requirements.parse(requirements.dumps(tree)))

    @given(strategies.trees, strategies.values)
    def test_only_its_keys_matter(
        self, tree: requirements.Requirement, values: dict[str, str | int | None]
    ) -> None:
        seen = {key: value for key, value in values.items() if key in requirements.keys(tree)}
        self.assertEqual(requirements.matches(tree, values), requirements.matches(tree, seen))

    def test_keys(self) -> None:
        text = '["or", ["not", ["==", "$a.b", "1"]], ["and", [">", "$c", 1], ["<", "$c", 9]]]'
        self.assertEqual({'a.b', 'c'}, requirements.keys(requirements.parse(text)))

    def test_all_of(self) -> None:
        self.assertIsNone(requirements.all_of())
        self.assertIsNone(requirements.all_of(None, None))
        self.assertEqual(VCPUS, requirements.all_of(None, VCPUS))
        self.assertEqual(All(parts=(VCPUS, GPU)), requirements.all_of(VCPUS, GPU))
        joined = requirements.all_of(All(parts=(VCPUS, GPU)), None, Not(part=GPU))
        self.assertEqual(All(parts=(VCPUS, GPU, Not(part=GPU))), joined)

    @given(strategies.trees, strategies.trees, strategies.values)
    def test_all_of_asks_for_both(
        self,
        one: requirements.Requirement,
        other: requirements.Requirement,
        values: dict[str, str | int | None],
    ) -> None:
        both = requirements.matches(one, values) and requirements.matches(other, values)
        self.assertEqual(both, requirements.matches(requirements.all_of(one, other), values))

    def test_the_number_follows_from_the_value(self) -> None:
        self.assertEqual(2.0, VCPUS.number)
        self.assertIsNone(GPU.number)
