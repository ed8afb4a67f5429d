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
"""The cloud before and after a test: what was disturbed is put back, and compared."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import os
import signal
from collections.abc import Callable
from collections.abc import Iterator
from typing import Any

import fixtures
import openstack

from tests.cloud.people import now
from tests.cloud.people import Person
from tests.cloud.people import time
from tests.waiting import until
from tools.cloud import processes
from tools.cloud import services
from tools.cloud.state import Cloud

# What begins with this was made by a test.
PREFIX = 'e2e-'
# How long putting one thing in order may take.
PATIENCE = 90.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Picture:
    """What a test must leave as it was."""

    # name, zone, hosts and metadata of each
    aggregates: tuple[tuple[str, str | None, tuple[str, ...], tuple[tuple[str, str], ...]], ...]
    servers: tuple[str, ...]
    images: tuple[str, ...]
    ports: tuple[str, ...]
    computes: tuple[tuple[str, str], ...]  # host and status
    reservable: tuple[str, ...]
    leases: tuple[str, ...]
    processes: tuple[str, ...]


def picture(cloud: Cloud, admin: Person) -> Picture:
    """Return how the cloud is now."""
    compute = admin.sdk.compute
    return Picture(
        aggregates=tuple(sorted(map(_aggregate, compute.aggregates()))),
        servers=tuple(sorted(each.id for each in compute.servers(all_projects=True))),
        images=tuple(sorted(each.id for each in admin.sdk.image.images())),
        ports=tuple(sorted(each.id for each in admin.sdk.network.ports())),
        computes=tuple(
            sorted((each.host, each.status) for each in compute.services(binary='nova-compute'))
        ),
        reservable=tuple(sorted(host['hypervisor_hostname'] for host in admin.hosts())),
        leases=tuple(sorted(each['id'] for each in open_leases(admin))),
        processes=tuple(processes.running(cloud)),
    )


def _aggregate(found: Any) -> Any:
    metadata = dict(found.metadata or {})
    return (
        found.name,
        metadata.pop('availability_zone', None) or '',
        tuple(sorted(found.hosts or ())),
        tuple(sorted(metadata.items())),
    )


def open_leases(admin: Person) -> list[dict[str, Any]]:
    """Return the leases that are not over."""
    return [each for each in admin.leases() if each['status'] not in ('TERMINATED', 'ERROR')]


class House(fixtures.Fixture):
    """Puts the cloud back in order after a test, whatever became of it.

    :ivar before: how the cloud was
    """

    def __init__(self, cloud: Cloud, admin: Person) -> None:
        super().__init__()
        self._cloud = cloud
        self._admin = admin
        self._frozen: set[str] = set()
        self._disturbed: datetime.datetime | None = None

    def _setUp(self) -> None:
        self.before = picture(self._cloud, self._admin)
        # Each is tried, in this order, whatever becomes of the one before.
        steps = (
            self._restore,
            self._enable,
            self._remove_leases,
            self._remove_servers,
            self._remove_images,
            self._remove_hosts,
            self._compare,
        )
        for step in reversed(steps):
            self.addCleanup(step)

    # -- trouble

    def stop(self, name: str, *, kill: bool = False) -> None:
        """Stop a process of the cloud; it is started again afterwards."""
        self._disturbed = now()
        how = signal.SIGKILL if kill else signal.SIGTERM
        processes.stop(self._cloud, name, signal=how)

    def start(self, name: str) -> None:
        """Start it again, and return when it answers."""
        processes.start(self._cloud, name)

    @contextlib.contextmanager
    def without(self, name: str) -> Iterator[None]:
        """Do something while a process is away."""
        self.stop(name)
        try:
            yield
        finally:
            self.start(name)

    def freeze(self, name: str) -> None:
        """Let a process hang: it accepts connections and does not answer."""
        self._frozen.add(name)
        self._signal(name, signal.SIGSTOP)

    def thaw(self, name: str) -> None:
        """Let it go on where it was."""
        self._frozen.discard(name)
        self._signal(name, signal.SIGCONT)

    def _signal(self, name: str, number: signal.Signals) -> None:
        found = processes.find(self._cloud, name)
        assert found is not None, f'{name} does not run'
        for each in processes.in_session(found.pid):
            os.kill(each.pid, number)

    # -- order

    def _restore(self) -> None:
        for name in tuple(self._frozen):
            self.thaw(name)
        # Servers come first in this order, and what needs them later.
        for name in services.names(self._cloud):
            if name in self.before.processes:
                self.start(name)
        if self._disturbed is not None:
            self.await_heartbeats(self._disturbed)

    def await_heartbeats(self, since: datetime.datetime) -> None:
        """Return when every daemon of Nova has given a sign of life.

        One that has lost the broker, or the database, may take a while to
        notice that it is back, and the next test is not to suffer from it.
        """
        self._persist(lambda: self._beating(since), 'every daemon of Nova beats')

    def _beating(self, since: datetime.datetime) -> bool:
        beating = {
            (each.binary, each.host)
            for each in self._admin.sdk.compute.services()
            if each.state == 'up' and time(each.updated_at) > since
        }
        # A list may be short for a while: Nova leaves out what it cannot ask.
        binaries = {binary for binary, _ in beating}
        computes = {host for binary, host in beating if binary == 'nova-compute'}
        return {'nova-conductor', 'nova-scheduler'} <= binaries and computes >= set(
            self._cloud.hosts
        )

    def _enable(self) -> None:
        compute = self._admin.sdk.compute
        was = dict(self.before.computes)
        enabled = set()
        for each in compute.services(binary='nova-compute'):
            if each.status == 'disabled' and was.get(each.host) == 'enabled':
                compute.enable_service(each)
                enabled.add(each.host)

        def back() -> bool:
            hosts = self._admin.hosts()
            return all(host['reservable'] for host in hosts if host['service_name'] in enabled)

        # A manager looks for itself before it believes that a host is back.
        until(back, 180, 'hosts that were enabled can be leased again')

    def _remove_leases(self) -> None:
        def remove() -> bool:
            # Those that are over go too, or lists would grow and grow.
            found = [each for each in self._admin.leases() if each['name'].startswith(PREFIX)]
            for each in found:
                if each['status'] != 'DELETING':
                    self._admin.delete_lease(each['id'])
            return not found

        self._persist(remove, 'the leases of the test are gone')

    def _remove_servers(self) -> None:
        compute = self._admin.sdk.compute

        def remove() -> bool:
            found = [
                each
                for each in compute.servers(all_projects=True)
                if each.id not in self.before.servers
            ]
            for each in found:
                compute.delete_server(each, force=each.status == 'ERROR')
            return not found

        self._persist(remove, 'the servers of the test are gone')

    def _remove_images(self) -> None:
        for each in self._admin.sdk.image.images():
            if each.id not in self.before.images:
                self._admin.sdk.image.delete_image(each)

    def _remove_hosts(self) -> None:
        for host in self._admin.hosts():
            if host['hypervisor_hostname'] not in self.before.reservable:
                self._admin.unregister(host)

    def _compare(self) -> None:
        """Complain of what is not as it was; what goes by itself has a while to go."""
        with contextlib.suppress(AssertionError):
            until(lambda: picture(self._cloud, self._admin) == self.before, 15.0, 'as before')
        after = dataclasses.asdict(picture(self._cloud, self._admin))
        for name, was in dataclasses.asdict(self.before).items():
            if after[name] != was:
                raise AssertionError(f'{name} are {after[name]}, and were {was}')

    def _persist(self, condition: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
        """Wait for a condition; a service that has just come back may stumble."""

        def tried() -> bool:
            try:
                return condition()
            except (openstack.exceptions.SDKException, AssertionError):
                return False

        until(tried, seconds, what)
