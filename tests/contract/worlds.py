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
import functools
import os
import pathlib
import re
import tempfile
import uuid
from collections.abc import Iterator
from collections.abc import Mapping

import testtools
from keystoneauth1 import loading as ks_loading
from oslo_config import cfg

from climate import conf as climate_conf
from climate.clients import base
from climate.clients import fake
from climate.clients import real
from climate.clock import SystemClock
from tests.contract import wire
from tests.contract.proxy import FaultProxy
from tests.contract.proxy import Kind
from tests.contract.stub import StubCloud

HOSTS = 5
REAL_CLOUD = 'CLIMATE_CONTRACT_CONF'
# First and last number of the VLANs that a test may use.
VLANS = (1000, 4000)

# What the twin is to do for a trouble that happens on the way to a service.
_BEFORE_WORK = frozenset({'refuse', 'status'})
_TWIN_ERRORS: Mapping[int, fake.Error] = {404: 'not_found', 409: 'conflict'}


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


class TroubledWorld(World):
    """A cloud whose services, or the way to them, can be disturbed at will."""

    @abc.abstractmethod
    def disturb(self, verb: str, kind: Kind, times: int | None = 1, *, status: int = 503) -> None:
        """Let the next calls of *verb* go wrong: see :class:`tests.contract.proxy.Rule`.

        :param times: how many requests; None for all
        """

    @abc.abstractmethod
    def heal(self) -> None:
        """Disturb nothing any more."""

    @abc.abstractmethod
    def away(self, service: str) -> contextlib.AbstractContextManager[None]:
        """Let a service refuse connections for a while."""

    def lose_answer(self, verb: str) -> None:
        """Let the next call of *verb* do its work and lose the answer."""
        self.disturb(verb, 'lose')


class TwinWorld(TroubledWorld):
    """The twin; in memory if no directory is given."""

    def __init__(self, state_dir: str = fake.MEMORY) -> None:
        self.cloud = self.twin = fake.Twin(state_dir, clock=SystemClock())
        self.twin.seed(HOSTS)

    def boot(self, host: str, name: str = 'vm') -> str:
        """Start a server."""
        return self.twin.boot_server(host, 'p1', name).id

    def disturb(self, verb: str, kind: Kind, times: int | None = 1, *, status: int = 503) -> None:
        """Fail before or after the work; the twin knows no tokens that expire."""
        if kind == 'expire':
            raise ValueError('the twin knows no tokens')
        when: fake.When = 'before' if kind in _BEFORE_WORK else 'after'
        error = _TWIN_ERRORS.get(status, 'transient') if kind == 'status' else 'transient'
        self.twin.fail(verb, times, when=when, error=error)

    def heal(self) -> None:
        """Remove every fault."""
        self.twin.heal()

    @contextlib.contextmanager
    def away(self, service: str) -> Iterator[None]:
        """Let every service be away."""
        self.twin.reachable = False
        yield
        self.twin.reachable = True

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
        self.stub.trouble(wire.REQUESTS[verb], 'lose')

    def slow_deletions(self) -> None:
        """Let servers take a long time to go."""
        self.stub.twin.set_server_deletion_seconds(3600)

    def close(self) -> None:
        """Stop the server."""
        self._stack.close()


@functools.cache
def _endpoints(file: str) -> Mapping[str, str]:
    """Return the endpoint of each service, by its group, as the catalogue has it."""
    conf = configuration(file)
    known: dict[str, str] = {}
    for group in wire.GROUPS.values():
        if group not in conf:
            continue
        way = group if conf[group].auth_type or conf[group].auth_section else 'nova'
        ks_loading.register_auth_conf_options(conf, way)
        auth = ks_loading.load_auth_from_conf_options(conf, way)
        session = ks_loading.load_session_from_conf_options(conf, way, auth=auth)
        known[group] = conf[group].endpoint_override or auth.get_endpoint(
            session,
            service_type=conf[group].service_type,
            interface=conf[group].valid_interfaces,
            region_name=conf[group].region_name,
            skip_discovery=True,
        )
    return known


class RealWorld(TroubledWorld):
    """A real cloud: the one of the configuration file that the environment names.

    Its first two hypervisors are moved between aggregates: not for a cloud
    in which somebody works. Between our clients and each service stands a
    proxy that can be told to make trouble.

    :param options: of the group of every service
    :ivar proxies: by the group of the service
    """

    def __init__(self, *, connect_retries: int = 0, **options: object) -> None:
        file = os.environ.get(REAL_CLOUD)
        if not file:
            raise AssertionError(f'{REAL_CLOUD} does not name the configuration of a real cloud')
        conf = configuration(file)
        self.proxies = {group: FaultProxy(url) for group, url in _endpoints(file).items()}
        for group, proxy in self.proxies.items():
            changed = {'endpoint_override': proxy.url, 'connect_retries': connect_retries}
            for name, value in (changed | options).items():
                conf.set_override(name, value, group=group)
        self.conf = conf
        self.cloud = real.connect(conf)

    def boot(self, host: str, name: str = 'vm') -> str:
        """Refuse: it would need an image, a flavor and a network."""
        raise testtools.TestCase.skipException('the real cloud starts no servers for tests')

    def slow_deletions(self) -> None:
        """Refuse: how long it takes is the cloud's affair."""
        raise testtools.TestCase.skipException('the real cloud takes the time it takes')

    def proxy(self, service: str) -> FaultProxy:
        """Return what stands before a service, such as ``compute``."""
        return self.proxies[wire.GROUPS[service]]

    def disturb(self, verb: str, kind: Kind, times: int | None = 1, *, status: int = 503) -> None:
        """Tell the proxy."""
        wanted = 401 if kind == 'expire' else status
        proxy = self.proxy(wire.service(verb))
        proxy.rule(kind, wire.REQUESTS[verb], times, status=wanted)

    def heal(self) -> None:
        """Tell every proxy."""
        for proxy in self.proxies.values():
            proxy.heal()

    @contextlib.contextmanager
    def away(self, service: str) -> Iterator[None]:
        """Close the port of a service."""
        self.proxy(service).close()
        yield
        self.proxy(service).open()

    def count(self, verb: str) -> int:
        """Return how many requests did the work of a verb."""
        return self.proxy(wire.service(verb)).count(wire.REQUESTS[verb])

    def close(self) -> None:
        """Close the proxies."""
        for proxy in self.proxies.values():
            proxy.close()


class HastyRealWorld(RealWorld):
    """The same with clients that wait a few seconds and ask twice, as in production."""

    TIMEOUT = 2.0

    def __init__(self) -> None:
        super().__init__(connect_retries=1, timeout=self.TIMEOUT)


def vlan(number: int) -> base.Segment:
    """Return the segment of a VLAN on the wires that every world has."""
    return base.Segment(network_type='vlan', physical_network='physnet1', segmentation_id=number)


def unique(prefix: str = 'contract') -> str:
    """Return a name that nothing has."""
    return f'{prefix}-{uuid.uuid4()}'


UUID = re.compile(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')
