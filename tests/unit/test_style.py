# SPDX-License-Identifier: Apache-2.0

"""Texts use the words of the style guide."""

from __future__ import annotations

import contextlib
import csv
import io
import json

import fixtures

from tests import style
from tests.base import FolderCase
from tests.base import TestCase

HINT = (
    'Rewrite these sentences, see doc/source/contributor/style.rst. '
    '"python -m tests.style FILE" lists what a file still has:'
)


class TestTree(TestCase):
    """The text of this repository."""

    def test_no_file_has_more_than_before(self) -> None:
        found = style.excess(style.hits(), style.debts(), map(style.name, style.texts()))
        self.assertEqual('', '\n'.join(map(str, found)), HINT)

    def test_each_place_is_searched(self) -> None:
        names = [style.name(file) for file in style.texts()]
        for place in style.PLACES:
            self.assertTrue(any(name.startswith(place) for name in names), place)


class TestLists(TestCase):
    """The lists on the page of the style guide."""

    def test_each_term_has_a_replacement(self) -> None:
        phrases = [term.phrase for term in style.terms()]
        self.assertGreater(len(phrases), 50)
        self.assertEqual(len(phrases), len(set(phrases)))
        for term in style.terms():
            self.assertEqual(term.phrase.lower(), term.phrase)
            self.assertTrue(term.words and term.instead, term)

    def test_replacements_are_clean(self) -> None:
        with style.PAIRS.open(encoding='utf-8', newline='') as file:
            pairs = list(csv.DictReader(file))
        self.assertGreaterEqual(len(pairs), 12)
        for text in (*(pair['After'] for pair in pairs), *(t.instead for t in style.terms())):
            self.assertEqual([], style.search('text.rst', text), text)

    def test_page_shows_them(self) -> None:
        page = style.PAGE.read_text(encoding='utf-8')
        for file in (style.TERMS, style.PAIRS):
            self.assertIn(f':file: {file.name}', page)


class TestSearch(TestCase):
    """Phrases are found where they are read."""

    def found(self, path: str, text: str) -> list[tuple[int, str]]:
        """Return line and phrase of each hit."""
        return [(hit.line, hit.term.phrase) for hit in style.search(path, text)]

    def test_page(self) -> None:
        found = self.found('page.rst', 'Whoever asks\nfor it is\ntold.\n')
        self.assertEqual([(1, 'whoever'), (2, 'is told')], found)

    def test_words_that_contain_one(self) -> None:
        self.assertEqual([], self.found('page.rst', 'climate:nobody, anewer; nobody-else'))

    def test_literals(self) -> None:
        self.assertEqual([], self.found('page.rst', 'The user ``nobody`` is\n``told``.'))

    def test_comments_of_other_files(self) -> None:
        expected = [(2, 'tells of')]
        self.assertEqual(expected, self.found('Makefile', 'all:\n# The log tells\n# of it.\n'))

    def test_python(self) -> None:
        source = (
            '"""A docstring for whoever reads it."""\n'
            'nobody = "asks"  # and a comment that is\n'
            '# told to stop\n'
            'x = f(\n'
            "    'a lease is '\n"
            "    f'told {lease}',\n"
            ')\n'
        )
        phrases = [(1, 'whoever'), (2, 'is told'), (5, 'is told')]
        self.assertEqual(phrases, self.found('x.py', source))

    def test_code_parts_phrases(self) -> None:
        self.assertEqual([], self.found('x.py', "x = ['is', 'told']\nis_told = 'is' + told\n"))

    def test_longer_phrase_is_reported(self) -> None:
        self.assertEqual([(1, 'so that nobody')], self.found('x.rst', 'so that nobody'))


class TestDebts(FolderCase):
    """A count may shrink, and never grow."""

    def excess(self, allowed: dict[str, int], **texts: str) -> set[str]:
        """Return the files with too many phrases."""
        found = [hit for path, text in texts.items() for hit in style.search(path, text)]
        return {hit.path for hit in style.excess(found, allowed, texts)}

    def test_more(self) -> None:
        self.assertEqual({'a'}, self.excess({'a': 1}, a='nobody, nobody'))
        self.assertEqual({'b'}, self.excess({'a': 1}, a='nobody', b='anew'))

    def test_as_many_or_fewer(self) -> None:
        self.assertEqual(set(), self.excess({'a': 2}, a='nobody, nobody'))
        self.assertEqual(set(), self.excess({'a': 2}, a='nobody'))
        self.assertEqual(set(), self.excess({'a': 2}, a=''))

    def test_moved(self) -> None:
        self.assertEqual(set(), self.excess({'old': 2}, b='nobody', c='anew'))
        self.assertEqual({'b', 'c'}, self.excess({'old': 1}, b='nobody', c='anew'))

    def lower(self, allowed: dict[str, int], text: str) -> tuple[int, dict[str, int]]:
        """Return the status of the command, and the debts that it leaves."""
        debts = self.folder / 'debts.json'
        debts.write_text(json.dumps(allowed))
        (self.folder / 'README.rst').write_text(text)
        with (
            fixtures.MonkeyPatch('tests.style.ROOT', self.folder),
            fixtures.MonkeyPatch('tests.style.DEBTS', debts),
            contextlib.redirect_stdout(io.StringIO()) as self.output,
        ):
            status = style.main(['--lower'])
        return status, json.loads(debts.read_text())

    def test_lower(self) -> None:
        allowed = {'README.rst': 2, 'gone.rst': 3}
        self.assertEqual((0, {'README.rst': 1}), self.lower(allowed, 'nobody'))
        self.assertEqual((0, {}), self.lower(allowed, 'users'))

    def test_lower_never_raises(self) -> None:
        allowed = {'README.rst': 1}
        self.assertEqual((1, allowed), self.lower(allowed, 'x\nnobody\nanew'))
        self.assertIn('README.rst:2: "nobody"', self.output.getvalue())
