# SPDX-License-Identifier: Apache-2.0

"""Everything that the pages print runs somewhere, or says why it does not."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator

import fixtures
from oslo_config import cfg

from climate import exceptions
from doc.ext import copying
from tests.architecture import ROOT
from tests.base import TestCase
from tests.printed import __main__ as report
from tests.printed import blocks
from tests.printed import commands
from tests.printed import configurations
from tests.printed import marks
from tests.printed.configurations import UnknownOption
from tests.printed.marks import Where
from tests.printed.shell import LANGUAGES

_USED = re.compile(r'@([\w./-]+)|(?<=\s)([\w.-]+\.(?:json|yaml|py|conf))')
_VARIABLE = re.compile(r'([A-Z_]+)=')


def marked(where: Where) -> list[blocks.Block]:
    """Return the blocks with a mark."""
    return [block for block in blocks.blocks() if block.mark and block.mark.where is where]


class TestMarks(TestCase):
    """The marks of the pages."""

    def test_each_block_has_one(self) -> None:
        self.assertEqual([], [block.place for block in blocks.blocks() if block.mark is None])

    def test_each_file_is_shown(self) -> None:
        files = {
            path
            for suffix in ('json', 'yaml', 'py')
            for path in blocks.DOC.rglob(f'*.{suffix}')
            if path.name != 'conf.py'
        }
        shown = {block.file.resolve() for block in blocks.blocks() if block.file}
        self.assertEqual(set(), files - shown)

    def test_each_test_is_there(self) -> None:
        for block in marked(Where.TEST):
            assert block.mark is not None
            self.assertTrue((ROOT / block.mark.what).is_file(), f'{block.place}: {block.mark.what}')

    def test_each_file_is_used(self) -> None:
        for where in (Where.STANDALONE, Where.CLOUD):
            for number, block in enumerate(found := marked(where)):
                assert block.mark is not None
                if block.language in LANGUAGES:
                    continue
                later = [each.text for each in found[number:] if each.page == block.page]
                used = _USED.findall('\n'.join([block.mark.hidden, *later[1:]]))
                names = {name for pair in used for name in pair}
                self.assertIn(block.mark.what, names, f'{block.place}: nothing reads it')

    def test_a_reason_is_required(self) -> None:
        self.assertRaises(ValueError, marks.read_mark, 'runs: not')
        self.assertRaises(ValueError, marks.read_mark, 'runs: somewhere')
        self.assertIsNone(marks.read_mark('an ordinary comment'))
        said = marks.read_mark('runs: not; because it is late')
        self.assertEqual(marks.Mark(where=Where.NOT, what='it is late'), said)

    def test_the_table_counts_all(self) -> None:
        lines = list(report.table(blocks.blocks()))
        self.assertEqual(str(len(blocks.blocks())), lines[-1].split()[1])
        reasons = [line for line in report.reasons(blocks.blocks()) if line.startswith(' ' * 8)]
        self.assertEqual(len(marked(Where.NOT)), len(reasons))


class TestCopies(TestCase):
    """What readers copy from a page is complete."""

    def printed(self) -> Iterator[tuple[blocks.Block, commands.Command]]:
        """Yield each command of a shell, with its block."""
        for block in blocks.blocks():
            if block.language in LANGUAGES and commands.PROMPT in block.text:
                for command in commands.read_commands(block.text):
                    yield block, command

    def test_files_have_their_name(self) -> None:
        for number, block in enumerate(found := blocks.blocks()):
            if block.mark is None or block.language in LANGUAGES or not block.mark.what:
                continue
            later = '\n'.join(
                each.text
                for each in found[number + 1 :]
                if each.page == block.page and each.language in LANGUAGES
            )
            name = block.mark.what
            if block.mark.where is Where.STANDALONE and re.search(
                rf'[@ ]{re.escape(name)}(?![\w.])', later
            ):
                self.assertEqual(name, block.caption, block.place)

    def test_requests_are_silent(self) -> None:
        for block, command in self.printed():
            if commands.words(command.text)[:1] == ['curl']:
                self.assertRegex(command.text, r'^curl -\w*[si]', block.place)

    def test_the_button_copies_whole_commands(self) -> None:
        for block, command in self.printed():
            *before, _ = command.text.splitlines()
            if copying.HERE_DOCUMENT not in command.text:
                for line in before:
                    self.assertEqual('\\', line[-1:], block.place)

    def test_users_learn_the_commands_of_climate(self) -> None:
        for block, command in self.printed():
            if block.page.startswith('doc/source/user/') and not block.page.endswith('blazar.rst'):
                self.assertNotRegex(
                    command.text, r'openstack reservation|http://controller', block.place
                )


class TestReader(TestCase):
    """Pages are read as people see them."""

    def read(self, text: str) -> list[blocks.Block]:
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (folder / 'page.rst').write_text(text)
        return blocks.read_page(folder / 'page.rst')

    def test_marks_and_hidden_lines(self) -> None:
        (block,) = self.read(
            'See :doc:`x`.\n\n'
            '#. one\n\n'
            '   .. runs: standalone\n'
            '      A=1\n'
            '        B=2\n\n'
            '   .. code-block:: console\n\n'
            '      $ true\n'
        )
        self.assertEqual(('console', '$ true\n'), (block.language, block.text))
        self.assertEqual(marks.Mark(where=Where.STANDALONE, hidden='A=1\n  B=2'), block.mark)

    def test_a_block_without_a_directive(self) -> None:
        first, second = self.read('.. runs: make\n\nTry::\n\n    make x\n\nand::\n\n    make y\n')
        self.assertEqual(marks.Mark(where=Where.MAKE), first.mark)
        self.assertIsNone(second.mark)

    def test_commands(self) -> None:
        text = "$ a \\\n    b\nout\n$ c 'd\n  e'  # f\n$ g <<'END'\nh\nEND\n$ i\n"
        expected = [
            commands.Command('a \\\n    b', ('out',)),
            commands.Command("c 'd\n  e'  # f"),
            commands.Command("g <<'END'\nh\nEND"),
            commands.Command('i'),
        ]
        self.assertEqual(expected, commands.read_commands(text))

    def test_likeness(self) -> None:
        shown = ('+--+', '| id | 6ee55c78-ac52-41a6-99af-2d2d73bcc466 |', 'at 2030-01-01 12:00 …')
        there = '| id    | 11111111-ac52-41a6-99af-2d2d73bcc466 |\nat 2031-05-05 13:10 x\n'
        self.assertIsNone(commands.likeness(shown, there))
        self.assertEqual(shown[1], commands.likeness(shown, 'at 2031-05-05 13:10 x'))
        self.assertEqual('x', commands.likeness(('x',), 'y'))


class TestConfigurations(TestCase):
    """Configuration files are what the service reads."""

    def read(self, kind: str, text: str) -> None:
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / kind
        path.write_text(text)
        configurations.READERS[kind](path)

    def test_those_of_the_pages(self) -> None:
        for block in marked(Where.CONFIG):
            assert block.mark is not None
            try:
                self.read(block.mark.what, block.text)
            except Exception as error:
                raise AssertionError(f'{block.place}: {error!r}') from error

    def test_what_is_wrong_is_found(self) -> None:
        wrong = (UnknownOption, cfg.ConfigFileValueError, exceptions.ConfigurationError)
        for kind, text in (
            ('climate.conf', '[api]\nnonsense = 1\n'),
            ('climate.conf', '[nonsense]\na = 1\n'),
            ('climate.conf', '[manager]\nworkers = many\n'),
            ('climate.conf', '[nova]\nauth_type = password\nuser_nmae = x\n'),
            ('policy.yaml', '"climate:nonsense:list": "rule:admin_api"\n'),
            ('policy.yaml', '"climate:hosts:list": "rule:admin_api nonsense ("\n'),
            ('types.yaml', 'resource_types:\n  - name: nonsense\n'),
            ('power-hosts.yaml', 'hosts: 3\n'),
        ):
            try:
                self.read(kind, text)
            except wrong:
                continue
            self.fail(f'{kind}: {text}')


class TestMake(TestCase):
    """What pages make can be made."""

    def setUp(self) -> None:
        super().setUp()
        self.makefile = (ROOT / 'Makefile').read_text(encoding='utf-8')
        self.targets = set(re.findall(r'^\.PHONY: (\S+)$', self.makefile, re.MULTILINE))

    def check(self, place: str, text: str) -> None:
        """Fail unless a command makes what the Makefile knows."""
        words = [word for word in commands.words(text.partition('>')[0]) if word != 'make']
        for word in words:
            name = _VARIABLE.match(word)
            if name and not name[1].startswith('CLIMATE_'):  # those are of the environment
                self.assertIn(name[1], self.makefile, f'{place}: {word}')
            elif not name and re.fullmatch(r'[a-z][a-z-]*', word):
                self.assertIn(word, self.targets, f'{place}: {word}')

    def test_blocks(self) -> None:
        for block in marked(Where.MAKE):
            prompt = commands.PROMPT if commands.PROMPT in block.text else ''
            lines = [line for line in block.text.splitlines() if line.startswith(prompt + 'make')]
            lines += [line for line in block.text.splitlines() if line.startswith('$ CLIMATE_')]
            self.assertNotEqual([], lines, block.place)
            for line in lines:
                self.check(block.place, line.removeprefix(prompt))

    def test_in_sentences(self) -> None:
        for page in blocks.pages():
            for text in blocks.inline(page):
                if re.match(r'make [a-z]', text):
                    self.check(page.name, text)
