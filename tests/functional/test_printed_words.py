# SPDX-License-Identifier: Apache-2.0

"""The stock client knows every command that the pages print, and its options.

Also those that are run nowhere, or only on a real cloud. Nothing is sent.
"""

from __future__ import annotations

import functools
import importlib.metadata
import itertools
import types
import unittest.mock
from collections.abc import Iterator

import fixtures

from tests.base import TestCase
from tests.printed import blocks
from tests.printed import commands
from tests.printed.shell import LANGUAGES

GROUPS = ('common', 'compute.v2', 'identity.v3', 'image.v2', 'network.v2', 'volume.v3')
# Those of Heat come with a plugin that the tests have only on a real cloud. The client
# itself has 'complete'.
ELSEWHERE = ('complete', 'orchestration', 'stack')


def known() -> dict[str, importlib.metadata.EntryPoint]:
    """Return the commands of the client by their words."""
    groups = [f'openstack.{group}' for group in GROUPS]
    groups += ['openstack.reservation.v1', 'openstack.lease.v1']
    return {
        entry.name.replace('_', ' '): entry
        for group in groups
        for entry in importlib.metadata.entry_points(group=group)
    }


@functools.cache
def known_words() -> frozenset[str]:
    """Return the words of the commands of the client."""
    return frozenset(known())


def printed() -> Iterator[tuple[str, list[str]]]:
    """Yield the words of each command of the client after its name, and the place."""
    for block in blocks.blocks():
        if block.language not in LANGUAGES:
            continue
        for command in commands.read_commands(block.text):
            words = commands.words(command.text)
            # The last one of several.
            ends = [place for place, word in enumerate(words, 1) if word.endswith(';')]
            words = words[max(ends, default=0) :]
            # Commands of root are comments to this parser.
            if words and words[0].endswith('openstack'):
                own = itertools.takewhile(lambda word: not word.startswith(('>', '|')), words[1:])
                yield block.place, [word.strip('()') for word in own]


class TestWords(TestCase):
    """Each command, parsed by the client itself."""

    def setUp(self) -> None:
        super().setUp()
        # The pages that run check values: some name files, and one shows a mistake.
        self.useFixture(
            fixtures.MonkeyPatch(
                'climate.client.reservation_reader.ReservationReader.add', unittest.mock.Mock()
            )
        )

    def test_they_are_known(self) -> None:
        entries = known()
        seen = 0
        for place, words in printed():
            # Options of the program itself come before the command.
            while words[0].startswith('--'):
                words = words[2:]
            if words[0] in ELSEWHERE:
                continue
            length = next(n for n in range(5, -1, -1) if n == 0 or ' '.join(words[:n]) in entries)
            self.assertGreater(length, 0, f'{place}: {words}')
            self.parse(place, entries[' '.join(words[:length])], words[length:])
            seen += 1
        self.assertGreater(seen, 50)

    def test_in_sentences(self) -> None:
        firsts = {name.partition(' ')[0] for name in known_words()}
        for page in blocks.pages():
            for text in blocks.inline(page):
                words = text.split()[1:]
                # Without a verb it is a family of commands.
                if not text.startswith('openstack ') or words[0] not in firsts or len(words) < 3:
                    continue
                verbs = [word for word in words if word.isalpha() and word.islower()]
                found = any(' '.join(verbs[:n]) in known_words() for n in range(1, 5))
                self.assertTrue(found, f'{page.name}: {text}')

    def parse(self, place: str, entry: importlib.metadata.EntryPoint, words: list[str]) -> None:
        """Fail unless a command of the client takes the words."""
        application = types.SimpleNamespace(
            client_manager=unittest.mock.MagicMock(), options=unittest.mock.MagicMock()
        )
        parser = entry.load()(application, None).get_parser(f'openstack {entry.name}')
        try:
            parser.parse_args(words)
        except SystemExit:
            raise AssertionError(f'{place}: {words}') from None
