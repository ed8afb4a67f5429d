# SPDX-License-Identifier: Apache-2.0

"""What the tests with the clients of the field have in common.

The clients are those of the cloud's own virtual environment, as they come
from PyPI: neither their code nor their configuration knows Climate.
"""

from __future__ import annotations

import datetime
import functools
import json
import pathlib
import re
import subprocess
from collections.abc import Callable
from collections.abc import Sequence
from concurrent import futures
from typing import Any

import openstack

from tests.cloud import base
from tests.cloud.house import PREFIX
from tests.cloud.waiting import until
from tests.commands import CLIENTS
from tests.commands import Commands
from tests.commands import PATIENCE
from tests.functional.clients import minute
from tools.cloud.state import Cloud
from tools.cloud.state import load

UUID = re.compile(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')
ONE_HOST = 'resource_type=physical:host,min=1,max=1'
# What every command has in its environment besides its user's login.
_AROUND = {
    'HOME': '/nonexistent',  # where no clouds.yaml is
    'LANG': 'C.UTF-8',
    'PYTHONWARNINGS': 'ignore',
}
# As many commands at once as still go faster together.
_AT_ONCE = 4


def shown(written: str) -> str:
    """Return how the service shows what :func:`minute` wrote."""
    return written.replace(' ', 'T') + ':00.000000'


def present_minute(seconds: int = 15) -> str:
    """Return the present minute, as soon as one has at least so many seconds left."""
    until(
        lambda: datetime.datetime.now(datetime.UTC).second < 60 - seconds,
        seconds + 1,
        'the minute has some seconds left',
    )
    return minute(0)


def connect(cloud: Cloud, user: str, *, proxied: bool = False, region: str = '') -> Any:
    """Return the connection that openstacksdk makes of a user's environment."""
    login = cloud.login(user, proxied=proxied)
    domains = ('user_domain_name', 'project_domain_name')
    keys = ('auth_url', 'username', 'password', 'project_name', *domains)
    auth = {key: login[f'OS_{key.upper()}'] for key in keys}
    found = {'region_name': region or login['OS_REGION_NAME'], 'auth_type': 'password'}
    return openstack.connect(load_yaml_config=False, load_envvars=False, auth=auth, **found)


@functools.cache
def commands(directory: pathlib.Path) -> Commands:
    """Return what runs the commands of a cloud, for as long as this process lives."""
    return Commands(load(directory).bin / 'python', CLIENTS, _AROUND)


class Shell:
    """The command lines of the cloud, as one user has them in the environment.

    :param program: what each command begins with
    """

    def __init__(
        self, cloud: Cloud, user: str, *program: str, proxied: bool = False, region: str = ''
    ) -> None:
        self._commands = commands(cloud.directory)
        self._program = [str(cloud.bin / program[0]), *program[1:]]
        self._env = {
            **cloud.login(user, proxied=proxied),
            'PATH': f'{cloud.bin}:/usr/bin:/bin',
            **_AROUND,
        }
        if region:
            self._env['OS_REGION_NAME'] = region

    def _run(self, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
        return self._commands.run([*self._program, *words], self._env)

    def installed(self, *words: str) -> str:
        """Run a command by the script that is installed; return what it wrote."""
        line, facts = (
            [*self._program, *words],
            {'text': True, 'timeout': PATIENCE, 'env': self._env},
        )
        return subprocess.run(line, capture_output=True, check=True, **facts).stdout

    def run(self, *words: str) -> str:
        """Run a command; return what it wrote.

        :raises AssertionError: if it fails
        """
        done = self._run(words)
        if done.returncode:
            raise AssertionError(f'{words}: {done.returncode}\n{done.stdout}\n{done.stderr}')
        return done.stdout

    def json(self, *words: str) -> Any:
        """Run a command and read its answer, which may come after a sentence."""
        text = self.run(*words, '-f', 'json')
        found = re.search(r'[\[{]', text)
        assert found, f'{words}: {text}'
        return json.loads(text[found.start() :])

    def refusal(self, *words: str) -> str:
        """Run a command that has to fail; return its last words.

        :raises AssertionError: if it does not, or not as people should see it
        """
        done = self._run(words)
        if done.returncode != 1 or 'Traceback' in done.stderr:
            raise AssertionError(f'{words}: {done.returncode}\n{done.stdout}\n{done.stderr}')
        return done.stderr.strip().splitlines()[-1]


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Make calls that do not depend on each other, and return their answers."""
    with futures.ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(lambda call: call(), calls))


class FieldTest(base.CloudTest):
    """A test with the clients of the field."""

    def reservations(self, user: str, *, proxied: bool = False) -> Shell:
        """Return ``openstack reservation``."""
        return Shell(self.cloud, user, 'openstack', 'reservation', proxied=proxied)

    def name(self, what: str) -> str:
        """Return a name for something of the test."""
        return f'{PREFIX}{what}'
