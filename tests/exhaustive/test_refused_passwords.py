# SPDX-License-Identifier: Apache-2.0

"""No password of a URL is in what commands print and log when a server refuses it.

In process, ``tests.functional.test_database_refusals`` checks the same of databases.
"""

from __future__ import annotations

import functools
import re

from climate.db.engine import addresses
from tests import services
from tests.base import FolderCase
from tests.functional.processes import Command
from tests.functional.processes import until
from tests.functional.secret_traffic import pattern

PASSWORD = 'refused-hunter14'
USER = 'climate_nobody'
OPTIONS = """
[DEFAULT]
debug = true
cloud = simulated
transport_url = {bus}
[database]
connection = {database}
[simulator]
state_dir = {folder}/cloud
[mail]
spool_dir = {folder}/spool
sender = climate@example.org
"""


class TestRefusedPasswords(FolderCase):
    """Commands with passwords that servers do not accept."""

    def configure(self, *, database: str = '', bus: str = 'fake://') -> None:
        text = OPTIONS.format(
            folder=self.folder,
            bus=bus,
            database=database or addresses.of_file(self.folder / 'climate.sqlite'),
        )
        (self.folder / 'climate.conf').write_text(text)

    def refused(self, kind: str) -> str:
        """Return the URL of a server, with a user whom it does not know."""
        services.require(kind)
        url = services.address(kind).set(username=USER, password=PASSWORD)
        return url.render_as_string(hide_password=False)

    def run_command(self, name: str, *words: str) -> Command:
        config = ('--config-file', str(self.folder / 'climate.conf'))
        return self.useFixture(Command(name, *config, *words, folder=self.folder))

    def check(self, commands: int) -> None:
        """Check what so many commands have written: no password but that of the configuration."""
        said = {path: path.read_bytes() for path in self.folder.rglob('*') if path.is_file()}
        self.assertEqual(commands, sum(path.suffix == '.log' for path in said))
        self.assertIsNotNone(pattern([PASSWORD]).search(said.pop(self.folder / 'climate.conf')))
        for path, text in said.items():
            self.assertIsNone(pattern([PASSWORD]).search(text), f'{path.name}: {text[:2000]!r}')

    def test_databases(self) -> None:
        for kind in (services.MARIADB, services.POSTGRESQL):
            self.configure(database=self.refused(kind))
            for name, *words in (
                ('climate-manage', 'db', 'sync'),
                ('climate-status', 'upgrade', 'check'),
            ):
                command = self.run_command(name, *words)
                assert command.process is not None
                self.assertNotEqual(0, command.process.wait(180))
                self.assertIn(USER, command.said)
        self.check(4)

    def test_the_message_bus(self) -> None:
        self.configure(bus=self.refused(services.RABBITMQ))
        synced = self.run_command('climate-manage', 'db', 'sync')
        assert synced.process is not None
        self.assertEqual(0, synced.process.wait(180), synced.said)
        started = [
            self.run_command(name) for name in ('climate-manager', 'climate-mail', 'climate-watch')
        ]
        for each in started:
            until('the refusal is known', functools.partial(_is_refused, each), 600)
        self.check(4)


def _is_refused(command: Command) -> bool:
    return re.search('ACCESS_REFUSED|unavailable', command.said) is not None
