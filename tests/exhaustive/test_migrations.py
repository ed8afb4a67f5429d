# SPDX-License-Identifier: Apache-2.0
"""Models and migrations say the same, and the commands that operators run work."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import fixtures
import sqlalchemy as sa
from alembic import autogenerate
from alembic import migration as alembic_migration

from climate import exceptions
from climate.db.migrations import current
from climate.db.migrations import migration
from climate.domain.lifecycles import LeaseStatus
from tests import base
from tests import commands
from tests import services
from tests.functional import processes
from tests.functional.db import cases

ROOT = pathlib.Path(__file__).parents[2]
BIN = pathlib.Path(sys.executable).parent
# The last revision that the one migration has replaced.
BEFORE = '0027'
_SYNC = ('climate-manage', 'db', 'sync')
_CHECK = ('climate-status', 'upgrade', 'check')
_SERVERS = (('climate-api', '--port', '0'), ('climate-manager',))


@services.on_each_engine(base.TestCase, 'TestSync')
class _Sync:
    """An empty database."""

    def setUp(self) -> None:
        super().setUp()
        self.store = self.closing(cases.connect(self.useFixture(services.Database(self.kind)).url))

    def test_models_and_migrations_are_in_step(self) -> None:
        # Oslo.db's ModelsMigrationsSync asks the same of alembic, but cannot
        # yet be asked about a table with a computed column.
        migration.sync(self.store.engine)
        with self.store.engine.connect() as connection:
            context = alembic_migration.MigrationContext.configure(
                connection, opts={'compare_type': True}
            )
            found = autogenerate.compare_metadata(context, migration.metadata())
            self.assertEqual([], found)
            # And a difference would be seen.
            other = sa.MetaData()
            for table in migration.metadata().sorted_tables:
                table.to_metadata(other)
            other.tables['leases'].append_column(sa.Column('extra', sa.Integer()))
            found = autogenerate.compare_metadata(context, other)
            self.assertEqual(['add_column'], [change[0] for change in found])

    def test_the_revisions_follow_each_other(self) -> None:
        engine = self.store.engine
        self.assertIsNone(current.version(engine))
        for revision in migration.revisions():
            migration.sync(engine, revision)
            self.assertEqual(revision, current.version(engine))
        self.assertEqual(migration.head(), current.version(engine))
        migration.sync(engine)
        self.assertEqual(migration.head(), current.version(engine))

    def test_tables_from_before_the_first_migration_are_refused_and_stay(self) -> None:
        engine = self.store.engine
        # Those that were created in another way.
        current.check(engine)
        migration.sync(engine)
        current.check(engine)
        stamp(engine, BEFORE)
        for use, refusal in (
            (current.check, exceptions.ConfigurationError),
            (migration.sync, exceptions.InvalidInput),
        ):
            message = self.assertRaises(refusal, use, engine).message
            self.assertIn(f'at {BEFORE}, which only a commit before the first release', message)
        self.assertEqual(BEFORE, current.version(engine))


def stamp(engine: sa.Engine, revision: str) -> None:
    """Have the tables say that they are at *revision*."""
    with engine.begin() as connection:
        table = sa.table('alembic_version', sa.column('version_num'))
        connection.execute(sa.update(table).values(version_num=revision))


_NEWER = """
from climate.db.migrations import additions
import sqlalchemy as sa

revision = '{revision}'
down_revision = '{before}'


def upgrade():
    additions.add_column('leases', sa.Column('newer', sa.Integer()))
"""


def plain(table: str) -> str:
    """Return what a table says, whose words may be broken over lines."""
    return ' '.join(table.replace('|', ' ').split())


@services.on_each_engine(base.TestCase, 'TestCommands')
class _Commands:
    """The commands as an operator runs them: processes with a configuration file."""

    def setUp(self) -> None:
        super().setUp()
        self.url = self.useFixture(services.Database(self.kind)).url
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / 'climate.conf'
        # oslo.config takes a dollar for a name, and a URL may have one.
        url = self.url.replace('$', '$$')
        # Few connections, of which a server with the settings of its package accepts enough.
        text = f'[database]\nconnection = {url}\nmax_pool_size = 10\nmax_overflow = 10\n'
        self.file.write_text(text, encoding='utf-8')

    def run_command(
        self, command: str, *arguments: str, code: pathlib.Path = ROOT
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end.

        :param code: the tree that has its code
        """
        return commands.captured(
            [BIN / command, '--config-file', str(self.file), *arguments],
            cwd=ROOT,
            env={**os.environ, 'PYTHONWARNINGS': 'ignore', 'PYTHONPATH': str(code)},
            timeout=600,
        )

    def output(self, command: str, *arguments: str) -> str:
        """Return what a command says that has to succeed."""
        done = self.run_command(command, *arguments)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        return done.stdout.strip()

    def fails(
        self, status: int, text: str, command: str, *arguments: str, code: pathlib.Path = ROOT
    ) -> None:
        """Check how a command fails, and what it says: in its table, or else as an error."""
        done = self.run_command(command, *arguments, code=code)
        self.assertEqual(status, done.returncode, done.stdout + done.stderr)
        self.assertIn(text, plain(done.stdout) if command == 'climate-status' else done.stderr)

    def made(self) -> sa.Engine:
        """Create the tables with this code."""
        store = self.closing(cases.connect(self.url))
        migration.sync(store.engine)
        return store.engine

    def test_processes_refuse_tables_of_before(self) -> None:
        self.made()
        newer = self.newer_release('9999')
        for words in _SERVERS:
            self.fails(1, 'the code needs 9999: run climate-manage db sync', *words, code=newer)

    def test_commands_name_the_commit_that_upgrades_older_tables(self) -> None:
        stamp(self.made(), BEFORE)
        for status, words in ((1, _SYNC), (2, _CHECK), (1, ('climate-manager',))):
            self.fails(status, 'db sync of commit', *words)

    def newer_release(self, revision: str) -> pathlib.Path:
        """Return a folder with this code and one migration more."""
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        ignored = shutil.ignore_patterns('__pycache__')
        shutil.copytree(ROOT / 'climate', folder / 'climate', ignore=ignored)
        versions = folder / 'climate' / 'db' / 'migrations' / 'versions'
        text = _NEWER.format(revision=revision, before=migration.head())
        (versions / 'newer.py').write_text(text)
        return folder

    def upgraded_by_a_newer_release(self, revision: str) -> None:
        """Upgrade the tables with this code and one migration more."""
        done = self.run_command(*_SYNC, code=self.newer_release(revision))
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn(f'-> {revision}', done.stdout)

    def test_processes_refuse_tables_that_need_newer_code(self) -> None:
        self.upgraded_by_a_newer_release('9999.9998')
        for words in _SERVERS:
            self.fails(1, 'only releases work that know 9998; this one knows', *words)
        self.fails(2, 'install the newer release', *_CHECK)
        self.fails(1, '9999.9998, which this release does not know', *_SYNC)

    def test_a_manager_works_on_newer_tables_made_for_it_too(self) -> None:
        self.upgraded_by_a_newer_release(f'9999.{current.number(migration.head())}')
        done = self.run_command(*_CHECK)
        self.assertIn('works on them; upgrade its processes soon', plain(done.stdout))
        words = ('climate-manager', '--config-file', str(self.file))
        options = '\n[DEFAULT]\ntransport_url = fake://\ncloud = simulated\n'
        cloud = f'[simulator]\nstate_dir = {self.file.parent}\n'
        self.file.write_text(self.file.read_text() + options + cloud)
        manager = self.useFixture(processes.Command(*words, folder=self.file.parent))
        processes.until(
            'the manager works', lambda: 'is at work' in manager.said or not manager.running
        )
        self.assertTrue(manager.running, manager.said)

    def test_sync_version_check_purge(self) -> None:
        if self.kind == services.SQLITE:
            self.fails(2, 'db sync', *_CHECK)
            version = self.output('climate-manage', 'db', 'version')
            self.assertEqual(f'empty (the code has {migration.head()})', version)
        head = migration.head()
        # The next line says where the encryption key is.
        self.assertEqual(f'empty -> {head}', self.output(*_SYNC).splitlines()[0])
        self.assertIn('Success', self.output(*_CHECK))
        store = self.closing(cases.connect(self.url))
        old = dataclasses.replace(cases.lease(), period=cases.hours(-24 * 365 * 20, -24 * 365 * 19))
        ended = dataclasses.replace(
            old, status=LeaseStatus.TERMINATED, events=(), reservations=(), next_due=None
        )
        store.run(lambda tx: tx.leases.insert(ended))
        purge = ('climate-manage', 'db', 'purge')
        if self.kind == services.SQLITE:
            self.assertEqual('1 leases would be removed', self.output(*purge, '--dry-run'))
            wrong = self.run_command(*purge, '--days', '-1')
            self.assertEqual((1, ''), (wrong.returncode, wrong.stdout))
            self.assertIn('--days', wrong.stderr)
        self.assertEqual('1 leases removed', self.output(*purge))
