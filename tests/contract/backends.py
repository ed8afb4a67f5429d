# SPDX-License-Identifier: Apache-2.0

"""The clouds that the contract is held against.

A backend is a cloud under test together with what a test needs around it:
servers that were started by others, answers that get lost.
"""

from __future__ import annotations

import abc
import contextlib
import itertools
import pathlib
import random
import re
import tempfile
import uuid
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

import testtools
from oslo_config import cfg

from climate import conf as climate_conf
from climate import simulator
from climate.clock import SystemClock
from climate.cloud import base
from climate.cloud import real
from tests.contract import wire
from tests.contract.people import Person
from tests.contract.people import SimulatedPerson
from tests.contract.proxy import Kind
from tests.contract.stub import StubCloud
from tests.waiting import until

HOSTS = 5
# First and last number of the VLANs that a test may use.
VLANS = (1000, 4000)

# What the simulated cloud is to do for a trouble that happens on the way to a service.
# How long the simulated cloud takes for its slow operations, seconds.
SLOW = 0.3

_BEFORE_WORK = frozenset({'refuse', 'status'})
_SIMULATED_ERRORS: Mapping[int, simulator.Error] = {404: 'not_found', 409: 'conflict'}


class Backend(abc.ABC):
    """A cloud under test."""

    cloud: base.Cloud

    @property
    def hosts(self) -> list[str]:
        """Return the service hosts that a test may use, two at least."""
        return [found.service_host for found in self.cloud.compute.list_hypervisors()]

    #: How long what takes time may take, seconds.
    patience = 5.0

    @abc.abstractmethod
    def draft(self, host: str | None = None, **wanted: Any) -> base.ServerDraft:
        """Describe a server that the cloud can start, on a host if one is named."""

    def boot(self, host: str, name: str = 'vm') -> str:
        """Start a server on a host, wait until it is there, and return its id."""
        server_id = self.cloud.compute.create_server(self.draft(host, name=name))
        self.until_still(server_id)
        return server_id

    def boot_described(self, host: str, **wanted: Any) -> str:
        """Start a server of which more is said, as :meth:`boot` does."""
        server_id = self.cloud.compute.create_server(self.draft(host, **wanted))
        self.until_still(server_id)
        return server_id

    def until_still(self, server_id: str) -> base.Server:
        """Wait until Nova does nothing with a server any more, and return it."""

        def still() -> base.Server | None:
            found = self.cloud.compute.find_server(server_id)
            assert found is not None, f'server {server_id} is gone'
            return None if found.task_state or found.status == 'BUILD' else found

        return until(still, self.patience, f'nothing is done with server {server_id}')

    def until_gone(self, *server_ids: str) -> None:
        """Wait until servers are gone."""
        find = self.cloud.compute.find_server
        until(lambda: not any(map(find, server_ids)), self.patience, 'the servers are gone')

    @abc.abstractmethod
    def poor(self, resource: str) -> contextlib.AbstractContextManager[base.Compute]:
        """Return the Nova of a project that may have nothing of a resource any more."""

    @property
    @abc.abstractmethod
    def other_project(self) -> str:
        """Return the id of a project that is not our own."""

    @abc.abstractmethod
    def lose_answer(self, verb: str) -> None:
        """Let the next call of *verb* do its work and lose the answer."""

    @abc.abstractmethod
    def slow(self, what: str) -> None:
        """Let something take long enough to be seen, such as ``server_deletion``."""

    def close(self) -> None:  # noqa: B027  what needs no end has nothing to add
        """End it."""


class FaultyBackend(Backend):
    """A cloud whose services, or the way to them, can be disturbed at will.

    :ivar pause: seconds that something may take for a test to see it happen
    """

    pause = 0.3

    @abc.abstractmethod
    def person(self, *roles: str) -> Person:
        """Return a new user with these roles in a new project."""

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


class SimulatedBackend(FaultyBackend):
    """The simulated cloud; in memory if no directory is given."""

    def __init__(self, state_dir: str = simulator.MEMORY) -> None:
        self.cloud = simulator.SimulatedCloud(state_dir, clock=SystemClock())
        self.cloud.seed(HOSTS)

    def draft(self, host: str | None = None, **wanted: Any) -> base.ServerDraft:
        """Describe a server."""
        values = {'name': 'vm', 'flavor_id': '1', 'image_id': 'tiny', 'host': host}
        return base.ServerDraft(**values | wanted)

    @contextlib.contextmanager
    def poor(self, resource: str) -> Iterator[base.Compute]:
        """Allow a project nothing."""
        self.cloud.set_quota(self.other_project, resource, 0)
        yield self.cloud.compute_of(self.other_project)

    @property
    def other_project(self) -> str:
        """Return a name."""
        return 'alt'

    def disturb(self, verb: str, kind: Kind, times: int | None = 1, *, status: int = 503) -> None:
        """Fail before or after the work; the simulated cloud knows no tokens that expire."""
        if kind == 'expire':
            raise ValueError('the simulated cloud knows no tokens')
        when: simulator.When = 'before' if kind in _BEFORE_WORK else 'after'
        error = _SIMULATED_ERRORS.get(status, 'transient') if kind == 'status' else 'transient'
        self.cloud.fail(verb, times, when=when, error=error)

    def heal(self) -> None:
        """Remove every fault."""
        self.cloud.heal()

    def person(self, *roles: str) -> Person:
        """Return a new user."""
        return SimulatedPerson(self.cloud, *roles)

    @contextlib.contextmanager
    def away(self, service: str) -> Iterator[None]:
        """Let every service be away."""
        self.cloud.reachable = False
        yield
        self.cloud.reachable = True

    def slow(self, what: str) -> None:
        """Let it take a moment."""
        self.cloud.set_seconds(what, SLOW)

    def close(self) -> None:
        """Close the state."""
        self.cloud.close()


class FileSimulatedBackend(SimulatedBackend):
    """The simulated cloud on a file."""

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


class StubBackend(Backend):
    """The real clients, against a stub that speaks HTTP."""

    def __init__(self, **nova: object) -> None:
        self._stack = contextlib.ExitStack()
        self.stub = self._stack.enter_context(StubCloud())
        self.stub.cloud.seed(HOSTS)
        directory = self._stack.enter_context(tempfile.TemporaryDirectory())
        file = pathlib.Path(directory) / 'climate.conf'
        file.write_text(
            '[nova]\nauth_type = password\nusername = climate\npassword = secret\n'
            'project_name = service\nuser_domain_name = D\nproject_domain_name = D\n'
            f'auth_url = {self.stub.url}/identity/v3\nconnect_retries = 0\ntimeout = 10\n'
            '[placement]\nconnect_retries = 0\n[keystone]\nconnect_retries = 0\n'
        )
        self.conf = configuration(str(file), **nova)
        self.cloud = real.connect(self.conf)

    def draft(self, host: str | None = None, **wanted: Any) -> base.ServerDraft:
        """Describe a server, of which the stub takes the host and the name only."""
        return base.ServerDraft(**{'name': 'vm', 'flavor_id': '1', 'host': host} | wanted)

    def boot(self, host: str, name: str = 'vm') -> str:
        """Start a server, which the stub cannot be asked for."""
        return self.stub.cloud.boot_server(host, 'p1', name).id

    def boot_described(self, host: str, **wanted: Any) -> str:
        """Start a server, which the stub cannot be asked for."""
        metadata, hints = wanted['metadata'], wanted['scheduler_hints']
        return self.stub.cloud.boot_server(host, 'p1', 'vm', metadata=metadata, hints=hints).id

    def person(self, *roles: str) -> Person:
        """Return a new user."""
        return SimulatedPerson(self.stub.cloud, *roles)

    def poor(self, resource: str) -> contextlib.AbstractContextManager[base.Compute]:
        """Refuse: the stub has no quotas."""
        raise testtools.TestCase.skipException('the stub has no quotas')

    @property
    def other_project(self) -> str:
        """Return a name."""
        return 'alt'

    def lose_answer(self, verb: str) -> None:
        """Hang up instead of answering, once."""
        self.stub.trouble(wire.REQUESTS[verb], 'lose')

    def slow(self, what: str) -> None:
        """Let it take a moment."""
        self.stub.cloud.set_seconds(what, SLOW)

    def close(self) -> None:
        """Stop the server."""
        self._stack.close()


def vlan(number: int) -> base.Segment:
    """Return the segment of a VLAN on the wires that every backend has."""
    return base.Segment(network_type='vlan', physical_network='physnet1', segmentation_id=number)


# Each number once: two at random are the same too often.
_VLANS = itertools.cycle(random.sample(range(VLANS[0], VLANS[1] + 1), VLANS[1] + 1 - VLANS[0]))


def free_vlan() -> base.Segment:
    """Return the segment of a VLAN that nothing uses."""
    return vlan(next(_VLANS))


def unique(prefix: str = 'contract') -> str:
    """Return a name that nothing has."""
    return f'{prefix}-{uuid.uuid4()}'


UUID = re.compile(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')
