# SPDX-License-Identifier: Apache-2.0

"""SIGHUP: each process reads its configuration again, and goes on."""

from __future__ import annotations

import os
import pathlib
import signal
import urllib.request

import fixtures
import sqlalchemy as sa

from climate.db.engine import addresses
from climate.db.migrations import migration
from tests import base
from tests import proxies
from tests.functional import processes
from tests.functional.processes import Command
from tests.functional.processes import until

# What each writes to its log when it works.
PROCESSES = {
    'climate-manager': 'is at work',
    'climate-api': 'Listening at',
    'climate-mail': 'Sending mail through',
    'climate-power': 'Managing the power of hosts',
}
CONF = """
[DEFAULT]
auth_strategy = noauth
cloud = simulated
transport_url = fake://
debug = {debug}
[api]
max_limit = {limit}
[database]
connection = {url}
[mail]
spool_dir = {folder}/spool
[metrics]
enabled = false
[power]
auth_type = none
endpoint = http://127.0.0.1:1/v1
hosts_file = {folder}/hosts.yaml
state_path = {folder}/power.json
[simulator]
state_dir = {folder}
"""
DONE = 'The configuration is reloaded'


class ReloadTest(base.TestCase):
    """Real processes."""

    def setUp(self) -> None:
        super().setUp()
        # A character that URLs and options both give a meaning.
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'p%20t'
        self.folder.mkdir()
        self.conf = self.folder / 'climate.conf'
        (self.folder / 'hosts.yaml').write_text('hosts: {}\n')
        self.write()
        engine = sa.create_engine(self.url)
        migration.sync(engine)
        engine.dispose()

    @property
    def url(self) -> str:
        """The URL of the database."""
        return addresses.of_file(self.folder / 'climate.sqlite')

    def write(self, *, debug: bool = False, limit: int = 100) -> None:
        """Write the configuration."""
        text = CONF.format(debug=debug, limit=limit, folder=self.folder, url=self.url)
        self.conf.write_text(text, encoding='utf-8')

    def test_processes_reload(self) -> None:
        for name, works in PROCESSES.items():
            self.check(name, works)

    def check(self, name: str, works: str) -> None:
        """Check that one process reloads, survives a wrong file, and stops orderly."""
        self.write()
        log, moved = self.folder / f'{name}.log', self.folder / f'{name}.log.1'
        words = ['--config-file', str(self.conf), '--log-file', str(log)]
        if name == 'climate-api':
            words += ['--port', str(processes.free_port())]
        with Command(name, *words, folder=self.folder) as command:
            pid = command.process.pid

            def said(text: str, file: pathlib.Path = log) -> bool:
                self.assertTrue(command.running, command.said)
                return file.exists() and text in file.read_text(errors='replace')

            until(f'{name} works', lambda: said(works))
            log.rename(moved)
            self.write(debug=True, limit=200)
            os.kill(pid, signal.SIGHUP)
            # In the new file, as the old one was moved.
            until(f'{name} reloads', lambda: said(DONE))
            self.assertTrue(said('Option DEFAULT.debug changed from [False] to [True]'))
            self.assertTrue(said('Ignoring change to immutable option api.max_limit'))
            self.conf.write_text('no section = 1\n')
            os.kill(pid, signal.SIGHUP)
            until(f'{name} refuses', lambda: said('The configuration cannot be reloaded'))
            self.assertEqual(0, command.terminate(60))

    def test_gunicorn_reloads(self) -> None:
        api = self.useFixture(proxies.Gunicorn(self.folder))

        def workers() -> set[str]:
            return set(pathlib.Path(f'/proc/{api.pid}/task/{api.pid}/children').read_text().split())

        before = workers()
        os.kill(api.pid, signal.SIGHUP)
        until('there are new workers', lambda: len(workers()) == 2 and not workers() & before)
        address = f'http://127.0.0.1:{api.port}/v1/leases'
        with urllib.request.urlopen(address, timeout=120) as answer:
            self.assertEqual(200, answer.status)
