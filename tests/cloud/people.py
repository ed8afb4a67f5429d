# SPDX-License-Identifier: Apache-2.0
"""Users of the cloud: what each sees and does through a login of its own."""

from __future__ import annotations

import collections
import datetime
from typing import Any

import openstack
from keystoneauth1 import adapter

from tests.cloud.waiting import until
from tools.cloud.state import Cloud

# When a request to Climate is given up, in seconds. How long one takes is measured
# by the benchmarks.
PATIENCE = 60.0


def now() -> datetime.datetime:
    """Return the present instant."""
    return datetime.datetime.now(datetime.UTC)


def within(seconds: float) -> datetime.datetime:
    """Return the instant that is so many seconds away."""
    return now() + datetime.timedelta(seconds=seconds)


# How long the last requests to Climate took, in seconds.
_took: collections.deque[float] = collections.deque([0.0], maxlen=8)


def soon(seconds: float) -> datetime.datetime:
    """Return the instant that is so many seconds away, or more on a machine that is busy.

    A requested date must not be past when the request arrives.
    """
    return within(seconds + 3 * max(_took))


def time(text: str) -> datetime.datetime:
    """Return a time that an answer has, at any microversion."""
    return datetime.datetime.fromisoformat(text.removesuffix('Z')).replace(tzinfo=datetime.UTC)


class Person:
    """A user who is logged in to one project.

    :ivar sdk: the connection of openstacksdk
    """

    def __init__(self, cloud: Cloud, name: str) -> None:
        self._cloud = cloud
        self.name = name
        self.project = cloud.project(name)
        auth = {'username': cloud.account(name), 'password': cloud.password}
        auth |= {'auth_url': cloud.auth_url, 'project_name': self.project}
        auth |= {'user_domain_name': 'Default', 'project_domain_name': 'Default'}
        nothing_else = {'load_yaml_config': False, 'load_envvars': False}
        versions = {'region_name': cloud.region, 'compute_api_version': '2.53'}
        self.sdk = openstack.connect(auth=auth, **versions, **nothing_else)
        # Found through the catalogue, as clients do; each request is sent once.
        service = {'service_type': 'reservation', 'interface': 'public'}
        plain = {'raise_exc': False, 'connect_retries': 0, 'region_name': cloud.region}
        self._reservation = adapter.Adapter(self.sdk.session, **service, **plain)

    @property
    def project_id(self) -> str:
        """Return the id of the project."""
        return str(self.sdk.current_project_id)

    # -- Climate

    def call(self, method: str, path: str, body: Any = None, *, version: str = '1.1') -> Any:
        """Send a request to Climate and return the response, whatever it says."""
        began = now()
        try:
            named = {'OpenStack-API-Version': f'reservation {version}'}
            facts = {'json': body, 'headers': named, 'timeout': PATIENCE}
            return self._reservation.request(path, method, **facts)
        finally:
            _took.append((now() - began).total_seconds())

    def _done(self, status: int, method: str, path: str, body: Any = None) -> Any:
        response = self.call(method, path, body)
        if response.status_code != status:
            raise AssertionError(f'{method} {path}: {response.status_code} {response.text}')
        return response.json() if response.content else None

    def create_lease(self, body: dict[str, Any]) -> dict[str, Any]:
        """Book a lease.

        :raises AssertionError: if it is refused; the same below
        """
        return self._done(201, 'POST', '/leases', body)['lease']

    def lease(self, lease_id: str) -> dict[str, Any]:
        """Return a lease."""
        return self._done(200, 'GET', f'/leases/{lease_id}')['lease']

    def leases(self) -> list[dict[str, Any]]:
        """Return the first page of those that may be seen: all, for the administrator."""
        return self._done(200, 'GET', '/leases?limit=1000')['leases']

    def knows(self, lease_id: str) -> bool:
        """Return whether there is such a lease."""
        response = self.call('GET', f'/leases/{lease_id}')
        if response.status_code not in (200, 404):
            raise AssertionError(f'{lease_id}: {response.status_code} {response.text}')
        return response.status_code == 200

    def update_lease(self, lease_id: str, **changes: Any) -> dict[str, Any]:
        """Change a lease."""
        return self._done(200, 'PUT', f'/leases/{lease_id}', changes)['lease']

    def delete_lease(self, lease_id: str) -> None:
        """Delete a lease; it may be there for a while yet."""
        self._done(204, 'DELETE', f'/leases/{lease_id}')

    def hosts(self) -> list[dict[str, Any]]:
        """Return the registered hosts."""
        return self._done(200, 'GET', '/os-hosts')['hosts']

    def register(self, host: str) -> dict[str, Any]:
        """Make a host reservable."""
        return self._done(201, 'POST', '/os-hosts', {'name': host})['host']

    def unregister(self, host: dict[str, Any]) -> None:
        """Let a host go."""
        self._done(204, 'DELETE', f'/os-hosts/{host["id"]}')

    # -- servers

    def boot(
        self, name: str, *, reservation: str | None = None, network: bool = False, **hints: Any
    ) -> str:
        """Ask for a server and return its id.

        :param reservation: the id that is given as a hint to the scheduler
        :param network: give it a port; most tests have no use for one
        :param hints: further hints
        """
        if reservation is not None:
            hints['reservation'] = reservation
        cloud = self._cloud
        wires: Any = 'none'
        if network:
            wires = [{'uuid': self.sdk.network.find_network(cloud.network).id}]
        return self.sdk.compute.create_server(
            name=name,
            flavor_id=self.sdk.compute.find_flavor(cloud.flavor).id,
            image_id=self.sdk.image.find_image(cloud.image).id,
            networks=wires,
            scheduler_hints=hints,
        ).id

    def status(self, server_id: str) -> str:
        """Return the status of a server; GONE if there is none."""
        try:
            return str(self.sdk.compute.get_server(server_id).status)
        except openstack.exceptions.NotFoundException:
            return 'GONE'

    def settled(self, server_id: str, seconds: float = 60.0) -> str:
        """Return the status of a server as soon as it has been built, or has not."""
        return until(
            lambda: status if (status := self.status(server_id)) != 'BUILD' else None,
            seconds,
            f'{server_id} is built',
        )
