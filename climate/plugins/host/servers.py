# SPDX-License-Identifier: Apache-2.0

"""Servers on hosts that enter or leave a reservation.

A manager can hang in any call and continue after another one has ended the lease and
the next lease has started. Therefore no deletion relies on an earlier look: the
condition under which a server may be deleted is checked right before each deletion.

Nova lists servers by service host, and one nova-compute can serve many nodes, as with
Ironic. Only the servers of a node that is leased are touched, see
:mod:`climate.plugins.host.nodes`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator

from climate import exceptions
from climate.cloud.base import Cloud
from climate.cloud.base import CloudNotFound
from climate.cloud.base import Server
from climate.domain.resources import Resource
from climate.plugins import contract
from climate.plugins.host import errors
from climate.plugins.host import nodes
from climate.plugins.host.nodes import service_host

LOG = logging.getLogger(__name__)


def servers_on(work: contract.Work, cloud: Cloud, host: str) -> str:
    """List the servers that keep a host in a reservation; '' if there are none.

    Servers of other projects, and those on other nodes of the same nova-compute, are
    only counted.
    """
    parts = _split(work, cloud, host)
    mine = [server.id for server in parts.here if server.project_id == work.lease.project_id]
    others = len(parts.here) - len(mine)
    counted = {'of other projects': others, 'on other nodes': len(parts.elsewhere)}
    return ', '.join([*mine, *(f'{count} {which}' for which, count in counted.items() if count)])


def empty(work: contract.Work, cloud: Cloud, hosts: Iterable[str]) -> list[Server]:
    """Make sure that nothing runs on hosts that leave the reservation.

    :returns: servers whose deletion is not finished
    :raises climate.exceptions.Permanent: if servers run that must not be deleted
    """
    if work.forced:
        here = sorted(host for host in hosts if _has(work, cloud, host))
        return [server for host in here for server in clear(work, cloud, host)]
    for host in sorted(hosts):
        running = servers_on(work, cloud, host)
        if running:
            raise exceptions.Permanent(f'servers run on {host}: {running}')
    return []


def clear(work: contract.Work, cloud: Cloud, host: str) -> list[Server]:
    """Delete the project's servers on a host of its lease.

    Servers of other projects, and on other nodes, are never deleted.

    :returns: servers whose deletion is not finished
    :raises climate.exceptions.Transient: if the host is no longer in the
        reservation's aggregate, or only servers that are not deleted are left
    """
    project_id = work.lease.project_id
    running = _running(work, cloud, host, lambda _server: True)
    mine = [server for server in running if server.project_id == project_id]
    if running and not mine:
        # Operators find the ids in the log; the owner of the lease must not see them.
        ids = ', '.join(server.id for server in running)
        LOG.warning('Servers of other projects run on host %s: %s', host, ids)
        raise exceptions.Transient(f'servers of other projects run on host {host}')
    for server in mine:
        if server.task_state != 'deleting':
            if not _has(work, cloud, host):
                raise exceptions.Transient(f'host {host} has left the aggregate of the lease')
            cloud.compute.delete_server(server.id)
    if not mine:
        _refuse_elsewhere(work, cloud, host)
    return mine


def evict(
    work: contract.Work, cloud: Cloud, host: str, is_leased: Callable[[], bool]
) -> list[Server]:
    """Delete the servers of other projects on a host of the pool.

    :param is_leased: checks whether another lease has the host
    :returns: servers whose deletion is not finished
    :raises climate.exceptions.Transient: if another lease has the host, or servers run
        on other nodes of the same nova-compute, which are not deleted
    """
    _refuse_elsewhere(work, cloud, host)
    project_id = work.lease.project_id
    servers = _running(work, cloud, host, lambda server: server.project_id != project_id)
    for server in servers:
        if server.task_state != 'deleting':
            if is_leased():
                raise exceptions.Transient(f'host {host} is in the aggregate of another lease')
            cloud.compute.delete_server(server.id)
    return servers


def foreign(work: contract.Work, cloud: Cloud, host: str) -> list[Server]:
    """Return the servers of other projects on a host, as far as Nova lists them."""
    here = _split(work, cloud, host).here
    return [server for server in here if server.project_id != work.lease.project_id]


def _has(work: contract.Work, cloud: Cloud, host: str) -> bool:
    """Whether a host is in the reservation's aggregate."""
    aggregate = cloud.compute.find_aggregate(work.reservation.id)
    return aggregate is not None and host in aggregate.hosts


def _running(
    work: contract.Work, cloud: Cloud, host: str, wanted: Callable[[Server], bool]
) -> list[Server]:
    servers = list(filter(wanted, _split(work, cloud, host).here))
    for resource in work.resources:
        if not servers and service_host(resource) == host:
            servers = list(filter(wanted, _hidden(cloud, host, _provider(resource))))
    return servers


def _split(work: contract.Work, cloud: Cloud, host: str) -> nodes.Split:
    return nodes.split(cloud, host, nodes.leased(work, cloud, host))


def _refuse_elsewhere(work: contract.Work, cloud: Cloud, host: str) -> None:
    elsewhere = _split(work, cloud, host).elsewhere
    if elsewhere:
        names = sorted({server.hypervisor_hostname for server in elsewhere})
        raise exceptions.Transient(
            f'servers run on nodes of nova-compute {host} that are not leased: {", ".join(names)}'
        )


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
    shown = nodes.split(cloud, host, {resource.name}).here
    servers = shown or _hidden(cloud, host, _provider(resource))
    ids = ', '.join(server.id for server in servers)
    if ids:
        raise errors.HostHavingServers(servers=ids, host=resource.name)
