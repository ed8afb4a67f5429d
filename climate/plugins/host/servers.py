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

"""Servers on hosts that are given up, given back or taken.

A manager can hang in any call, and go on when another one has ended the lease
and the next tenant is there. So nothing is deleted for what was seen a while
ago: what makes a server one that has to go is looked at right before each
deletion.
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

LOG = logging.getLogger(__name__)


def service_host(resource: Resource) -> str:
    """Return the name under which aggregates know a host."""
    return str(resource.attributes.get('service_name') or resource.name)


def servers_on(cloud: Cloud, host: str, project_id: str) -> str:
    """Say which servers are on a service host; '' if there are none.

    :param project_id: whose servers are named; others are counted only
    """
    found = cloud.compute.list_servers(host)
    mine = [server.id for server in found if server.project_id == project_id]
    others = len(found) - len(mine)
    return ', '.join([*mine, *([f'{others} of other projects'] if others else [])])


def empty(work: contract.Work, cloud: Cloud, hosts: Iterable[str]) -> list[Server]:
    """See to it that nothing runs on hosts that are to be given up.

    :returns: servers that are still going
    :raises climate.exceptions.Permanent: if something runs and must not go
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
    """Ask for the deletion of the project's servers on a host of its lease.

    Those of other projects are not the lease's to delete.

    :returns: servers that are still there
    :raises climate.exceptions.Transient: if the host is in the reservation's
        aggregate no longer, or servers of other projects are in the way
    """
    project_id = work.lease.project_id
    found = _running(work, cloud, host, lambda _server: True)
    mine = [server for server in found if server.project_id == project_id]
    if found and not mine:
        # Operators find in the log what the lease's owner is not to know.
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
    """Ask for the deletion of what other projects run on a host of the pool.

    :param is_leased: looks whether another lease has the host
    :returns: servers that are still there
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
    """Look whether a host is in the reservation's aggregate."""
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
    # Nova gives a hypervisor and its provider the same id.
    return str(resource.attributes['hypervisor_id'])


def _hidden(cloud: Cloud, host: str, provider: str) -> Iterator[Server]:
    """Yield the servers that hold something of a host, listed or not.

    Nova's lists leave out those of a cell that does not answer just now, and
    those that the scheduler has sent to the host and that are under way.
    Placement knows what they hold. It may know of holders that are long gone,
    or that are no servers, as well: those do not count.
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

    :raises climate.exceptions.HostHavingServers: naming them
    """
    host = service_host(resource)
    servers = cloud.compute.list_servers(host) or _hidden(cloud, host, _provider(resource))
    ids = ', '.join(server.id for server in servers)
    if ids:
        raise exceptions.HostHavingServers(servers=ids, host=resource.name)
