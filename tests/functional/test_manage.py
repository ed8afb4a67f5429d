# SPDX-License-Identifier: Apache-2.0

"""``climate-manage`` where it needs the cloud."""

from __future__ import annotations

import contextlib
import datetime
import io
import os
import pathlib

import fixtures
from oslo_config import cfg

from climate.clock import SystemClock
from climate.cmd import config
from climate.cmd import manage
from climate.db.engine.clock_difference import Difference
from climate.db.transactions.store import Store
from climate.simulator import SimulatedCloud
from tests import base
from tests.databases import fetch
from tests.functional.db import cases
from tests.narrowing import present


def run(*arguments: str) -> tuple[int, list[str]]:
    """Run a command; return its exit status and the lines that it prints."""
    said, wrong = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(wrong):
        ended = manage.main(list(arguments))
    lines = (said.getvalue() + wrong.getvalue()).splitlines()
    # Threads of earlier tests, pools that are collected now, and libraries may write there, too.
    others = (' oslo.messaging.', ' sqlalchemy.pool.', 'DeprecationWarning', ' warnings.warn(')
    return ended, [line for line in lines if not any(each in line for each in others)]


class TestCannotBegin(base.TestCase):
    """What is not there is said in one line."""

    COMMANDS = (('db', 'version'), ('db', 'sync'), ('event', 'list'), ('clock',))

    def refused(self, setting: str, *wanted: str) -> None:
        """Check that no command begins with this setting of ``[database]``, and why."""
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        file = folder / 'climate.conf'
        file.write_text(f'[database]\n{setting.format(folder=folder)}\n')
        for command in self.COMMANDS:
            status, lines = run('--config-file', str(file), *command)
            self.assertEqual((2, 1), (status, len(lines)), lines)
            self.assertTrue(lines[0].startswith('climate-manage: '), lines)
            self.assertNotIn('hunter2', lines[0])
            for text in wanted:
                self.assertIn(text, lines[0])

    def test_no_configuration(self) -> None:
        self.refused('', '[database] connection is not set')

    def test_no_address(self) -> None:
        self.refused('connection = root:hunter2', '[database] connection is not a database URL')

    def test_no_driver(self) -> None:
        self.refused(
            'connection = postgresql+pg8000://root:hunter2@localhost/climate',
            'the driver pg8000 is not installed',
            'openstack-climate[postgresql]',
        )

    def test_a_database_that_no_driver_is_for(self) -> None:
        self.refused('connection = oracle://root:hunter2@db/climate', 'oracle is not supported')

    def test_no_answer(self) -> None:
        for scheme in ('postgresql', 'mysql'):
            address = f'{scheme}://root:hunter2@127.0.0.1:1/climate'
            self.refused(f'connection = {address}', 'The database does not answer: ', 'refused')

    def test_no_file(self) -> None:
        why = 'The database refuses the service: unable to open database file'
        self.refused('connection = sqlite:///{folder}/none/x', why)

    def test_no_tables(self) -> None:
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        file = folder / 'climate.conf'
        file.write_text(f'[database]\nconnection = sqlite:///{folder}/empty\n')
        status, lines = run('--config-file', str(file), 'event', 'list')
        self.assertEqual((2, 1), (status, len(lines)), lines)
        self.assertIn('run climate-manage db sync', lines[0])


class TestManage(base.TestCase):
    """Commands on a database and a simulated cloud, both in files."""

    def setUp(self) -> None:
        super().setUp()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.cloud = self.closing(SimulatedCloud(folder / 'cloud', clock=SystemClock()))
        self.cloud.seed(3)
        self.file = folder / 'climate.conf'
        self.file.write_text(
            f'[DEFAULT]\ncloud = simulated\nresource_types = physical:host\n'
            f'[simulator]\nstate_dir = {folder}/cloud\n'
            f'[database]\nconnection = sqlite:///{folder}/climate.sqlite\n'
        )
        self.run_command(0, 'db', 'sync')

    def run_command(self, status: int, *arguments: str) -> list[str]:
        """Run a command that ends with *status*; return the lines that it says."""
        ended, lines = run('--config-file', str(self.file), *arguments)
        self.assertEqual(status, ended, lines)
        return [line for line in lines if ' WARNING ' not in line]

    def test_a_file_is_closed_to_others(self) -> None:
        database = self.file.parent / 'climate.sqlite'
        database.unlink()
        self.addCleanup(os.umask, os.umask(0o022))
        self.run_command(0, 'db', 'sync')
        self.assertEqual(0o600, database.stat().st_mode & 0o777)
        # As a release before this one left it; the group is the business of the operator.
        database.chmod(0o664)
        self.run_command(0, 'db', 'sync')
        self.assertEqual(0o660, database.stat().st_mode & 0o777)

    def test_an_unknown_revision_is_explained_in_one_line(self) -> None:
        (line,) = self.run_command(1, 'db', 'sync', '--revision', 'x')
        self.assertIn("Can't locate revision identified by 'x'", line)

    def test_discover_and_repair(self) -> None:
        lines = self.run_command(0, 'host', 'discover')
        found = [line.split()[0] for line in lines]
        self.assertEqual(['compute-1', 'compute-2', 'compute-3'], found)
        self.assertIn('16 VCPU, 65536 MiB, 500 GiB, up, enabled', lines[0])
        lines = self.run_command(0, 'host', 'discover', '--register', 'compute-1', 'compute-3')
        self.assertEqual(['compute-1 is host 1', 'compute-3 is host 2'], lines)
        lines = self.run_command(0, 'host', 'discover')
        self.assertEqual(['compute-2'], [line.split()[0] for line in lines], lines)
        self.run_command(1, 'host', 'discover', '--register', 'compute-1')
        self.run_command(1, 'host', 'discover', '--register', 'compute-7')
        pool = present(self.cloud.compute.find_aggregate('freepool'))
        self.assertEqual(('compute-1', 'compute-3'), pool.hosts)
        self.assertEqual(['0 found, 0 left'], self.run_command(0, 'lease', 'repair'))
        self.cloud.compute.remove_host(pool.id, 'compute-3')
        what = 'host compute-3 is in no lease and not in freepool'
        actual = self.run_command(1, 'lease', 'repair', '--dry-run')
        self.assertEqual([f'{what}: left as it is', '1 found, 1 left'], actual)
        self.assertEqual(
            [f'{what}: put there', '1 found, 0 left'], self.run_command(0, 'lease', 'repair')
        )
        self.assertIn(
            'There is no lease x', self.run_command(1, 'lease', 'repair', '--lease', 'x')[-1]
        )

    def test_keys(self) -> None:
        self.file.with_name('encryption.key').unlink()
        (line,) = self.run_command(2, 'keys', 'rotate')
        self.assertIn('There is no encryption key', line)
        ended, (key,) = run('keys', 'new')
        self.assertEqual(0, ended)
        settings = self.file.read_text()
        self.file.write_text(f'{settings}encryption_keys = {key}\n')
        found = self.run_command(0, 'keys', 'rotate')
        self.assertEqual(['0 secrets encrypted, 0 of ended leases erased'], found)
        self.file.write_text(f'{settings}encryption_keys = {key},{key[5:]}\n')
        (line,) = self.run_command(2, 'keys', 'rotate')
        self.assertIn('[database] encryption_keys: number 2 is not a key', line)
        self.assertNotIn(key[5:], line)

    def test_end_by_force(self) -> None:
        self.assertIn(
            'There is no lease x', self.run_command(1, 'lease', 'end', '--force', 'x')[-1]
        )

    def test_cloud_is_unavailable(self) -> None:
        self.cloud.reachable = False
        self.assertEqual('1 found, 1 left', self.run_command(1, 'lease', 'repair')[-1])
        self.run_command(1, 'host', 'discover')

    def test_clock(self) -> None:
        # SQLite has none of its own.
        (line,) = self.run_command(0, 'clock')
        self.assertEqual('the clock of this machine is right, within 1 ms', line)

    def test_a_clock_that_is_wrong(self) -> None:
        second = datetime.timedelta(seconds=1)
        found = Difference(offset=-90 * second, uncertainty=second / 100)
        self.assertEqual(
            'the clock of this machine must be moved by -90.000 s (give or take 0.010 s)',
            manage.standing(found),
        )
        found = Difference(offset=second / 200, uncertainty=second / 100)
        self.assertEqual('the clock of this machine is right, within 15 ms', manage.standing(found))

    def test_notifications_that_were_set_aside(self) -> None:
        store = self.closing(Store(self.conf(), SystemClock()))
        created_at = datetime.datetime(2031, 1, 1, tzinfo=datetime.UTC)
        rows = [
            cases.notification(f'message-{number}', f'lease-{number}', created_at)
            for number in range(4)
        ]
        store.run(lambda tx: tx.outbox.insert(rows))
        self.assertEqual([], self.run_command(0, 'outbox', 'list'))
        for number in range(3):
            store.run(lambda tx, number=number: tx.outbox.set_aside(f'message-{number}', 'broken'))
        lines = self.run_command(0, 'outbox', 'list')
        line = 'message-0 lease-0 lease.create set_aside 2031-01-01T00:00:00Z 1 broken'
        self.assertEqual(line, ' '.join(lines[1].split()))
        found = self.run_command(0, 'outbox', 'retry', 'message-0')
        self.assertEqual(['1 notifications are sent again'], found)
        lines = self.run_command(1, 'outbox', 'drop', 'message-0', 'message-1')
        self.assertEqual('1 notifications were dropped', lines[0])
        self.assertIn('1 of these were not set aside', lines[1])
        actual = self.run_command(0, 'outbox', 'drop', '--all')
        self.assertEqual(['1 notifications were dropped'], actual)
        self.assertEqual([], self.run_command(0, 'outbox', 'list'))
        self.assertEqual(2, fetch(store, lambda tx: tx.outbox.waiting()))
        self.assertRaises(SystemExit, manage.main, ['outbox', 'retry'])

    def conf(self) -> cfg.ConfigOpts:
        conf = config.new_conf()
        conf(['--config-file', str(self.file)], project='climate', prog='climate-manage')
        return conf
