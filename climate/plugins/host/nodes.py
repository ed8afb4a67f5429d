# SPDX-License-Identifier: Apache-2.0

"""Nodes: the hypervisors of Nova, by the names that Nova gives to them.

Aggregates know a machine by its *service host*, the host of its nova-compute. Placement,
and Climate, know it by its *hypervisor hostname*. One nova-compute can serve many nodes,
as with Ironic, and no aggregate can separate them: who gets one gets all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from climate import exceptions
from climate.cloud.base import Aggregate
from climate.cloud.base import Cloud
from climate.cloud.base import Server
from climate.domain.resources import Resource
from climate.plugins import contract
from climate.plugins.host import errors

# How many nodes a sentence names.
_NAMED = 3


def service_host(resource: Resource) -> str:
    """Return the name of a host in aggregates."""
    return str(resource.attributes.get('service_name') or resource.name)


def served_by(cloud: Cloud, host: str) -> list[str]:
    """Return the hypervisor hostnames of a service host, in alphabetical order."""
    hypervisors = cloud.compute.list_hypervisors()
    return sorted(item.hostname for item in hypervisors if item.service_host == host)


def named(names: Iterable[str]) -> str:
    """Return a list of nodes for a sentence; of many, the first ones and their number."""
    names = list(names)
    rest = len(names) - _NAMED
    return ', '.join([*names[:_NAMED], *([f'{rest} more'] if rest > 0 else [])])


def trouble(host: str, name: str, names: Sequence[str], zones: Iterable[Aggregate]) -> str:
    """Return why a lease of a host would not be isolated; '' if it would.

    :param host: its service host
    :param name: its hypervisor hostname
    :param names: the hypervisor hostnames that the service host has in Nova
    :param zones: the aggregates that put it into a zone, see :func:`zoned`
    """
    others = [other for other in names if other != name]
    if others and name not in names:
        return f'Nova now calls the host of nova-compute {host} {named(others)}'
    if others:
        return f'nova-compute {host} also serves {named(others)}'
    for aggregate in zones:
        zone = aggregate.availability_zone
        return f'aggregate {aggregate.name} puts it into availability zone {zone}'
    return ''


def refuse_shared(cloud: Cloud, resource: Resource) -> None:
    """Refuse to give a host to a lease if Nova would give it other nodes as well.

    :raises climate.exceptions.ResourceUnusable: if its nova-compute serves other nodes,
        which includes the same machine under a new name
    """
    host = service_host(resource)
    names = served_by(cloud, host)
    others = [name for name in names if name != resource.name]
    if others:
        raise exceptions.ResourceUnusable(
            f'nova-compute {host} of host {resource.name} serves other nodes, '
            f'which an aggregate cannot separate from it: {named(others)}',
            resource_id=resource.id,
            reason=trouble(host, resource.name, names, ()),
        )


def refuse_place(cloud: Cloud, resource: Resource, freepool: str) -> None:
    """Refuse to register a host that leases could not isolate.

    :param freepool: the name of the aggregate of reservable hosts
    :raises climate.plugins.host.errors.HostShared: if its nova-compute serves other nodes
    :raises climate.plugins.host.errors.HostInZone: if it is in an availability zone, or
        would be in that of the pool
    """
    host = service_host(resource)
    others = [name for name in served_by(cloud, host) if name != resource.name]
    if others:
        raise errors.HostShared(host=resource.name, service=host, nodes=named(others))
    for aggregate in zoned(cloud.compute.list_aggregates(), host, freepool):
        raise errors.HostInZone(
            host=resource.name, aggregate=aggregate.name, zone=aggregate.availability_zone
        )


def zoned(aggregates: Iterable[Aggregate], host: str, freepool: str) -> list[Aggregate]:
    """Return the aggregates that put a service host of the pool into a zone."""
    return [
        item
        for item in aggregates
        if item.availability_zone is not None and (host in item.hosts or item.name == freepool)
    ]


def leased(work: contract.Work, cloud: Cloud, host: str) -> AbstractSet[str]:
    """Return the nodes of a service host whose servers an effect may delete.

    A host that is in the aggregate of the lease by mistake has no record: it counts if
    its nova-compute serves no other node.
    """
    known = {resource.name for resource in work.resources if service_host(resource) == host}
    if known:
        return known
    hostnames = served_by(cloud, host)
    return frozenset(hostnames) if len(hostnames) == 1 else frozenset()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Split:
    """The servers of a service host: on the nodes in question, and on others."""

    here: tuple[Server, ...]
    elsewhere: tuple[Server, ...]


def split(cloud: Cloud, host: str, names: AbstractSet[str]) -> Split:
    """Return the servers of a service host, divided by their nodes.

    :param names: the hypervisor hostnames of the nodes in question
    """
    return divide(cloud, cloud.compute.list_servers(host), host, names)


def divide(cloud: Cloud, servers: tuple[Server, ...], host: str, names: AbstractSet[str]) -> Split:
    """Divide *servers*, servers of a service host, by their nodes; see :func:`split`."""
    if all(server.hypervisor_hostname in names for server in servers):
        return Split(here=servers, elsewhere=())
    hypervisors = cloud.compute.list_hypervisors()
    alone = {item.hostname for item in hypervisors if item.service_host == host} <= names
    known = {item.hostname for item in hypervisors} - names

    def is_here(server: Server) -> bool:
        node = server.hypervisor_hostname
        # A server that is older than the last change of the name has a node that Nova
        # no longer knows.
        return node in names or (alone and bool(names) and node != '' and node not in known)

    here = tuple(server for server in servers if is_here(server))
    return Split(here=here, elsewhere=tuple(server for server in servers if server not in here))
