# SPDX-License-Identifier: Apache-2.0

"""Mails that are files: whole, private, and kept until they can be written."""

from __future__ import annotations

import datetime
import pathlib

import fixtures

from climate.clock import ManualClock
from climate.mail import smtp
from climate.mail.folder import MailFolder
from climate.mail.mail_writer import LetterSettings
from climate.mail.mail_writer import MailWriter
from tests.base import TestCase
from tests.unit.mail import samples


class TestMailFolder(TestCase):
    """One folder."""

    def setUp(self) -> None:
        super().setUp()
        self.path = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'mail'
        self.clock = ManualClock(samples.NOW)
        self.folder = MailFolder(self.path, self.clock)

    def send(self, number: int, name: str = 'demo') -> None:
        letters = MailWriter(LetterSettings(sender='climate@localhost'))
        letter = letters.one(samples.notice(number, name=name), 'a@b', 'Alice', samples.NOW)
        with self.folder.connected() as connection:
            connection.send(letter, 'a@b')

    def test_each_mail_is_a_file_for_its_owner_only(self) -> None:
        self.send(1, 'ä/../../x')
        self.clock.advance(datetime.timedelta(seconds=1).total_seconds())
        self.send(2)
        files = sorted(self.path.iterdir())
        expected = [
            '2030-01-01-110000-your-lease-x-ends-in-about-3-hours',
            '2030-01-01-110001-your-lease-demo-ends-in-about-3-hours',
        ]
        self.assertEqual(expected, [file.stem.rpartition('-')[0] for file in files])
        self.assertEqual({'.eml'}, {file.suffix for file in files})
        self.assertEqual({0o600}, {file.stat().st_mode & 0o777 for file in files})
        self.assertEqual(0o700, self.path.stat().st_mode & 0o777)

    def test_without_the_folder_mails_wait(self) -> None:
        self.path.rmdir()
        self.assertRaises(smtp.ServerUnavailable, self.send, 1)
        self.path.mkdir()
        self.send(1)
        self.assertEqual(1, len(list(self.path.iterdir())))
