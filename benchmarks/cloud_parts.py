# SPDX-License-Identifier: Apache-2.0
"""A client of the measured services, and what their deployments have in common."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import os
import pathlib
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

import requests
import sqlalchemy as sa
from keystoneauth1 import identity
from keystoneauth1 import session as ksa_session
from oslo_config import cfg

from benchmarks.cloud_statements import CountingProxy
from climate import conf as climate_conf
from climate.clock import SystemClock
from climate.cloud import real
from climate.cloud.base import Cloud as OpenStack
from climate.cloud.base import Compute
from tests.contract.proxy import FaultProxy
from tests.functional import processes as commands
from tools.cloud import processes
from tools.cloud.errors import CloudError
from tools.cloud.state import Cloud

HOSTS = 3
# Both understand this format, without seconds.
_FORMAT = '%Y-%m-%d %H:%M'
_PATIENCE = 300
LOGIN = """auth_type = password
auth_url = {cloud.auth_url}
username = climate
password = {cloud.password}
project_name = service
user_domain_name = Default
project_domain_name = Default
"""
"""Options with which a service logs in to Keystone."""


class Arrivals(FaultProxy):
    """A proxy in front of Nova that records when which request arrives."""

    def __init__(self, target: str) -> None:
        self.at: list[tuple[datetime.datetime, str]] = []
        super().__init__(target)

    def noted(self, line: str, token: str | None) -> Any:
        """Record the time of a request."""
        self.at.append((SystemClock().now(), line))
        return super().noted(line, token)

    def first_change(self, since: datetime.datetime) -> datetime.datetime | None:
        """Return when the first change of an aggregate arrived."""
        found = [at for at, line in self.at if at >= since and _changes(line)]
        return min(found, default=None)


def _changes(line: str) -> bool:
    return line.startswith('POST ') and '/os-aggregates' in line


@dataclasses.dataclass(frozen=True, kw_only=True)
class Watch:
    """What watches a service: proxies in front of Nova and of its database."""

    nova: Arrivals
    database: CountingProxy


class Service:
    """A client of one of the services, for a user and an administrator.

    :ivar hosts: the names of the hosts that can be reserved
    :ivar watch: what the service does in the meantime
    """

    def __init__(self, cloud: Cloud, url: str, watch: Watch, hosts: list[str]) -> None:
        self.hosts = hosts
        self.watch = watch
        self._url = url
        self._user = session(cloud, 'alice', cloud.users['alice'])
        self._admin = session(cloud, 'admin', 'admin')
        self._token = self._user.get_token()

    def now(self) -> datetime.datetime:
        """Return the present instant."""
        return SystemClock().now()

    def register(self) -> None:
        """Register the hosts."""
        for host in self.hosts:
            self._admin.post(f'{self._url}/os-hosts', json={'name': host})

    def unregister(self) -> None:
        """Unregister the hosts, so that the service leaves none in Placement."""
        for each in self._admin.get(f'{self._url}/os-hosts').json()['hosts']:
            self._admin.delete(f'{self._url}/os-hosts/{each["id"]}', raise_exc=False)

    def ask(
        self, begin: datetime.datetime, length: datetime.timedelta, host: str = ''
    ) -> requests.Response:
        """Request a lease of one host, on a new connection.

        :param host: the name of the host; '' for any
        """
        properties = f'["==", "$hypervisor_hostname", "{host}"]' if host else ''
        wanted = {
            'resource_type': 'physical:host',
            'min': 1,
            'max': 1,
            'hypervisor_properties': properties,
            'resource_properties': '',
        }
        body = {
            'name': f'bench {time.monotonic_ns()}',
            'start_date': begin.strftime(_FORMAT),
            'end_date': (begin + length).strftime(_FORMAT),
            'reservations': [wanted],
            'events': [],
        }
        return self._send('POST', '/leases', json=body)

    def create(self, begin: datetime.datetime, length: datetime.timedelta) -> str:
        """Create a lease of one host and return its id.

        :raises CloudError: if it is refused
        """
        answer = self.ask(begin, length)
        if answer.status_code != requests.codes.created:
            raise CloudError(f'no lease: {answer.status_code} {answer.text}')
        return str(answer.json()['lease']['id'])

    def leases(self) -> list[dict[str, Any]]:
        """Return all leases."""
        found: list[dict[str, Any]] = self._send('GET', '/leases').json()['leases']
        return found

    def status(self, lease_id: str) -> str:
        """Return the status of a lease; DELETED if there is none."""
        answer = self._send('GET', f'/leases/{lease_id}')
        if answer.status_code == requests.codes.not_found:
            return 'DELETED'
        return str(answer.json()['lease']['status'])

    def delete(self, lease_id: str) -> None:
        """Delete a lease."""
        self._send('DELETE', f'/leases/{lease_id}')

    def clear(self) -> None:
        """Delete all leases, and wait until they are gone.

        :raises CloudError: if they stay
        """
        deadline = time.monotonic() + _PATIENCE
        while found := self.leases():
            if time.monotonic() > deadline:
                raise CloudError(f'{len(found)} leases cannot be deleted')
            for lease in found:
                self.delete(lease['id'])
            time.sleep(0.5)

    def _send(self, method: str, path: str, **more: Any) -> requests.Response:
        headers = {'X-Auth-Token': self._token or ''}
        url = f'{self._url}{path}'
        return requests.request(method, url, headers=headers, timeout=_PATIENCE, **more)


@contextlib.contextmanager
def registered(service: Service) -> Iterator[None]:
    """Register the hosts of a service for a while."""
    try:
        service.register()
        yield
    finally:
        service.unregister()


@contextlib.contextmanager
def without_others(cloud: Cloud) -> Iterator[None]:
    """Stop the Climate processes of the cloud, and restart them at the end."""
    names = [name for name in processes.running(cloud) if name.startswith('climate-')]
    for name in names:
        processes.stop(cloud, name)
    try:
        yield
    finally:
        for name in names:
            processes.start(cloud, name)


@contextlib.contextmanager
def watched(cloud: Cloud, name: str) -> Iterator[Watch]:
    """Create a database *name*, and yield proxies in front of it and of Nova."""
    _drop(cloud, name)
    with _server(cloud).begin() as connection:
        connection.execute(sa.text(f'CREATE DATABASE {name} CHARACTER SET utf8mb4'))
    nova = Arrivals(f'{cloud.url("nova-api")}/v2.1')
    database = CountingProxy(cloud.database(name))
    try:
        yield Watch(nova=nova, database=database)
    finally:
        nova.close()
        database.close()
        _drop(cloud, name)


def _server(cloud: Cloud) -> sa.Engine:
    return sa.create_engine(cloud.database('climate'), poolclass=sa.NullPool)


def _drop(cloud: Cloud, name: str) -> None:
    with _server(cloud).begin() as connection:
        connection.execute(sa.text(f'DROP DATABASE IF EXISTS {name}'))


def openstack(cloud: Cloud) -> OpenStack:
    """Return the services of the cloud as an operator sees them."""
    conf = cfg.ConfigOpts()
    climate_conf.register_opts(conf)
    with tempfile.NamedTemporaryFile('w', suffix='.conf') as file:
        file.write(f'[nova]\nregion_name = {cloud.region}\n{LOGIN.format(cloud=cloud)}')
        file.flush()
        conf([], default_config_files=[file.name])
    return real.connect(conf)


@contextlib.contextmanager
def pool(cloud: Cloud, nova: Compute, name: str) -> Iterator[list[str]]:
    """Create an empty aggregate for the hosts that are not leased, and yield unused hosts.

    :raises CloudError: if there are not enough unused hosts
    """
    _clean(nova, name)
    taken = {host for aggregate in nova.list_aggregates() for host in aggregate.hosts}
    free = [host for host in cloud.hosts if host not in taken and not nova.list_servers(host)]
    if len(free) < HOSTS:
        raise CloudError(
            f'{HOSTS} hosts without servers are needed that are in no aggregate, and there are '
            f'{len(free)} of {len(cloud.hosts)}'
        )
    nova.create_aggregate(name, None)
    try:
        yield free[-HOSTS:]
    finally:
        _clean(nova, name)


def _clean(nova: Compute, name: str) -> None:
    found = nova.find_aggregate(name)
    if found is not None:
        for host in found.hosts:
            nova.remove_host(found.id, host)
        nova.delete_aggregate(found.id)


@contextlib.contextmanager
def process(
    folder: pathlib.Path, *argv: str | pathlib.Path, environment: Mapping[str, str] | None = None
) -> Iterator[None]:
    """Run a process with its output in *folder*; end it with its children."""
    log = folder / f'{pathlib.Path(argv[0]).name}.log'
    with log.open('ab') as output:
        running = subprocess.Popen(
            [str(word) for word in argv],
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**commands.clean_environment(), **(environment or {})},
            start_new_session=True,
        )
    try:
        yield
    finally:
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.wait(20)


def answers(url: str, *statuses: int) -> bool:
    """Whether an address answers with one of these statuses."""
    try:
        return requests.get(url, timeout=20).status_code in statuses
    except requests.RequestException:
        return False


def session(cloud: Cloud, user: str, project: str) -> ksa_session.Session:
    """Return a session of a user in a project."""
    auth = identity.V3Password(
        auth_url=cloud.auth_url,
        username=user,
        password=cloud.password,
        project_name=project,
        user_domain_name='Default',
        project_domain_name='Default',
    )
    return ksa_session.Session(auth=auth, timeout=_PATIENCE)
