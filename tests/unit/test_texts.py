# SPDX-License-Identifier: Apache-2.0

"""Texts of other services are cleaned before they are stored."""

from __future__ import annotations

import datetime
import json

import hypothesis
from hypothesis import strategies as st

from climate import exceptions
from climate.exceptions import texts
from climate.plugins.contract import Again
from climate.plugins.contract import Done
from climate.plugins.contract import SweepFinding
from tests import base

NASTY = 'a\x00b\ud800c\x1bd\u202ee\nf'
anything = st.text(st.characters(), max_size=50) | st.sampled_from([NASTY, 'x' * 5000])
with_surrogates = st.builds(''.join, st.lists(st.characters(categories=['Cs', 'Cc', 'L', 'Cf'])))


class TestClean(base.TestCase):
    @hypothesis.given(anything | with_surrogates, st.integers(1, 60))
    def test_it_can_be_stored_and_printed(self, text: str, longest: int) -> None:
        found = texts.clean(text, longest)
        found.encode()
        self.assertLessEqual(len(found), longest)
        self.assertEqual([], [sign for sign in found if ord(sign) < 32 or sign == '\u202e'])
        self.assertEqual(found, texts.clean(found, longest))
        self.assertEqual(found, json.loads(json.dumps(found)))

    @hypothesis.given(st.text('abcäж日🚀 ', max_size=40))
    def test_other_texts_stay(self, text: str) -> None:
        self.assertEqual((text, text), (texts.clean(text), texts.storable(text, 160)))

    @hypothesis.given(anything | with_surrogates, st.integers(0, 60))
    def test_what_every_engine_stores(self, text: str, most: int) -> None:
        found = texts.storable(text, most)
        self.assertLessEqual(len(found.encode()), most)
        self.assertNotIn('\x00', found)
        self.assertEqual(found, texts.storable(found, most))

    def test_signs(self) -> None:
        self.assertEqual('a\ufffdb\ufffdc d e f', texts.clean(NASTY))
        self.assertEqual('aaaa…', texts.clean('a' * 9, 5))
        self.assertEqual('line\n\ufffd', texts.storable('line\n\x00'))


class TestWhereTextsEnter(base.TestCase):
    def test_errors_of_effects(self) -> None:
        for kind in (exceptions.Transient, exceptions.Permanent, exceptions.EffectError):
            found = kind(f'Nova says {NASTY}{"x" * 5000}')
            self.assertEqual(texts.LONGEST, len(found.message))
            self.assertTrue(found.message.startswith('Nova says a\ufffdb\ufffdc d e f'))
            self.assertEqual(found.message, str(found))

    def test_outcomes_of_effects(self) -> None:
        clean = 'a\ufffdb\ufffdc d e f'
        done = Done(steps=(NASTY,), repaired=(NASTY,))
        self.assertEqual(((clean,), (clean,)), (done.steps, done.repaired))
        again = Again(after=datetime.timedelta(0), why=NASTY, steps=(NASTY,))
        self.assertEqual((clean, (clean,)), (again.why, again.steps))
        self.assertEqual(clean, SweepFinding(what=NASTY).what)
