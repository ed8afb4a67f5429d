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

"""Servers on hosts that enter or leave a reservation.

A manager can hang in any call and continue after another one has ended the lease and
the next lease has started. Therefore no deletion relies on an earlier look: the
condition under which a server may be deleted is checked right before each deletion.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator

from climate import exceptions
from climate.clients.base import Cloud
from climate.clients.base import CloudNotFound
from climate.clients.base import Server
from climate.domain.resources import Resource
from climate.plugins import contract
from climate.plugins.host import errors

LOG = logging.getLogger(__name__)


def service_host(resource: Resource) -> str:
    """Return the name of a host in aggregates."""
    return str(resource.attributes.get('service_name') or resource.name)


def servers_on(cloud: Cloud, host: str, project_id: str) -> str:
    """List the servers on a service host; '' if there are none.

    :param project_id: the project whose servers are named; others are only counted
    """
    found = cloud.compute.list_servers(host)
    mine = [server.id for server in found if server.project_id == project_id]
    others = len(found) - len(mine)
    return ', '.join([*mine, *([f'{others} of other projects'] if others else [])])


def empty(work: contract.Work, cloud: Cloud, hosts: Iterable[str]) -> list[Server]:
    """Make sure that nothing runs on hosts that leave the reservation.

    :returns: servers whose deletion is not finished
    :raises climate.exceptions.Permanent: if servers run that must not be deleted
    """
    if work.forced:
        here = sorted(host for host in hosts if _has(work, cloud, host))
        return [server for host in here for server in clear(work, cloud, host)]
    for host in sorted(hosts):
        running = servers_on(cloud, host, work.lease.project_id)
        if running:
            raise exceptions.Permanent(f'servers run on {host}: {running}')
    return []


def clear(work: contract.Work, cloud: Cloud, host: str) -> list[Server]:
    """Delete the project's servers on a host of its lease.

    Servers of other projects are never deleted.

    :returns: servers whose deletion is not finished
    :raises climate.exceptions.Transient: if the host is no longer in the
        reservation's aggregate, or only servers of other projects are left
    """
    project_id = work.lease.project_id
    found = _running(work, cloud, host, lambda _server: True)
    mine = [server for server in found if server.project_id == project_id]
    if found and not mine:
        # Operators find the ids in the log; the owner of the lease must not see them.
        ids = ', '.join(server.id for server in found)
        LOG.warning('Servers of other projects run on host %s: %s', host, ids)
        raise exceptions.Transient(f'servers of other projects run on host {host}')
    for server in mine:
        if server.task_state != 'deleting':
            if not _has(work, cloud, host):
                raise exceptions.Transient(f'host {host} has left the aggregate of the lease')
            cloud.compute.delete_server(server.id)
    return mine


def evict(
    work: contract.Work, cloud: Cloud, host: str, is_leased: Callable[[], bool]
) -> list[Server]:
    """Delete the servers of other projects on a host of the pool.

    :param is_leased: checks whether another lease has the host
    :returns: servers whose deletion is not finished
    :raises climate.exceptions.Transient: if another lease has the host
    """
    project_id = work.lease.project_id
    found = _running(work, cloud, host, lambda server: server.project_id != project_id)
    for server in found:
        if server.task_state != 'deleting':
            if is_leased():
                raise exceptions.Transient(f'host {host} is in the aggregate of another lease')
            cloud.compute.delete_server(server.id)
    return found


def _has(work: contract.Work, cloud: Cloud, host: str) -> bool:
    """Whether a host is in the reservation's aggregate."""
    aggregate = cloud.compute.find_aggregate(work.reservation.id)
    return aggregate is not None and host in aggregate.hosts


def _running(
    work: contract.Work, cloud: Cloud, host: str, wanted: Callable[[Server], bool]
) -> list[Server]:
    servers = list(filter(wanted, cloud.compute.list_servers(host)))
    for resource in work.resources:
        if not servers and service_host(resource) == host:
            servers = list(filter(wanted, _hidden(cloud, host, _provider(resource))))
    return servers


def _provider(resource: Resource) -> str:
    # A hypervisor in Nova and its provider in Placement have the same id.
    return str(resource.attributes['hypervisor_id'])


def _hidden(cloud: Cloud, host: str, provider: str) -> Iterator[Server]:
    """Yield the servers that have an allocation on a host, listed or not.

    Nova's lists omit the servers of a cell that is down, and those that are
    scheduled to the host and still being built. Placement has their allocations. It may
    also have allocations of consumers that no longer exist or are not servers; these
    are ignored.
    """
    try:
        holders = cloud.placement.allocations(provider)
    except CloudNotFound:
        return
    for holder in holders:
        server = cloud.compute.find_server(holder.consumer_id)
        if server is not None and server.host in ('', host):
            yield server


def refuse_servers(cloud: Cloud, resource: Resource) -> None:
    """Refuse a host on which servers run.

    :raises climate.plugins.host.errors.HostHavingServers: naming them
    """
    host = service_host(resource)
    servers = cloud.compute.list_servers(host) or _hidden(cloud, host, _provider(resource))
    ids = ', '.join(server.id for server in servers)
    if ids:
        raise errors.HostHavingServers(servers=ids, host=resource.name)
