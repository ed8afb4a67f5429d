# SPDX-License-Identifier: Apache-2.0

"""Encryption keys exist after ``db sync``, on every host, and a host without them says so."""

from __future__ import annotations

import pathlib
import stat
import tempfile

import fixtures
import sqlalchemy as sa
from oslo_config import cfg
from oslo_upgradecheck import upgradecheck

from climate import exceptions
from climate.clock import SystemClock
from climate.cmd import config
from climate.cmd.status import Checks
from climate.db.administration import keys
from climate.db.encryption import key_files
from climate.db.schema.tables import WEBHOOKS
from climate.db.transactions.store import Store
from climate.domain.webhooks import Webhook
from tests import base
from tests.databases import fetch
from tests.functional.test_manage import run

SECRET = 'whsec_a2V5'
URL = 'https://user-token@example.org/hook'


class TestEncryptionKeys(base.TestCase):
    """Two hosts with one database."""

    def setUp(self) -> None:
        super().setUp()
        found = tempfile.TemporaryDirectory()
        self.addCleanup(found.cleanup)
        self.folder = pathlib.Path(found.name)
        self.first, self.second = self.host('one'), self.host('two')

    def host(self, name: str) -> pathlib.Path:
        """Return the configuration of a host."""
        folder = self.folder / name
        folder.mkdir()
        file = folder / 'climate.conf'
        file.write_text(
            '[DEFAULT]\ncloud = simulated\nresource_types = physical:host\n'
            f'[database]\nconnection = sqlite:///{self.folder}/climate.sqlite\n'
        )
        file.chmod(0o640)
        return file

    def conf(self, file: pathlib.Path) -> cfg.ConfigOpts:
        conf = config.new_conf()
        conf(['--config-file', str(file)], project='climate')
        return conf

    def store(self, file: pathlib.Path) -> Store:
        return self.closing(Store(self.conf(file), SystemClock()))

    def status(self, file: pathlib.Path) -> tuple[upgradecheck.Code, str]:
        found = Checks(self.conf(file))._check_encryption_keys()
        return found.code, found.details or ''

    def add_webhook(self, store: Store) -> None:
        webhook = Webhook(
            id='1', project_id='blue', user_id='alice', name='', url=URL, secrets=(SECRET,)
        )
        store.run(lambda tx: tx.webhooks.insert(webhook))

    def stored(self, store: Store) -> str:
        with store.reading() as tx:
            row = tx.session.execute(sa.select(WEBHOOKS.c.secret, WEBHOOKS.c.url)).one()
        return f'{row.secret} {row.url}'

    def test_db_sync_makes_a_key(self) -> None:
        ended, lines = run('--config-file', str(self.first), 'db', 'sync')
        self.assertEqual(0, ended, lines)
        file = self.first.with_name(key_files.NAME)
        self.assertIn(f'{file} is the new encryption key', lines[-1])
        self.assertNotIn(file.read_text().strip(), ''.join(lines))
        mode = stat.S_IMODE(file.stat().st_mode)
        self.assertEqual(0, mode & 0o137, oct(mode))
        self.assertEqual((upgradecheck.Code.SUCCESS, ''), self.status(self.first))
        again, lines = run('--config-file', str(self.first), 'db', 'sync')
        self.assertEqual((0, 1), (again, len(lines)), lines)
        store = self.store(self.first)
        self.add_webhook(store)
        for secret in (SECRET, URL):
            self.assertNotIn(secret, self.stored(store))

    def test_without_tables_there_are_no_secrets(self) -> None:
        # The pool of an earlier test may log something when it is collected.
        with fixtures.FakeLogger('climate') as log:
            self.assertEqual((upgradecheck.Code.SUCCESS, ''), self.status(self.first))
        self.assertEqual('', log.output)

    def test_another_host_needs_it(self) -> None:
        run('--config-file', str(self.first), 'db', 'sync')
        code, details = self.status(self.second)
        self.assertEqual(upgradecheck.Code.FAILURE, code)
        self.assertIn('encrypted with a key that this process does not have', details)
        self.assertIn('Copy the file encryption.key', details)
        ended, lines = run('--config-file', str(self.second), 'db', 'sync')
        self.assertEqual(2, ended)
        self.assertIn('Copy the file encryption.key', lines[-1])
        self.assertFalse(self.second.with_name(key_files.NAME).exists())
        self.assertRaises(exceptions.ConfigurationError, keys.check, self.store(self.second))
        text = self.first.with_name(key_files.NAME).read_text()
        self.second.with_name(key_files.NAME).write_text(text)
        keys.check(self.store(self.second))
        self.assertEqual(upgradecheck.Code.SUCCESS, self.status(self.second)[0])

    def test_without_a_key_the_check_fails(self) -> None:
        run('--config-file', str(self.first), 'db', 'sync')
        self.first.with_name(key_files.NAME).unlink()
        store = self.store(self.first)
        with store.engine.begin() as connection:
            connection.execute(sa.text('DELETE FROM secrets'))
        code, details = self.status(self.first)
        self.assertEqual(upgradecheck.Code.FAILURE, code)
        self.assertIn('run climate-manage db sync', details)
        # What was stored in clear text is named, and encrypted by a rotation.
        self.add_webhook(store)
        self.assertIn(SECRET, self.stored(store))
        self.assertEqual(0, run('--config-file', str(self.first), 'db', 'sync')[0])
        code, details = self.status(self.first)
        self.assertEqual(upgradecheck.Code.WARNING, code)
        self.assertIn('climate-manage keys rotate', details)
        self.assertEqual(0, run('--config-file', str(self.first), 'keys', 'rotate')[0])
        self.assertEqual(upgradecheck.Code.SUCCESS, self.status(self.first)[0])
        self.assertNotIn(SECRET, self.stored(store))

    def test_keys_of_the_configuration_are_enough(self) -> None:
        _, (key,) = run('keys', 'new')
        self.first.write_text(f'{self.first.read_text()}encryption_keys = {key}\n')
        ended, lines = run('--config-file', str(self.first), 'db', 'sync')
        self.assertEqual((0, 1), (ended, len(lines)), lines)
        self.assertFalse(self.first.with_name(key_files.NAME).exists())
        self.assertEqual(upgradecheck.Code.SUCCESS, self.status(self.first)[0])

    def test_a_key_is_replaced(self) -> None:
        run('--config-file', str(self.first), 'db', 'sync')
        file = self.first.with_name(key_files.NAME)
        old = file.read_text()
        self.add_webhook(self.store(self.first))
        _, (new,) = run('keys', 'new')
        file.write_text(f'{new}\n{old}')
        # The URL of the webhook, and its secret.
        found = run('--config-file', str(self.first), 'keys', 'rotate')
        self.assertEqual((0, ['2 secrets encrypted, 0 of ended leases erased']), found)
        file.write_text(f'# the new one\n{new}\n')
        self.assertEqual(upgradecheck.Code.SUCCESS, self.status(self.first)[0])
        (webhook,) = fetch(self.store(self.first), lambda tx: tx.webhooks.enabled(['blue']))
        self.assertEqual((SECRET, URL), (webhook.secrets[0], webhook.url))

    def test_a_file_that_is_unreadable(self) -> None:
        self.first.with_name(key_files.NAME).mkdir()
        ended, (line,) = run('--config-file', str(self.first), 'db', 'sync')
        self.assertEqual(2, ended)
        self.assertIn('encryption.key cannot be read: IsADirectoryError', line)
