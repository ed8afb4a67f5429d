# SPDX-License-Identifier: Apache-2.0

"""What the spool of ``climate-mail`` keeps across a crash."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import operator
import pathlib
import re
import shutil
import sqlite3
import stat
from collections.abc import Callable
from typing import Any

import fixtures

from climate import exceptions
from climate.mail.spool import Entry
from climate.mail.spool import FAILED
from climate.mail.spool import FILE
from climate.mail.spool import KEPT
from climate.mail.spool import Spool
from tests import base
from tests.unit.mail import samples

NOW = datetime.datetime(2030, 1, 1, 12, tzinfo=datetime.UTC)
MINUTE = datetime.timedelta(minutes=1)
ALICE = 'alice@example.org'
GUIDE = pathlib.Path('doc/source/admin/mail.rst')


class SpoolCase(base.TestCase):
    """A folder for a spool."""

    def setUp(self) -> None:
        super().setUp()
        self.parent = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.folder = self.parent / 'spool'

    def spool(self, folder: pathlib.Path | None = None) -> Spool:
        return self.closing(Spool(folder or self.folder))


class TestKilled(SpoolCase):
    """A process dies at any instruction of the database."""

    def left(self, work: Callable[[], object]) -> list[pathlib.Path]:
        """Do something, and return what a process killed on the way leaves.

        That is what is in the files: memory dies with the process.
        """
        copies: dict[tuple[bytes, ...], pathlib.Path] = {}

        def copy() -> None:
            files = tuple(path.read_bytes() for path in sorted(self.folder.glob('**/*.*')))
            if files not in copies:
                copies[files] = self.parent / f'copy-{len(list(self.parent.iterdir()))}'
                shutil.copytree(self.folder, copies[files])

        real = sqlite3.connect

        def connect(*arguments: Any, **options: Any) -> sqlite3.Connection:
            connection = real(*arguments, **options)
            connection.set_progress_handler(copy, 1)
            return connection

        with fixtures.MonkeyPatch('sqlite3.connect', connect):
            work()
        return list(copies.values())

    def check(self, work: Callable[[Spool], object]) -> None:
        """Whatever the instruction, all of it is done or nothing."""
        Spool(self.folder).close()
        before = samples.rows(self.folder)

        def alone() -> None:
            spool = Spool(self.folder)
            work(spool)
            spool.close()

        copies = self.left(alone)
        after = samples.rows(self.folder)
        self.assertNotEqual(before, after)
        self.assertGreater(len(copies), 1)
        for each in copies:
            Spool(each).close()
            self.assertIn(samples.rows(each), (before, after))

    def test_each_change_is_made_or_not(self) -> None:
        notices = [samples.notice(number) for number in range(1, 4)]
        for notice in notices:
            self.check(operator.methodcaller('add', notice, NOW))
        entry = Entry(notice=notices[0], received_at=NOW, next_try=NOW + MINUTE, attempts=1)
        self.check(lambda spool: spool.put(entry))
        self.check(lambda spool: spool.put(entry, FAILED))
        # One digest has both: neither may be sent again without the other.
        self.check(lambda spool: spool.done(notices[1:], ALICE, '1', NOW))
        self.check(lambda spool: spool.forget(NOW + KEPT + MINUTE))

    def test_a_notice_that_was_sent_is_not_sent_again(self) -> None:
        notice = samples.notice()
        spool = self.spool()
        self.assertTrue(spool.add(notice, NOW))
        spool.done([notice], ALICE, '1', NOW)
        spool.close()

        spool = self.spool()
        self.assertEqual([], spool.pending())
        self.assertEqual([NOW], spool.sent_since(NOW - MINUTE, ALICE))
        self.assertFalse(spool.add(notice, NOW))


class TestFile(SpoolCase):
    """The file itself."""

    def test_only_its_owner_reads_it(self) -> None:
        self.spool().add(samples.notice(), NOW)
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (self.folder, self.folder / FILE)]
        self.assertEqual([0o700, 0o600], modes)

    def test_a_file_that_is_no_database(self) -> None:
        self.folder.mkdir()
        (self.folder / FILE).write_text('not a database ' * 100)
        self.assert_error(exceptions.ConfigurationError, '[mail] spool_dir', Spool, self.folder)
        # It is not kept from others.
        (self.folder / FILE).unlink()
        self.spool()

    def test_failed_notices_are_tried_again_as_the_guide_says(self) -> None:
        spool = self.spool()
        spool.add(samples.notice(), NOW)
        (entry,) = spool.pending()
        spool.put(dataclasses.replace(entry, error='550 no such user'), FAILED)
        self.assertEqual([], spool.pending())
        listed, again = re.findall(r'spool\.sqlite3 "(.+)"', GUIDE.read_text())
        # While the process runs.
        with contextlib.closing(sqlite3.connect(self.folder / FILE)) as connection:
            ((text,),) = connection.execute(listed).fetchall()
            self.assertIn('550 no such user', text)
            connection.execute(again)
            connection.commit()
        self.assertEqual(['550 no such user'], [each.error for each in spool.pending()])

    def test_what_is_due(self) -> None:
        spool = self.spool()
        self.assertIsNone(spool.next_try())
        first, second = samples.notice(1), samples.notice(2)
        for number, notice in enumerate((second, first)):
            spool.add(notice, NOW + number * MINUTE)
        self.assertEqual([], spool.pending(NOW - MINUTE))
        self.assertEqual([second], [each.notice for each in spool.pending(NOW)])
        self.assertEqual([second, first], [each.notice for each in spool.pending()])
        later = dataclasses.replace(spool.pending(NOW)[0], next_try=NOW + 2 * MINUTE)
        spool.put(later)
        self.assertEqual(NOW + MINUTE, spool.next_try())
        spool.done([first], ALICE, '1', NOW)
        self.assertEqual([later], spool.pending(NOW + 2 * MINUTE))
        self.assertEqual(NOW + 2 * MINUTE, spool.next_try())

    def test_a_digest_counts_once(self) -> None:
        notices = [samples.notice(number) for number in range(1, 5)]
        spool = self.spool()
        for notice in notices:
            spool.add(notice, NOW)
        spool.done(notices[:2], ALICE, '1', NOW)
        spool.done(notices[2:3], ALICE, '2', NOW + MINUTE)
        spool.done(notices[3:], 'bob@example.org', '3', NOW + MINUTE / 2)
        since = NOW - MINUTE
        self.assertEqual([NOW, NOW + MINUTE], spool.sent_since(since, ALICE))
        self.assertEqual([NOW, NOW + MINUTE / 2, NOW + MINUTE], spool.sent_since(since, None))
        self.assertEqual([NOW + MINUTE], spool.sent_since(NOW, ALICE))
