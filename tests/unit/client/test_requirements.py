# SPDX-License-Identifier: Apache-2.0

"""Requirements as people write them mean what the service evaluates."""

from __future__ import annotations

import operator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from climate.allocation import requirements as wire
from climate.allocation.requirements import All
from climate.allocation.requirements import AnyOf
from climate.allocation.requirements import Comparison
from climate.allocation.requirements import Not
from climate.allocation.requirements import Operator
from climate.client import requirements
from tests import base
from tests.unit.allocation import strategies

# Keys and values that need quotes, among others.
words = st.one_of(
    st.sampled_from(['and', 'or', 'not', 'in', 'trait:X', '$a', '"', '\\', '(', 'a b', '=']),
    st.text(max_size=5),
).filter(lambda word: '\x00' not in word and word.isprintable())
odd_comparisons = st.builds(
    Comparison, key=words.filter(bool), op=st.sampled_from(Operator), value=words
)
NUMBERS = ('-2', '0', '1', '1.5', '3', '10')
PYTHON = {
    '==': operator.eq,
    '!=': operator.ne,
    '>=': operator.ge,
    '<=': operator.le,
    '>': operator.gt,
    '<': operator.lt,
}


@st.composite
def sentences(draw: st.DrawFn, depth: int = 3) -> tuple[str, Any]:
    """Return a text, and a function of properties that computes its value in Python."""
    kind = draw(st.sampled_from(['compare', 'in', 'not in', 'not', 'and', 'or']))
    if depth == 0 or kind in ('compare', 'in', 'not in'):
        return draw(_leaves(kind))
    text, holds = draw(sentences(depth=depth - 1))
    if kind == 'not':
        return f'not ({text})', lambda values: not holds(values)
    other, other_holds = draw(sentences(depth=depth - 1))
    joined = all if kind == 'and' else any
    return (
        f'({text}) {kind} ({other})',
        lambda values: joined([holds(values), other_holds(values)]),
    )


@st.composite
def _leaves(draw: st.DrawFn, kind: str) -> tuple[str, Any]:
    key = draw(st.sampled_from('ab'))
    if 'in' in kind:
        chosen = draw(st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=3))
        inside = kind == 'in'
        return (
            f'{key} {kind} ({", ".join(chosen)})',
            lambda values: (key in values and float(values[key]) in map(float, chosen)) is inside,
        )
    sign, number = draw(st.sampled_from(sorted(PYTHON))), draw(st.sampled_from(NUMBERS))
    return (
        f'{key}{sign}{number}',
        lambda values: key in values and PYTHON[sign](float(values[key]), float(number)),
    )


class RequirementTextsTest(base.TestCase):
    """The language."""

    def test_examples(self) -> None:
        for text, expected in (
            ('vcpus >= 32', '[">=", "$vcpus", "32"]'),
            ('$gpu=True', '["==", "$gpu", "True"]'),
            ('android == 1', '["==", "$android", "1"]'),
            ('"in" != "a b"', '["!=", "$in", "a b"]'),
            ('rack in (A)', '["==", "$rack", "A"]'),
            ('rack not in (A)', '["not", ["==", "$rack", "A"]]'),
            (
                'vcpus >= 32 and not rack in (A, B)',
                '["and", [">=", "$vcpus", "32"], '
                '["not", ["or", ["==", "$rack", "A"], ["==", "$rack", "B"]]]]',
            ),
            (
                'a == 1 or b == 2 and c == 3',
                '["or", ["==", "$a", "1"], ["and", ["==", "$b", "2"], ["==", "$c", "3"]]]',
            ),
            ('["==", "$a", 1]', '["==", "$a", "1"]'),
            (
                'vcpus >= 32 and trait:HW_CPU_X86_AVX2',
                '["and", [">=", "$vcpus", "32"], ["trait", "HW_CPU_X86_AVX2"]]',
            ),
            ('not trait:CUSTOM_SLOW', '["not", ["trait", "CUSTOM_SLOW"]]'),
            ('trait:CUSTOM_X = required', '["trait", "CUSTOM_X"]'),
            ('trait:CUSTOM_X == "forbidden"', '["not", ["trait", "CUSTOM_X"]]'),
            ('"trait:X" == forbidden', '["==", "$trait:X", "forbidden"]'),
        ):
            self.assertEqual(expected, requirements.as_json(text))

    def test_errors_point_at_the_column(self) -> None:
        for text, column, reason in (
            ('', 1, 'the requirement is empty'),
            ('gpu', 4, 'one of =='),
            ('vcpus >> 3', 8, 'expected a word'),
            ('a == 1 b == 2', 8, 'expected and, or, the end'),
            ('(a == 1', 8, 'expected )'),
            ('a in ()', 7, 'expected a word'),
            ('a == "x', 6, 'a quotation that does not end'),
            (r'a == "\q"', 6, 'an escape'),
            ('"" == 1', 1, 'is empty'),
            ('$ == 1', 1, 'is empty'),
            ('a == 1 and trait:hw_avx2', 12, 'the name of a trait has upper-case letters'),
            ('not trait:', 5, 'the name of a trait'),
            ('trait:X == 1', 12, 'a trait is required or forbidden'),
            ('trait:X >= required', 9, 'only compared with =='),
            ('trait:X in (A)', 9, 'expected and, one of'),
            ('["trait", "x"]', 1, 'a trait is'),
            ('not ' * 17 + 'a == 1', 1, 'deeper than 16'),
            ('[1]', 1, 'unknown operator'),
        ):
            error = self.assertRaises(
                requirements.RequirementSyntaxError, requirements.as_json, text
            )
            self.assertEqual(column, error.column, text)
            message, shown, mark = str(error).split('\n')
            self.assertIn(reason, message)
            self.assertEqual((text, column + 1), (shown[2:], mark.index('^')), text)

    def test_a_mark_stays_below_its_column(self) -> None:
        error = self.assertRaises(
            requirements.RequirementSyntaxError, requirements.parse, 'a == 1\n\tand b'
        )
        self.assertEqual('  a == 1  and b', str(error).split('\n')[1])

    @given(st.one_of(strategies.trees, odd_comparisons, odd_comparisons.map(lambda c: Not(part=c))))
    def test_what_is_written_is_read_again(self, tree: wire.Requirement) -> None:
        text = requirements.write(tree)
        self.assertEqual(_plain(tree), requirements.parse(text), text)

    @given(strategies.trees, strategies.values, st.frozensets(strategies.TRAITS))
    def test_what_is_written_means_the_same(
        self, tree: wire.Requirement, values: dict[str, str | int | None], traits: frozenset[str]
    ) -> None:
        sent = requirements.as_json(requirements.write(tree))
        expected = wire.matches(tree, values, traits)
        self.assertEqual(expected, wire.matches(wire.parse(sent), values, traits), sent)

    @given(sentences(), st.dictionaries(st.sampled_from('ab'), st.sampled_from(NUMBERS)))
    def test_the_service_evaluates_a_text_as_python_does(
        self, sentence: tuple[str, Any], values: dict[str, str]
    ) -> None:
        text, holds = sentence
        sent = wire.parse(requirements.as_json(text))
        self.assertEqual(holds(values), wire.matches(sent, values), text)


def _plain(tree: wire.Requirement) -> wire.Requirement:
    """Return a requirement without combinations of one part, which mean that part."""
    match tree:
        case Not(part=part):
            return Not(part=_plain(part))
        case All(parts=(part,)) | AnyOf(parts=(part,)):
            return _plain(part)
        case All(parts=parts) | AnyOf(parts=parts):
            return type(tree)(parts=tuple(map(_plain, parts)))
    return tree
