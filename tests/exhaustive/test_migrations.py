# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.
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
from climate.db import migration
from climate.db import tables
from climate.db.store import Transaction
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.lifecycles import LeaseStatus
from climate.domain.resources import Inventory
from tests import base
from tests import services
from tests.functional import processes
from tests.functional.db import cases
from tests.functional.db import unguarded

ROOT = pathlib.Path(__file__).parents[2]


class _Sync:
    """An empty database."""

    kind = ''

    def setUp(self) -> None:
        super().setUp()
        database = self.useFixture(services.Database(self.kind))
        self.store = cases.connect(database.url)
        self.addCleanup(self.store.close)

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
        self.assertIsNone(migration.version(engine))
        for revision in migration.revisions():
            migration.sync(engine, revision)
            self.assertEqual(revision, migration.version(engine))
        self.assertEqual(migration.head(), migration.version(engine))
        migration.sync(engine)
        self.assertEqual(migration.head(), migration.version(engine))

    def test_a_manager_refuses_tables_of_before(self) -> None:
        engine = self.store.engine
        # Those that were created in another way.
        migration.check_current(engine)
        migration.sync(engine, migration.revisions()[-2])
        error = self.assertRaises(
            exceptions.ConfigurationError, migration.check_current, engine
        ).message
        self.assertIn('run climate-manage db sync', error)
        migration.sync(engine)
        migration.check_current(engine)

    def test_tables_in_which_something_is_booked_twice_are_not_upgraded(self) -> None:
        engine = self.store.engine
        migration.sync(engine, '0008')
        leases = self._booked_twice()
        complaint = self.assertRaises(exceptions.Conflict, migration.sync, engine).message
        self.assertIn('5 live allocations', complaint.splitlines()[0])
        for place, lease in enumerate(leases):
            # All but one that only touches another, and one that is alone.
            there = place not in {2, 6}
            ids = (lease.id, lease.reservations[0].id)
            self.assertEqual([there] * 2, [each in complaint for each in ids], place)
        self.assertIn('(compute-1) from 2030-01-01 13:00:00 to 2030-01-01 15:00:00', complaint)
        self.assertEqual('0008', migration.version(engine))
        with engine.connect() as connection:
            self.assertEqual(set(), unguarded.installed(connection))
        ids = [leases[place].reservations[0].id for place in (0, 3)]
        self.store.run(lambda tx: tx.allocations.release(ids))
        migration.sync(engine)
        self.assertEqual(migration.head(), migration.version(engine))

    def _booked_twice(self) -> list[Lease]:
        room = Inventory(resource_class='VCPU', total=4)
        leases = [cases.lease(1, 5) for _ in range(7)]
        uses = (
            (None, 1, 1, 3),
            (None, 1, 2, 4),
            (None, 1, 4, 5),
            ('VCPU', 3, 11, 14),
            ('VCPU', 2, 12, 13),
            ('VCPU', 2, 13, 14),
            ('VCPU', 2, 20, 21),
        )

        def fill(tx: Transaction) -> None:
            host = _host_of_0008(tx, room)
            for lease, (name, amount, start, end) in zip(leases, uses, strict=True):
                tx.leases.insert(lease)
                tx.reservations.insert(lease.reservations)
                mine = Allocation(
                    reservation_id=lease.reservations[0].id,
                    resource_id=host,
                    resource_class=name,
                    amount=amount,
                    period=cases.hours(start, end),
                )
                cases.put(tx, [mine])

        self.store.run(fill)
        return leases


def _host_of_0008(tx: Transaction, room: Inventory) -> int:
    """Write a host with the columns that there were; return its id."""
    resources = sa.Table('resources', sa.MetaData(), autoload_with=tx.session)
    values = {'resource_type': 'physical:host', 'name': 'compute-1', 'generation': 0, 'deleted': 0}
    tx.session.execute(sa.insert(resources).values(reservable=True, disabled=False, **values))
    host = int(tx.session.execute(sa.select(resources.c.id)).scalar_one())
    inventories = tables.INVENTORIES
    row = {'resource_id': host, **dataclasses.asdict(room)}
    tx.session.execute(sa.insert(inventories).values(row))
    return host


class TestSyncSqlite(_Sync, base.TestCase):
    """On SQLite."""

    kind = services.SQLITE


class TestSyncMariadb(_Sync, base.TestCase):
    """On MariaDB."""

    kind = services.MARIADB


class TestSyncPostgresql(_Sync, base.TestCase):
    """On PostgreSQL."""

    kind = services.POSTGRESQL


_NEWER = """
from climate.db import additions
import sqlalchemy as sa

revision = '{revision}'
down_revision = '{before}'


def upgrade():
    additions.add_column('leases', sa.Column('newer', sa.Integer()))
"""


def plain(table: str) -> str:
    """Return what a table says, whose words may be broken over lines."""
    return ' '.join(table.replace('|', ' ').split())


class _Commands:
    """The commands as an operator runs them: processes with a configuration file."""

    kind = ''

    def setUp(self) -> None:
        super().setUp()
        database = self.useFixture(services.Database(self.kind))
        self.url = database.url
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / 'climate.conf'
        # oslo.config takes a dollar for a name, and a URL may have one.
        url = self.url.replace('$', '$$')
        self.file.write_text(f'[database]\nconnection = {url}\n', encoding='utf-8')

    def run_command(
        self, command: str, *arguments: str, code: pathlib.Path = ROOT
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end.

        :param code: the tree that has its code
        """
        return subprocess.run(
            [
                str(pathlib.Path(sys.executable).with_name(command)),
                '--config-file',
                str(self.file),
                *arguments,
            ],
            cwd=ROOT,
            env={**os.environ, 'PYTHONWARNINGS': 'ignore', 'PYTHONPATH': str(code)},
            capture_output=True,
            text=True,
            # Also on a machine that is very busy.
            timeout=600,
            check=False,
        )

    def output(self, command: str, *arguments: str) -> str:
        """Return what a command says that has to succeed."""
        done = self.run_command(command, *arguments)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        return done.stdout.strip()

    def test_processes_refuse_tables_of_before(self) -> None:
        store = cases.connect(self.url)
        self.addCleanup(store.close)
        migration.sync(store.engine, migration.revisions()[-2])
        for command, *options in (('climate-api', '--port', '0'), ('climate-manager',)):
            done = self.run_command(command, *options)
            self.assertEqual(1, done.returncode, done.stdout + done.stderr)
            self.assertIn('run climate-manage db sync', done.stderr)

    def upgraded_by_a_newer_release(self, revision: str) -> None:
        """Upgrade the tables with this code and one migration more."""
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        ignored = shutil.ignore_patterns('__pycache__')
        shutil.copytree(ROOT / 'climate', folder / 'climate', ignore=ignored)
        versions = folder / 'climate' / 'db' / 'migrations' / 'versions'
        text = _NEWER.format(revision=revision, before=migration.head())
        (versions / 'newer.py').write_text(text)
        done = self.run_command('climate-manage', 'db', 'sync', code=folder)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn(f'-> {revision}', done.stdout)

    def test_processes_refuse_tables_that_need_newer_code(self) -> None:
        self.upgraded_by_a_newer_release('9999.9998')
        for command, *options in (('climate-api', '--port', '0'), ('climate-manager',)):
            done = self.run_command(command, *options)
            self.assertEqual(1, done.returncode, done.stdout + done.stderr)
            self.assertIn('only releases work that know 9998; this one knows', done.stderr)
        done = self.run_command('climate-status', 'upgrade', 'check')
        self.assertEqual(2, done.returncode, done.stdout)
        self.assertIn('install the newer release', plain(done.stdout))
        done = self.run_command('climate-manage', 'db', 'sync')
        self.assertEqual(1, done.returncode, done.stdout)
        self.assertIn('9999.9998, which this release does not know', done.stderr)

    def test_a_manager_works_on_newer_tables_made_for_it_too(self) -> None:
        self.upgraded_by_a_newer_release(f'9999.{migration.number(migration.head())}')
        done = self.run_command('climate-status', 'upgrade', 'check')
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
            before = self.run_command('climate-status', 'upgrade', 'check')
            self.assertEqual(2, before.returncode, before.stdout + before.stderr)
            self.assertIn('db sync', plain(before.stdout))
            version = self.output('climate-manage', 'db', 'version')
            self.assertEqual(f'empty (the code has {migration.head()})', version)
        head = migration.head()
        # The next line says where the encryption key is.
        said = self.output('climate-manage', 'db', 'sync').splitlines()
        self.assertEqual(f'empty -> {head}', said[0])
        self.assertIn('Success', self.output('climate-status', 'upgrade', 'check'))
        store = cases.connect(self.url)
        self.addCleanup(store.close)
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


class TestCommandsSqlite(_Commands, base.TestCase):
    """On SQLite."""

    kind = services.SQLITE


class TestCommandsMariadb(_Commands, base.TestCase):
    """On MariaDB."""

    kind = services.MARIADB


class TestCommandsPostgresql(_Commands, base.TestCase):
    """On PostgreSQL."""

    kind = services.POSTGRESQL
