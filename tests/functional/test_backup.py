# SPDX-License-Identifier: Apache-2.0

"""A backup of a busy service, made and restored by the commands of the page."""

from __future__ import annotations

import itertools
import os
import pathlib
import shutil
import subprocess
import threading

import fixtures
import sqlalchemy as sa

from climate.db.migrations import migration
from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.domain.lifecycles import EventState
from climate.testing.deployment import at
from climate.testing.deployment import Deployment
from tests import base
from tests import services
from tests.functional.manager.harness import SETTINGS
from tests.functional.test_manage import run
from tests.printed import blocks
from tests.printed.commands import read_commands

PAGE = 'doc/source/admin/backup.rst'
TOOLS = {
    services.MARIADB: ('mariadb-dump', 'mariadb'),
    services.POSTGRESQL: ('pg_dump', 'createdb', 'pg_restore'),
}
HOSTS = 4


class Absent(fixtures.Fixture):
    """The name of a database that a command creates; dropped afterwards."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        # Created to have a unique name, and dropped at once for the command.
        self._database = services.Database(kind)
        self._kind = kind

    def _setUp(self) -> None:
        self.useFixture(self._database)
        self.name, self.url = self._database.name, self._database.url
        server = sa.create_engine(
            services.address(self._kind), isolation_level='AUTOCOMMIT', poolclass=sa.NullPool
        )
        with server.connect() as connection:
            connection.execute(sa.text(f'DROP DATABASE {self.name}'))


class BackupCase(base.TestCase):
    """A service on one kind of database, and a cloud that outlives the database."""

    def prepare(self, kind: str) -> None:
        """Begin a service, and find the tools of the database."""
        services.require(kind)
        for tool in TOOLS[kind]:
            if shutil.which(tool) is None:
                services.missing(f'{tool} is not installed')
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.kind = kind
        database = self.useFixture(services.Database(kind))
        migration.sync(sa.create_engine(database.url, poolclass=sa.NullPool))
        cloud = str(self.folder / 'cloud')
        self.site = self.useFixture(
            Deployment(SETTINGS, Given(database.url), HOSTS, cloud_dir=cloud)
        )
        self.name = database.name
        self.environment = {**os.environ, **self.access()}

    def access(self) -> dict[str, str]:
        """Return how the tools of the database reach the server."""
        url = services.address(self.kind)
        if self.kind == services.POSTGRESQL:
            values = {'PGHOST': url.host, 'PGPORT': url.port, 'PGUSER': url.username}
            values['PGPASSWORD'] = url.password
            return {name: str(value) for name, value in values.items() if value}
        (self.folder / '.my.cnf').write_text(
            f'[client]\nhost={url.host}\nport={url.port or 3306}\nuser={url.username}\n'
            f'password={url.password or ""}\n'
        )
        return {'HOME': str(self.folder)}

    def printed(self, *programs: str) -> list[str]:
        """Return the commands of the page that begin with one of some programs."""
        found = [
            command.text
            for block in blocks.blocks()
            if block.page == PAGE
            for command in read_commands(block.text)
        ]
        chosen = [text for text in found if text.split()[0] in programs]
        self.assertTrue(chosen, programs)
        return chosen

    def shell(self, text: str, restored: str = '') -> None:
        """Run a command of the page, with the names of the databases of this test."""
        text = text.replace('climate_restored', restored)
        words = [self.name if word == 'climate' else word for word in text.split(' ')]
        subprocess.run(
            ['bash', '-ec', ' '.join(words)],
            cwd=self.folder,
            env=self.environment,
            check=True,
            timeout=120,
        )

    def restore(self) -> Deployment:
        """Restore the backup, and return a service on it, with the same cloud."""
        database = self.useFixture(Absent(self.kind))
        tools = [tool for tool in TOOLS[self.kind] if not tool.endswith('dump')]
        for text in self.printed(*tools):
            self.shell(text, database.name)
        given = Given(database.url)
        return self.useFixture(Deployment(SETTINGS, given, 0, cloud_dir=str(self.folder / 'cloud')))


class Given(fixtures.Fixture):
    """A database that is there, with tables."""

    has_tables = True

    def __init__(self, url: str) -> None:
        super().__init__()
        self.url = url


class BusyBooker(threading.Thread):
    """Books leases, one after the other, until it is stopped.

    :ivar booked: the leases that it has booked
    """

    def __init__(self, site: Deployment) -> None:
        super().__init__(daemon=True)
        self._site = site
        self._stopping = threading.Event()
        self.begun = threading.Event()
        self.booked: list[Lease] = []

    def run(self) -> None:
        """Book."""
        for number in itertools.count():
            if self._stopping.is_set():
                return
            begin = 100_000 + 100 * number
            self.booked.append(self._site.create(begin, begin + 100, hosts=3))
            if number == 4:
                self.begun.set()

    def stop(self) -> None:
        """Book nothing more."""
        self._stopping.set()
        self.join(60)


class TestBackup(BackupCase):
    """Nothing is lost, nothing is booked twice, and the past is dealt with honestly."""

    def check(self, kind: str) -> None:
        """Make a backup at work, restore it an hour later, and let it go on."""
        self.prepare(kind)
        running, ending = self.site.create(0, 7200), self.site.create(0, 1200)
        late, missed = self.site.create(600, 7200), self.site.create(600, 1200)
        later = self.site.create(5000, 7000, hosts=2, until=10)
        booker = BusyBooker(self.site)
        booker.start()
        self.addCleanup(booker.stop)
        self.assertTrue(booker.begun.wait(60))
        before = list(booker.booked)
        for text in self.printed(TOOLS[kind][0]):
            self.shell(text)
        booker.stop()
        restored = self.restore()
        self.assertEqual([], self.lost(restored, [running, ending, late, missed, later, *before]))
        self.assertEqual([], self.booked_twice(restored))
        restored.away_until(3600)
        self.commands(restored, {ending.id, late.id, missed.id})
        restored.work()
        found = [restored.status(lease) for lease in (running, ending, late, missed, later)]
        self.assertEqual(['ACTIVE', 'TERMINATED', 'ACTIVE', 'TERMINATED', 'PENDING'], found)
        start = restored.event(missed, EventKind.START)
        self.assertIs(EventState.ERROR, start.state)
        self.assertIn('had ended before it could start', start.error or '')
        self.assertIn('error', restored.bus.received(missed))
        restored.until(8000)
        for lease in (running, late, later):
            self.assertEqual('TERMINATED', restored.status(lease))
            self.assertEqual(1, restored.bus.received(lease).count('end_lease'))
        self.assertEqual({('freepool',)}, {tuple(names) for names in restored.places().values()})
        self.assertEqual([], list(restored.repair().run()))

    def lost(self, restored: Deployment, leases: list[Lease]) -> list[str]:
        """Return the leases that are not in the restored database with all they had."""
        found = []
        for lease in leases:
            with self.site.store.reading() as tx:
                (old, had) = (tx.leases.find(lease.id), self.site.allocations(lease))
            with restored.store.reading() as tx:
                if tx.leases.find(lease.id) != old or restored.allocations(lease) != had:
                    found.append(lease.id)
        return found

    def booked_twice(self, restored: Deployment) -> list[str]:
        """Return the hosts of which two bookings overlap, straight from the table."""
        query = sa.text(
            'SELECT a.resource_id FROM allocations a JOIN allocations b'
            ' ON a.resource_id = b.resource_id AND a.id < b.id'
            ' AND a.start_date < b.end_date AND b.start_date < a.end_date'
            ' WHERE a.live = 1 AND b.live = 1'
        )
        with restored.store.engine.connect() as connection:
            return [str(row[0]) for row in connection.execute(query)]

    def commands(self, restored: Deployment, overdue: set[str]) -> None:
        """Run the commands that look at the restored database.

        They take the real time for the present, which is before that of the deployment.
        """
        file = self.folder / 'climate.conf'
        url = restored.conf.database.connection.replace('$', '$$')
        file.write_text(
            '[DEFAULT]\ncloud = simulated\nresource_types = physical:host\n'
            f'[simulator]\nstate_dir = {self.folder}/cloud\n[database]\nconnection = {url}\n'
        )
        for text in self.printed('climate-manage'):
            status, lines = run('--config-file', str(file), *text.split()[1:])
            self.assertEqual(0, status, f'{text}: {lines}')
            if text.endswith('db version'):
                self.assertIn(migration.head(), lines[0])
        with restored.store.reading() as tx:
            found = tx.operator_lists.lines(due_before=at(3600), limit=100)
        self.assertLessEqual(overdue, {line.id for line in found})

    def test_mariadb(self) -> None:
        self.check(services.MARIADB)

    def test_postgresql(self) -> None:
        self.check(services.POSTGRESQL)
