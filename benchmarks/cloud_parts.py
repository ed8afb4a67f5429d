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
"""Deploys Climate for the benchmark on the test cloud."""

from __future__ import annotations

import contextlib
import datetime
import pathlib
import re
import tempfile
from collections.abc import Iterator
from typing import Any

import requests
import sqlalchemy as sa
from keystoneauth1 import identity
from keystoneauth1 import session as ksa_session
from oslo_config import cfg

from climate import conf as climate_conf
from climate.clients import real
from climate.clients.base import Compute
from climate.clock import SystemClock
from climate.cmd import config
from climate.db import migration
from climate.db.store import Store
from tests.contract.proxy import FaultProxy
from tests.functional import processes as commands
from tools.cloud import processes
from tools.cloud.errors import CloudError
from tools.cloud.state import Cloud

HOSTS = 3
NAME = 'climate_bench'
_VERSION = {'OpenStack-API-Version': 'reservation 1.1'}
_FORMAT = '%Y-%m-%dT%H:%M:%S.%fZ'
_OTHERS = re.compile(r'climate-(api|manager)')
_CLIMATE = """
[DEFAULT]
transport_url = {cloud.transport_url}
[database]
connection = {database}
[manager]
rpc_topic = {name}
[keystone_authtoken]
www_authenticate_uri = {cloud.auth_url}
memcached_servers = {cloud.memcached}
service_token_roles = service
service_token_roles_required = true
{login}
[nova]
region_name = {cloud.region}
endpoint_override = {nova}
aggregate_freepool_name = {name}
{login}
[placement]
region_name = {cloud.region}
[oslo_messaging_notifications]
driver = messagingv2
[oslo_messaging_rabbit]
rabbit_quorum_queue = false
"""
_LOGIN = """auth_type = password
auth_url = {cloud.auth_url}
username = climate
password = {cloud.password}
project_name = service
user_domain_name = Default
project_domain_name = Default
"""


class Arrivals(FaultProxy):
    """A proxy in front of Nova that records the time of each request."""

    def __init__(self, target: str) -> None:
        self.at: list[datetime.datetime] = []
        super().__init__(target)

    def noted(self, line: str, token: str | None) -> Any:
        """Record the time of a request."""
        self.at.append(SystemClock().now())
        return super().noted(line, token)


class Service:
    """A client of the measured deployment, for a user and an administrator.

    :ivar hosts: the names of the hosts that can be reserved
    """

    def __init__(self, cloud: Cloud, url: str, nova: Arrivals, hosts: list[str]) -> None:
        self.hosts = hosts
        self._url = url
        self._nova = nova
        self._clock = SystemClock()
        self._user = _session(cloud, 'alice', cloud.users['alice'])
        self._admin = _session(cloud, 'admin', 'admin')
        self._token = self._user.get_token()

    def now(self) -> datetime.datetime:
        """Return the present instant."""
        return self._clock.now()

    def nova_calls(self) -> list[datetime.datetime]:
        """Return the times of all calls to Nova, in order."""
        return sorted(self._nova.at)

    def register(self) -> None:
        """Register the hosts."""
        for host in self.hosts:
            self._admin.post(f'{self._url}/os-hosts', json={'name': host})

    def ask(
        self, begin: datetime.datetime, length: datetime.timedelta, **reservation: str
    ) -> requests.Response:
        """Request a lease of one host, on a new connection."""
        wanted = {'resource_type': 'physical:host', 'min': 1, 'max': 1, **reservation}
        body = {
            'name': 'bench',
            'start_date': begin.strftime(_FORMAT),
            'end_date': (begin + length).strftime(_FORMAT),
            'reservations': [wanted],
        }
        headers = {**_VERSION, 'X-Auth-Token': self._token or ''}
        return requests.post(f'{self._url}/leases', json=body, headers=headers, timeout=60)

    def create(self, begin: datetime.datetime, length: datetime.timedelta) -> dict[str, Any]:
        """Create a lease of one host and return it.

        :raises CloudError: if it is refused
        """
        answer = self.ask(begin, length)
        if answer.status_code != requests.codes.created:
            raise CloudError(f'no lease: {answer.status_code} {answer.text}')
        lease: dict[str, Any] = answer.json()['lease']
        return lease

    def leases(self) -> list[dict[str, Any]]:
        """Return all leases."""
        found: list[dict[str, Any]] = self._user.get(f'{self._url}/leases').json()['leases']
        return found

    def lease(self, lease_id: str) -> dict[str, Any]:
        """Return one lease."""
        found: dict[str, Any] = self._user.get(f'{self._url}/leases/{lease_id}').json()['lease']
        return found

    def delete(self, lease_id: str) -> None:
        """Delete a lease."""
        self._user.delete(f'{self._url}/leases/{lease_id}')


@contextlib.contextmanager
def deployment(cloud: Cloud) -> Iterator[Service]:
    """Run one API process and one manager on the cloud, instead of the existing ones.

    :raises CloudError: if there are not enough unused hosts
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(_without_others(cloud))
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        nova = Arrivals(f'{cloud.url("nova-api")}/v2.1')
        stack.callback(nova.close)
        conf = _write(cloud, nova, folder / 'climate.conf')
        stack.callback(_forget, cloud)
        hosts = _make(cloud, conf)
        compute = real.connect(_configuration(conf)).compute
        stack.callback(_clean, compute)
        compute.create_aggregate(NAME, None)
        port = commands.free_port()
        url = f'http://127.0.0.1:{port}'
        words = ('--config-file', str(conf))
        for name, *more in (('climate-api', '--port', str(port)), ('climate-manager',)):
            stack.enter_context(commands.Command(name, *words, *more, folder=folder))
        commands.until('the API answers', lambda: _answers(f'{url}/healthcheck'))
        service = Service(cloud, f'{url}/v1', nova, hosts)
        service.register()
        yield service


@contextlib.contextmanager
def _without_others(cloud: Cloud) -> Iterator[None]:
    """Stop the Climate processes of the cloud, and restart them at the end."""
    names = [name for name in processes.running(cloud) if _OTHERS.match(name)]
    for name in names:
        processes.stop(cloud, name)
    try:
        yield
    finally:
        for name in names:
            processes.start(cloud, name)


def _session(cloud: Cloud, user: str, project: str) -> ksa_session.Session:
    auth = identity.V3Password(
        auth_url=cloud.auth_url,
        username=user,
        password=cloud.password,
        project_name=project,
        user_domain_name='Default',
        project_domain_name='Default',
    )
    return ksa_session.Session(auth=auth, timeout=60)


def _write(cloud: Cloud, nova: Arrivals, path: pathlib.Path) -> pathlib.Path:
    login = _LOGIN.format(cloud=cloud)
    text = _CLIMATE.format(
        cloud=cloud, database=cloud.database(NAME), name=NAME, login=login, nova=nova.url
    )
    path.write_text(text)
    return path


def _configuration(path: pathlib.Path) -> cfg.ConfigOpts:
    conf = cfg.ConfigOpts()
    climate_conf.register_opts(conf)
    conf([], default_config_files=[str(path)])
    return conf


def _server(cloud: Cloud) -> sa.Engine:
    return sa.create_engine(cloud.database('climate'))


def _forget(cloud: Cloud) -> None:
    with _server(cloud).begin() as connection:
        connection.execute(sa.text(f'DROP DATABASE IF EXISTS {NAME}'))


def _make(cloud: Cloud, path: pathlib.Path) -> list[str]:
    """Create the database, and return unused hosts."""
    _forget(cloud)
    with _server(cloud).begin() as connection:
        connection.execute(sa.text(f'CREATE DATABASE {NAME} CHARACTER SET utf8mb4'))
    conf = config.new_conf()
    conf([], project='climate', default_config_files=[str(path)])
    store = Store(conf, SystemClock())
    migration.sync(store.engine)
    store.close()
    compute = real.connect(_configuration(path)).compute
    _clean(compute)
    taken = {host for aggregate in compute.list_aggregates() for host in aggregate.hosts}
    free = [host for host in cloud.hosts if host not in taken and not compute.list_servers(host)]
    if len(free) < HOSTS:
        raise CloudError(
            f'{HOSTS} hosts without servers are needed that are in no aggregate, and there are '
            f'{len(free)} of {len(cloud.hosts)}'
        )
    return free[:HOSTS]


def _clean(compute: Compute) -> None:
    """Remove the freepool of the benchmark."""
    pool = compute.find_aggregate(NAME)
    if pool is not None:
        for host in pool.hosts:
            compute.remove_host(pool.id, host)
        compute.delete_aggregate(pool.id)


def _answers(url: str) -> bool:
    try:
        return requests.get(url, timeout=5).ok
    except requests.RequestException:
        return False
