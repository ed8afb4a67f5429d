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

"""The clouds that the contract is held against.

A world is a cloud under test together with what a test needs around it:
servers that were started by others, answers that get lost.
"""

from __future__ import annotations

import abc
import contextlib
import os
import pathlib
import re
import tempfile
import uuid

import testtools
from oslo_config import cfg

from climate import conf as climate_conf
from climate.clients import base
from climate.clients import fake
from climate.clients import real
from climate.clock import SystemClock
from tests.contract.stub import StubCloud

HOSTS = 5
REAL_CLOUD = 'CLIMATE_CONTRACT_CONF'

# How requests look whose answers can be lost.
REQUESTS = {
    'compute.add_host': r'POST .*/os-aggregates/\d+/action',
    'compute.remove_host': r'POST .*/os-aggregates/\d+/action',
    'compute.set_aggregate_metadata': r'POST .*/os-aggregates/\d+/action',
    'compute.create_aggregate': r'POST .*/os-aggregates$',
    'compute.delete_aggregate': r'DELETE .*/os-aggregates/',
    'compute.delete_server': r'DELETE .*/servers/',
    'placement.create_provider': r'POST .*/resource_providers$',
    'placement.delete_provider': r'DELETE .*/resource_providers/',
}


class World(abc.ABC):
    """A cloud under test."""

    cloud: base.Cloud

    @property
    def hosts(self) -> list[str]:
        """Return the service hosts that a test may use, two at least."""
        return [found.service_host for found in self.cloud.compute.list_hypervisors()]

    @abc.abstractmethod
    def boot(self, host: str, name: str = 'vm') -> str:
        """Start a server of some project on a host and return its id."""

    @abc.abstractmethod
    def lose_answer(self, verb: str) -> None:
        """Let the next call of *verb* do its work and lose the answer."""

    @abc.abstractmethod
    def slow_deletions(self) -> None:
        """Let servers take a long time to go."""

    def close(self) -> None:  # noqa: B027  what needs no end has nothing to add
        """End it."""


class TwinWorld(World):
    """The twin; in memory if no directory is given."""

    def __init__(self, state_dir: str = fake.MEMORY) -> None:
        self.cloud = self.twin = fake.Twin(state_dir, clock=SystemClock())
        self.twin.seed(HOSTS)

    def boot(self, host: str, name: str = 'vm') -> str:
        """Start a server."""
        return self.twin.boot_server(host, 'p1', name).id

    def lose_answer(self, verb: str) -> None:
        """Fail once after the work."""
        self.twin.fail(verb, 1, when='after')

    def slow_deletions(self) -> None:
        """Let servers take a long time to go."""
        self.twin.set_server_deletion_seconds(3600)

    def close(self) -> None:
        """Close the state."""
        self.twin.close()


class FileTwinWorld(TwinWorld):
    """The twin on a file."""

    def __init__(self) -> None:
        self._directory = tempfile.TemporaryDirectory()
        super().__init__(self._directory.name)

    def close(self) -> None:
        """Close and remove the state."""
        super().close()
        self._directory.cleanup()


def configuration(*files: str, **nova: object) -> cfg.ConfigOpts:
    """Return a configuration out of files, with options of [nova] set."""
    conf = cfg.ConfigOpts()
    climate_conf.register_opts(conf)
    conf([], default_config_files=list(files))
    for name, value in nova.items():
        conf.set_override(name, value, group='nova')
    return conf


class StubWorld(World):
    """The real clients, against a stub that speaks HTTP."""

    def __init__(self, **nova: object) -> None:
        self._stack = contextlib.ExitStack()
        self.stub = self._stack.enter_context(StubCloud())
        self.stub.twin.seed(HOSTS)
        directory = self._stack.enter_context(tempfile.TemporaryDirectory())
        file = pathlib.Path(directory) / 'climate.conf'
        file.write_text(
            '[nova]\nauth_type = password\nusername = climate\npassword = secret\n'
            'project_name = service\nuser_domain_name = D\nproject_domain_name = D\n'
            f'auth_url = {self.stub.url}/identity/v3\nconnect_retries = 0\ntimeout = 10\n'
            '[placement]\nconnect_retries = 0\n'
        )
        self.conf = configuration(str(file), **nova)
        self.cloud = real.connect(self.conf)

    def boot(self, host: str, name: str = 'vm') -> str:
        """Start a server."""
        return self.stub.twin.boot_server(host, 'p1', name).id

    def lose_answer(self, verb: str) -> None:
        """Hang up instead of answering, once."""
        self.stub.trouble(REQUESTS[verb], 'lose')

    def slow_deletions(self) -> None:
        """Let servers take a long time to go."""
        self.stub.twin.set_server_deletion_seconds(3600)

    def close(self) -> None:
        """Stop the server."""
        self._stack.close()


class RealWorld(World):
    """A real cloud, if the environment names a configuration file for one.

    Its first two hypervisors are moved between aggregates: not for a cloud
    in which somebody works.
    """

    def __init__(self) -> None:
        self.cloud = real.connect(configuration(os.environ[REAL_CLOUD]))

    def boot(self, host: str, name: str = 'vm') -> str:
        """Refuse: it would need an image, a flavor and a network."""
        raise testtools.TestCase.skipException('the real cloud starts no servers for tests')

    def lose_answer(self, verb: str) -> None:
        """Refuse: a real cloud cannot be told to."""
        raise testtools.TestCase.skipException('a real cloud loses no answers on demand')

    def slow_deletions(self) -> None:
        """Refuse: how long it takes is the cloud's affair."""
        raise testtools.TestCase.skipException('the real cloud takes the time it takes')


def unique(prefix: str = 'contract') -> str:
    """Return a name that nothing has."""
    return f'{prefix}-{uuid.uuid4()}'


UUID = re.compile(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')
