# SPDX-License-Identifier: Apache-2.0

"""How Nova and Placement have the registered hosts now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Sequence

from climate.cloud.base import Cloud
from climate.cloud.base import Hypervisor
from climate.domain.resources import Resource
from climate.plugins.host import nodes
from climate.plugins.host import providers
from climate.plugins.host.names import RESOURCE_TYPE
from climate.plugins.outcomes import Reported

COMPARED = ('vcpus', 'memory_mb', 'local_gb', 'hypervisor_type', 'service_name')
"""What matters to leases; ``cpu_info`` and the version change with every update."""


def described(cloud: Cloud, hypervisor: Hypervisor) -> Resource:
    """Return a host as Nova and Placement describe it."""
    provider = cloud.placement.find_provider(hypervisor.hostname)
    return Resource(
        resource_type=RESOURCE_TYPE,
        name=hypervisor.hostname,
        inventories=() if provider is None else providers.stock(cloud, provider),
        traits=frozenset() if provider is None else cloud.placement.traits(provider.uuid),
        attributes={
            'hypervisor_id': hypervisor.id,
            'hypervisor_hostname': hypervisor.hostname,
            'hypervisor_type': hypervisor.hypervisor_type,
            'hypervisor_version': hypervisor.hypervisor_version,
            'vcpus': hypervisor.vcpus,
            'memory_mb': hypervisor.memory_mb,
            'local_gb': hypervisor.local_gb,
            'cpu_info': hypervisor.cpu_info,
            'service_name': hypervisor.service_host,
            'availability_zone': hypervisor.availability_zone,
        },
    )


class HostReports:
    """Reads Nova's hypervisors and aggregates once, for any number of hosts.

    :param freepool: the name of the aggregate of reservable hosts
    :param zone_prefix: with which the zones of leases begin
    """

    def __init__(self, cloud: Cloud, freepool: str, zone_prefix: str) -> None:
        self._cloud = cloud
        self._freepool = freepool
        self._hypervisors = {item.hostname: item for item in cloud.compute.list_hypervisors()}
        self._nodes: dict[str, list[str]] = defaultdict(list)
        for item in self._hypervisors.values():
            self._nodes[item.service_host].append(item.hostname)
        self._aggregates = [
            item
            for item in cloud.compute.list_aggregates()
            if item.availability_zone != zone_prefix + item.name
        ]

    def of(self, resources: Sequence[Resource]) -> Iterator[Reported]:
        """Yield how the cloud has each host, but nothing about hosts that are gone.

        The health check handles these.
        """
        for resource in resources:
            hypervisor = self._hypervisors.get(resource.name)
            host = nodes.service_host(resource)
            if hypervisor is not None:
                yield Reported(
                    known=resource,
                    now=described(self._cloud, hypervisor),
                    trouble=self._trouble(hypervisor),
                    works=(hypervisor.state, hypervisor.status) == ('up', 'enabled'),
                )
            elif self._nodes.get(host):
                trouble = nodes.trouble(host, resource.name, sorted(self._nodes[host]), ())
                yield Reported(known=resource, trouble=trouble, works=False)

    def _trouble(self, hypervisor: Hypervisor) -> str:
        host = hypervisor.service_host
        zones = nodes.zoned(self._aggregates, host, self._freepool)
        return nodes.trouble(host, hypervisor.hostname, sorted(self._nodes[host]), zones)
