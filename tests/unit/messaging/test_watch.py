# SPDX-License-Identifier: Apache-2.0

"""``climate-watch`` on a file: what it prints, when it ends."""

from __future__ import annotations

import dataclasses
import io
import json
import pathlib
import re

import fixtures

from climate.cmd import watch
from climate.messaging import journal
from climate.messaging import publisher
from tests import base
from tests.unit.messaging import samples


class _Terminal(io.StringIO):
    """What is written to a terminal."""

    def isatty(self) -> bool:
        """Be one."""
        return True


class TestWatch(base.TestCase):
    """The command within this process; functional tests run it as one."""

    def setUp(self) -> None:
        super().setUp()
        self.messages = [
            samples.message(1, 'lease.create'),
            samples.message(2, 'lease.event.before_start_lease'),
            samples.message(3, 'lease.event.start_lease'),
        ]
        self.out = io.StringIO()
        self.useFixture(fixtures.MonkeyPatch('sys.stdout', self.out))

    def source(self) -> watch.Envelopes:
        for message in self.messages:
            yield publisher.envelope(message, 'climate.lease')
            yield None

    def run_it(self, *arguments: str) -> int:
        return watch.watch(watch.parser().parse_args(arguments), self.source())

    def lines(self) -> list[str]:
        return self.out.getvalue().splitlines()

    def test_one_line_each(self) -> None:
        self.assertEqual(0, self.run_it())
        types = [line.split('  ')[1] for line in self.lines()]
        expected = ['lease.create', 'lease.event.before_start_lease', 'lease.event.start_lease']
        self.assertEqual(expected, types)

    def test_colors_on_a_terminal_only(self) -> None:
        self.messages[1] = dataclasses.replace(self.messages[1], priority='ERROR')
        self.run_it()
        plain = self.out.getvalue()
        self.assertNotIn('\x1b', plain)
        self.out = _Terminal()
        self.useFixture(fixtures.MonkeyPatch('sys.stdout', self.out))
        self.useFixture(fixtures.EnvironmentVariable('TERM', 'xterm-256color'))
        self.useFixture(fixtures.EnvironmentVariable('NO_COLOR', None))
        self.run_it()
        first, second, _ = self.lines()
        self.assertNotIn('\x1b', first)
        self.assertIn('\x1b[1;31m', second)
        self.assertEqual(plain, re.sub(r'\x1b\[[0-9;]*m', '', self.out.getvalue()))

    def test_json(self) -> None:
        self.run_it('--json')
        found = [json.loads(line)['message_id'] for line in self.lines()]
        self.assertEqual([samples.message(number).id for number in (1, 2, 3)], found)

    def test_of_some_types(self) -> None:
        self.run_it('--event', 'lease.event.start*', '--event', 'lease.create')
        self.assertEqual(2, len(self.lines()))

    def test_of_one_lease(self) -> None:
        self.assertEqual(0, self.run_it('--lease', 'demo'))
        self.assertEqual(0, self.run_it('--lease', 'l1'))
        self.assertEqual(0, self.run_it('--lease', 'other'))
        self.assertEqual(6, len(self.lines()))

    def test_ends_when_it_has_enough(self) -> None:
        self.assertEqual(0, self.run_it('--count', '2'))
        self.assertEqual(2, len(self.lines()))

    def test_says_when_it_did_not_get_enough(self) -> None:
        self.assertEqual(1, self.run_it('--count', '4'))

    def test_ends_when_the_time_is_over(self) -> None:
        self.assertEqual(0, self.run_it('--timeout', '0'))
        self.assertEqual(1, len(self.lines()))

    def test_a_file_is_followed(self) -> None:
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'n.jsonl'
        journal.FileJournal(path, publisher_id='climate.lease').publish(self.messages)
        status = watch.main(['--file', str(path), '--from-start', '--count', '3'])
        self.assertEqual((0, 3), (status, len(self.lines())))

    def test_a_bad_url_is_one_line(self) -> None:
        err = io.StringIO()
        self.useFixture(fixtures.MonkeyPatch('sys.stderr', err))
        self.assertEqual(2, watch.main(['--transport-url', 'carrier-pigeon://me:secret@loft/']))
        text = err.getvalue()
        self.assertIn('climate-watch: The transport URL of the message bus cannot be used', text)
        self.assertNotIn('secret', text)
