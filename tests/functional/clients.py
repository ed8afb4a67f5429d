# SPDX-License-Identifier: Apache-2.0

"""What the tests of the client share: commands and a service, both running."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import pathlib
import pty
import re
import select
import shlex
import subprocess
import sys
import unittest
from typing import Any
from typing import ClassVar

import openstack

from climate.client.sdk.proxy import ReservationProxy
from tests import base
from tests import commands
from tests.functional import processes
from tests.functional.processes import Standalone
from tests.functional.processes import until

OPTIONS = '[DEFAULT]\nresource_types = physical:host, virtual:instance'


def begin(options: str = OPTIONS, hosts: int = 3) -> None:
    """Load the client and start the service for a module: each takes seconds of a processor.

    :param options: of the service
    """
    known = {'TZ': 'Europe/Berlin', 'COLUMNS': '200', 'LANG': 'C.UTF-8'}
    ClientCase.environment = {**processes.clean_environment(), **known}
    python = pathlib.Path(sys.executable)
    ClientCase.commands = commands.Commands(python, commands.CLIENTS, ClientCase.environment)
    unittest.addModuleCleanup(ClientCase.commands.close)
    service = Standalone(hosts=hosts, options=f'{options}\n')
    ClientCase.service = unittest.enterModuleContext(service)


def minute(minutes: int) -> str:
    """Return the instant that is so many minutes away, as clients write it."""
    instant = datetime.datetime.now(datetime.UTC) + datetime.timedelta(minutes=minutes)
    return instant.strftime('%Y-%m-%d %H:%M')


def nested(value: Any) -> list[dict[str, Any]]:
    """Return what the client shows as text inside of JSON."""
    if isinstance(value, list):
        return value
    return [json.loads(part) for part in re.split(r'\n(?=\{)', value)]


class ClientCase(base.TestCase):
    """Three hosts and no lease."""

    service: ClassVar[Standalone]
    commands: ClassVar[commands.Commands]
    environment: ClassVar[dict[str, str]]

    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(self.tidy)

    def tidy(self) -> None:
        for lease in self.leases():
            self.service.ask('DELETE', f'/leases/{lease["id"]}')
        until('the leases are gone', lambda: not self.leases())

    def leases(self) -> list[dict[str, Any]]:
        return self.service.ask('GET', '/leases')[1]['leases']

    def run_command(
        self, line: str, fails: bool = False, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a command.

        :raises AssertionError: if it fails, or does not and should
        """
        done = self.commands.run(self.words(line), {**self.environment, **environment})
        self.assertEqual(fails, done.returncode != 0, f'{line}: {done.stdout}{done.stderr}')
        self.assertNotIn('Traceback', done.stderr)
        return done

    def on_terminal(self, line: str, typed: bytes = b'', columns: int = 80) -> tuple[int, str]:
        """Run a command on a terminal; return its status, and what it wrote."""
        terminal, own = pty.openpty()
        self.addCleanup(os.close, terminal)
        environment = {**self.environment, 'COLUMNS': str(columns)}
        # Not forked like the others: the server of commands reads standard input itself.
        with open(own, 'rb') as opened:
            process = subprocess.Popen(
                self.words(line), stdin=opened, stdout=opened, stderr=opened, env=environment
            )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        os.write(terminal, typed)
        written = b''
        # Reading a terminal that all processes have closed is an error on Linux.
        with contextlib.suppress(OSError):
            while select.select([terminal], [], [], commands.PATIENCE)[0]:
                written += os.read(terminal, 4096)
        return process.wait(commands.PATIENCE), written.decode().replace('\r\n', '\n')

    def words(self, line: str) -> list[str]:
        return [
            str(processes.BIN / 'openstack'), '--os-auth-type', 'none',
            '--os-endpoint', self.service.endpoint, *shlex.split(line),
        ]  # fmt: skip

    def json(self, line: str, **environment: str) -> Any:
        return json.loads(self.run_command(f'{line} -f json', **environment).stdout)

    def refusal(self, line: str, **environment: str) -> str:
        return self.run_command(line, fails=True, **environment).stderr


def connection(case: Any, **settings: Any) -> openstack.connection.Connection:
    """Return a connection to the service of a test, closed afterwards."""
    settings |= {'auth_type': 'none', 'auth': {'endpoint': case.service.endpoint}}
    return case.closing(openstack.connect(load_yaml_config=False, load_envvars=False, **settings))


def connect(case: ClientCase, **settings: Any) -> ReservationProxy:
    """Return the proxy of a connection, as programs get it."""
    hook = 'climate.client.sdk.service:register'
    proxy = connection(case, vendor_hook=hook, **settings).reservation
    case.assertIsInstance(proxy, ReservationProxy)
    return proxy
