# SPDX-License-Identifier: Apache-2.0

"""Notifications of the standalone service: written to a file, and followed."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Sequence

import fixtures

from climate.messaging import follow
from climate.messaging import journal
from climate.messaging import publisher
from tests import base
from tests.unit.messaging import samples

PUBLISHER = 'climate.lease'


class Refusing:
    """A publisher that takes nothing."""

    def publish(self, messages: Sequence[publisher.OutboxMessage]) -> None:
        raise publisher.BrokerUnavailable('it is away', published=0)


class FileCase(base.TestCase):
    """A test with a file of notifications."""

    def setUp(self) -> None:
        super().setUp()
        self.path = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'notifications.jsonl'

    def write(self, *numbers: int) -> None:
        journal.FileJournal(self.path, publisher_id=PUBLISHER).publish(
            [samples.message(number) for number in numbers]
        )

    def following(self, *, from_start: bool = False) -> follow.Follower:
        return self.closing(follow.Follower(self.path, from_start=from_start))

    def read(self, follower: follow.Follower) -> list[int]:
        return [int(envelope['message_id'][-12:]) for envelope in follower.read()]


class TestFileJournal(FileCase):
    """What is published is in the file, a line each."""

    def test_each_is_one_line_in_order(self) -> None:
        self.write(1, 2)
        self.write(3)
        lines = self.path.read_text(encoding='utf-8').splitlines()
        self.assertEqual(
            [publisher.envelope(samples.message(number), 'climate.lease') for number in (1, 2, 3)],
            [json.loads(line) for line in lines],
        )

    def test_only_the_owner_may_read_it(self) -> None:
        self.write(1)
        self.assertEqual(0o600, self.path.stat().st_mode & 0o777)

    def test_a_half_written_line_spoils_no_other(self) -> None:
        self.path.write_text('{"event_type": "lease.cre', encoding='utf-8')
        self.write(1)
        self.assertEqual([1], self.read(self.following(from_start=True)))

    def test_a_full_file_is_put_aside(self) -> None:
        small = journal.FileJournal(self.path, publisher_id=PUBLISHER, max_bytes=10)
        for number in (1, 2):
            small.publish([samples.message(number)])
        older = pathlib.Path(f'{self.path}.1')
        self.assertIn(samples.message(1).id, older.read_text(encoding='utf-8'))
        self.assertNotIn(samples.message(1).id, self.path.read_text(encoding='utf-8'))

    def test_a_file_that_cannot_be_written_keeps_the_outbox(self) -> None:
        nowhere = journal.FileJournal(self.path / 'missing' / 'file', publisher_id=PUBLISHER)
        error = self.assertRaises(publisher.BrokerUnavailable, nowhere.publish, [samples.message()])
        self.assertIn('No such file', error.message)


class TestFollower(FileCase):
    """Whatever happens to the file, each notification is read once."""

    def test_only_what_is_new(self) -> None:
        self.write(1)
        follower = self.following()
        self.assertEqual([], self.read(follower))
        self.write(2, 3)
        self.assertEqual([2, 3], self.read(follower))
        self.assertEqual([], self.read(follower))

    def test_from_the_start(self) -> None:
        self.write(1)
        self.assertEqual([1], self.read(self.following(from_start=True)))

    def test_a_file_that_is_not_there_yet(self) -> None:
        follower = self.following()
        self.assertEqual([], self.read(follower))
        self.write(1)
        self.assertEqual([1], self.read(follower))

    def test_a_line_that_is_half_written(self) -> None:
        self.write(1, 2)
        whole = self.path.read_bytes()
        self.path.write_bytes(whole[:-20])
        follower = self.following(from_start=True)
        self.assertEqual([1], self.read(follower))
        with self.path.open('ab') as file:
            file.write(whole[-20:])
        self.assertEqual([2], self.read(follower))

    def test_a_line_that_was_half_written_at_the_beginning(self) -> None:
        self.write(1, 2)
        whole = self.path.read_bytes()
        self.path.write_bytes(whole[:-20])
        follower = self.following()
        with self.path.open('ab') as file:
            file.write(whole[-20:])
        self.assertEqual([2], self.read(follower))

    def test_a_file_that_is_moved(self) -> None:
        follower = self.following(from_start=True)
        self.write(1)
        self.assertEqual([1], self.read(follower))
        self.write(2)
        self.path.rename(f'{self.path}.1')
        self.assertEqual([2], self.read(follower))
        self.write(3)
        self.assertEqual([3], self.read(follower))

    def test_a_file_that_is_moved_and_begun_again_between_two_looks(self) -> None:
        self.write(1)
        follower = self.following()
        self.write(2)
        self.path.rename(f'{self.path}.1')
        self.write(3)
        self.assertEqual([2, 3], self.read(follower))

    def test_a_file_that_is_cut_short(self) -> None:
        self.write(1, 2)
        follower = self.following()
        self.path.write_bytes(b'')
        self.write(3)
        self.assertEqual([3], self.read(follower))

    def test_lines_that_are_no_notifications(self) -> None:
        self.path.write_text('\nhello\n[1]\n{"a": 1}\n\xff\n', encoding='latin-1')
        self.write(1)
        self.assertEqual([1], self.read(self.following(from_start=True)))


class TestTee(FileCase):
    """One row of the outbox, several readers."""

    def test_all_get_all(self) -> None:
        said: list[str] = []
        tee = journal.Tee(
            [journal.FileJournal(self.path, publisher_id=PUBLISHER), journal.Printer(said.append)]
        )
        tee.publish([samples.message(1), samples.message(2, 'lease.event.start_lease')])
        self.assertEqual([1, 2], self.read(self.following(from_start=True)))
        self.assertEqual(2, len(said))
        self.assertIn('lease.event.start_lease', said[1])

    def test_a_refusal_is_passed_on(self) -> None:
        said: list[str] = []
        tee = journal.Tee([Refusing(), journal.Printer(said.append)])
        error = self.assertRaises(publisher.BrokerUnavailable, tee.publish, [samples.message()])
        self.assertEqual(('it is away', 0, 503), (error.message, error.published, error.code))
        self.assertEqual([], said)
