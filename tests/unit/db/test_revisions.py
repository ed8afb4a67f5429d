# SPDX-License-Identifier: Apache-2.0

"""Revisions of the tables say which code works on them."""

from __future__ import annotations

import hashlib
import pathlib
import pkgutil

from climate.db.migrations import current
from climate.db.migrations import migration
from climate.db.migrations import versions
from tests import base
from tests import migration_rules
from tests.narrowing import present

# The start of the SHA-256 of each migration. A new one gets a line; a line never changes.
DIGESTS = {
    '0028_initial_tables.py': '7374ba44ddf08685',
    '0029_flexible_leases.py': 'b8f52b775174e1b0',
    '0030_yield_times.py': 'eed76be2b8788408',
    '0031_priorities.py': 'cf8c83e7c335e1c3',
}
KNOWN = ('0001', '0002', '0003.0002')


class TestNames(base.TestCase):
    """Processes that upgrade no tables know the newest revision from the names of modules."""

    def test_a_module_has_the_number_of_its_revision(self) -> None:
        names = sorted(
            info.name.partition('_')[0] for info in pkgutil.iter_modules(versions.__path__)
        )
        self.assertEqual(names, [current.number(found) for found in migration.revisions()])
        self.assertEqual(current.newest(), current.number(migration.head()))

    def test_a_migration_that_has_landed_does_not_change(self) -> None:
        (folder,) = versions.__path__
        self.assertEqual(
            DIGESTS,
            {
                file.name: hashlib.sha256(file.read_bytes()).hexdigest()[:16]
                for file in pathlib.Path(folder).glob('0*.py')
            },
        )


class TestComplaint(base.TestCase):
    """Code that meets tables."""

    def test_the_latest_tables(self) -> None:
        self.assertIsNone(migration.complaint('0003.0002', KNOWN))

    def test_newer_tables(self) -> None:
        for found in ('0004', '0004.0002', '0009.0003'):
            self.assertIsNone(migration.complaint(found, KNOWN), found)
        self.assertEqual(
            'A newer release has upgraded the tables to 0009.0004, on which only releases work that'
            ' know 0004; this one knows 0003.0002: install the newer release',
            migration.complaint('0009.0004', KNOWN),
        )

    def test_older_tables(self) -> None:
        sync = 'The tables are at {}, the code needs 0003.0002: run climate-manage db sync'
        self.assertEqual(sync.format('0002'), migration.complaint('0002', KNOWN))
        self.assertEqual(
            sync.format('0001') + '. First stop all processes of releases before revision 0002:'
            ' they do not work on the new tables',
            migration.complaint('0001', KNOWN),
        )

    def test_tables_from_before_the_first_migration(self) -> None:
        self.assertRegex(
            present(migration.complaint('0002', ('0003', '0004'))),
            'The tables are at 0002, which only a commit before the first release can upgrade: run'
            ' climate-manage db sync of commit [0-9a-f]{12}, which upgrades them to 0003$',
        )


class TestRule(base.TestCase):
    """The ids of the migrations."""

    def test_all_migrations(self) -> None:
        self.assertEqual([], list(migration_rules.wrong_revisions(migration.revisions())))

    def test_wrong_ones(self) -> None:
        for revisions, words in (
            (['1'], 'use four digits'),
            (['0001', '0002.1'], 'use four digits'),
            (['0001', '0002.0001', '0003'], 'code has to know 0001'),
            (['0001', '0002.0002', '0003.0001'], 'code has to know 0002'),
            (['0001', '0002.0003'], 'no code knows 0003'),
            (['0002', '0001'], 'not above'),
        ):
            self.assertIn(words, '\n'.join(migration_rules.wrong_revisions(revisions)))
