# SPDX-License-Identifier: Apache-2.0
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
from tests.cloud.places import aggregate_of
from tests.cloud.waiting import until
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


class Scope:
    """What in the cloud is a site's: all of it, if nobody else is there.

    :ivar hosts: of the site
    """

    def __init__(self, cloud: Cloud, admin: Person, *, alone: bool) -> None:
        self._cloud = cloud
        self._admin = admin
        self._alone = alone
        self.hosts = frozenset(cloud.hosts if alone else cloud.site_hosts)
        find = admin.sdk.identity.find_project
        self._projects = {find(cloud.project(user)).id for user in cloud.users}

    def has(self, project_id: str | None) -> bool:
        """Return whether what a project has is the site's."""
        return self._alone or project_id in self._projects

    def servers(self) -> list[Any]:
        """Return the servers."""
        found = self._admin.sdk.compute.servers(all_projects=True)
        return [each for each in found if self.has(each.project_id)]

    def images(self) -> list[Any]:
        """Return the images."""
        return [each for each in self._admin.sdk.image.images() if self.has(each.owner)]

    def computes(self) -> list[Any]:
        """Return Nova's records of the compute services."""
        found = self._admin.sdk.compute.services(binary='nova-compute')
        return [each for each in found if each.host in self.hosts]

    def processes(self) -> tuple[str, ...]:
        """Return the names of the processes that run, but for those of other sites."""
        hidden: set[str] = set()
        if not self._alone:
            own = services.of_climate(self._cloud)
            every = services.sites(self._cloud)
            hidden = {name for site in every for name in services.of_climate(site)} - set(own)
            hidden |= {
                services.compute(number)
                for number, host in enumerate(self._cloud.hosts, 1)
                if host not in self.hosts
            }
        return tuple(name for name in processes.running(self._cloud) if name not in hidden)

    def aggregates(self) -> Iterator[Any]:
        """Yield the name, zone, hosts and metadata of each aggregate."""
        closing = {aggregate_of(site) for site in services.sites(self._cloud)}
        for found in self._admin.sdk.compute.aggregates():
            metadata = dict(found.metadata or {})
            zone = metadata.pop('availability_zone', None) or ''
            hosts = self.hosts & set(found.hosts or ())
            common = found.name == self._cloud.freepool
            if found.name not in closing and (
                self._alone or common or hosts or self._projects & set(metadata.values())
            ):
                yield found.name, zone, tuple(sorted(hosts)), tuple(sorted(metadata.items()))

    def picture(self) -> Picture:
        """Return how it is now."""
        admin = self._admin
        return Picture(
            aggregates=tuple(sorted(self.aggregates())),
            servers=tuple(sorted(each.id for each in self.servers())),
            images=tuple(sorted(each.id for each in self.images())),
            ports=tuple(
                sorted(each.id for each in admin.sdk.network.ports() if self.has(each.project_id))
            ),
            computes=tuple(sorted((each.host, each.status) for each in self.computes())),
            reservable=tuple(sorted(host['hypervisor_hostname'] for host in admin.hosts())),
            leases=tuple(sorted(each['id'] for each in open_leases(admin))),
            processes=self.processes(),
        )


def open_leases(admin: Person) -> list[dict[str, Any]]:
    """Return the leases that are not over."""
    return [each for each in admin.leases() if each['status'] not in ('TERMINATED', 'ERROR')]


class House(fixtures.Fixture):
    """Puts the cloud back in order after a test, whatever became of it.

    :param before: how the cloud is known to be, if it is
    :param alone: whether all of the cloud is looked over, and not one site only
    :ivar before: how the cloud was
    :ivar ours: the hosts that are looked over
    :ivar in_order: whether the cloud was found as it had been
    :ivar at_end: what is to be done besides, once the hosts of the test are let go
    """

    def __init__(
        self, cloud: Cloud, admin: Person, *, before: Picture | None = None, alone: bool = False
    ) -> None:
        super().__init__()
        self._cloud = cloud
        self._admin = admin
        self._scope = Scope(cloud, admin, alone=alone)
        self._known = before
        self.ours = self._scope.hosts
        self.at_end: list[Callable[[], None]] = []
        self.in_order = False
        self._frozen: set[str] = set()
        self._disturbed: datetime.datetime | None = None

    def _setUp(self) -> None:
        self.before = self._known or self._scope.picture()
        # Each is tried, in this order, whatever becomes of the one before.
        steps = (
            self._restore,
            self._enable,
            self._remove_leases,
            self._remove_servers,
            self._remove_images,
            self._remove_hosts,
            self._do_the_rest,
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
            if name in self.before.processes and not processes.alive(self._cloud, name):
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
        for each in self._scope.computes():
            if each.status == 'disabled' and was.get(each.host) == 'enabled':
                compute.enable_service(each)
                enabled.add(each.host)

        def back() -> bool:
            hosts = self._admin.hosts()
            return all(host['reservable'] for host in hosts if host['service_name'] in enabled)

        # A manager looks for itself before it believes that a host is back.
        if enabled:
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
            found = [each for each in self._scope.servers() if each.id not in self.before.servers]
            for each in found:
                compute.delete_server(each, force=each.status == 'ERROR')
            return not found

        self._persist(remove, 'the servers of the test are gone')

    def _remove_images(self) -> None:
        for each in self._scope.images():
            if each.id not in self.before.images:
                self._admin.sdk.image.delete_image(each)

    def _remove_hosts(self) -> None:
        for host in self._admin.hosts():
            if host['hypervisor_hostname'] not in self.before.reservable:
                self._admin.unregister(host)

    def _do_the_rest(self) -> None:
        for each in self.at_end:
            each()

    def _compare(self) -> None:
        """Complain of what is not as it was; what goes by itself has a while to go."""
        try:
            until(lambda: self._scope.picture() == self.before, 15.0, 'as before')
            self.in_order = True
        except AssertionError:
            self._complain()

    def _complain(self) -> None:
        after = dataclasses.asdict(self._scope.picture())
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
