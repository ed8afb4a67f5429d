# SPDX-License-Identifier: Apache-2.0

"""The slots of a reservation of instances: its aggregate, and its units in Placement.

A host joins the reservation's aggregate before it gets units in Placement, and
leaves it after the units are removed. So if a process dies half-way, the aggregate
names the hosts to check. The hosts stay in the pool all the time, which keeps off
all servers without a slot.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from collections.abc import Mapping

from climate import exceptions
from climate.cloud.base import Aggregate
from climate.cloud.base import as_transient
from climate.cloud.base import Cloud
from climate.cloud.base import CloudConflict
from climate.cloud.base import CloudNotFound
from climate.domain.resources import Inventory
from climate.domain.resources import Resource
from climate.plugins import contract
from climate.plugins.host import isolation
from climate.plugins.host import nodes
from climate.plugins.host import pools
from climate.plugins.host import providers
from climate.plugins.host.facts import ReleaseFacts
from climate.plugins.host.nodes import service_host
from climate.plugins.host.pools import HostPools
from climate.plugins.host.pools import HostSettings
from climate.plugins.instance import names


class InstanceSlots:
    """Creates, repairs and removes slots; every step can be repeated."""

    def __init__(self, settings: HostSettings) -> None:
        self._settings = settings
        self._pools = HostPools(settings)

    # -- the aggregate

    def aggregate(
        self, work: contract.Work, cloud: Cloud, group_id: str | None
    ) -> tuple[Aggregate, list[str]]:
        """Create or repair the reservation's aggregate; return it and the repairs, a line each."""
        name = work.reservation.id
        found = cloud.compute.find_aggregate(name)
        existing, repaired = pools.ensured(found, cloud, name, None)
        wanted = names.aggregate(name, work.lease.project_id, group_id, self._settings.owner_key)
        changes = names.changes(existing, wanted)
        if changes:
            cloud.compute.set_aggregate_metadata(existing.id, changes)
            repaired.append(
                f'aggregate {name} was not marked as it should be: {", ".join(sorted(changes))}'
            )
        return existing, repaired

    # -- what a host has

    def used(self, work: contract.Work, cloud: Cloud) -> dict[int, int]:
        """Return the number of slots in use, by resource id."""
        name = names.resource_class(work.reservation.id)
        return {
            resource.id or 0: providers.used(cloud, resource.name, name)
            for resource in work.resources
        }

    def totals(self, work: contract.Work, cloud: Cloud) -> dict[int, int]:
        """Return the number of slots in Placement, by resource id."""
        name = names.resource_class(work.reservation.id)
        return {resource.id or 0: _total(cloud, resource.name, name) for resource in work.resources}

    def spread(
        self, work: contract.Work, cloud: Cloud, aggregate: Aggregate, wanted: Mapping[int, int]
    ) -> list[str]:
        """Give each host the wanted number of slots, and all other hosts none.

        Slots are removed before others are added, so that there are never too many.

        :param wanted: slots by resource id
        :returns: the repairs, a line each
        :raises climate.exceptions.Transient: if a server takes a slot that is
            being removed
        """
        repaired = []
        for resource in work.resources:
            if not wanted.get(resource.id or 0):
                repaired += self._take(work, cloud, aggregate, resource)
        repaired += self._expel(work, cloud, aggregate)
        given = {
            resource.name: (service_host(resource), wanted[resource.id or 0])
            for resource in work.resources
            if wanted.get(resource.id or 0)
        }
        return repaired + self._give(work, cloud, aggregate, given)

    def _give(
        self,
        work: contract.Work,
        cloud: Cloud,
        aggregate: Aggregate,
        given: Mapping[str, tuple[str, int]],
    ) -> list[str]:
        """Give hosts their slots.

        :param given: service host and slots, by hypervisor hostname
        """
        # A host is out of the pool while Nova schedules a server to its room.
        released = {ReleaseFacts.of(each).released_host for each in work.lease.reservations}
        for resource in work.resources:
            if resource.name in given and service_host(resource) not in aggregate.hosts:
                nodes.refuse_shared(cloud, resource)
        hosts = {host for host, _ in given.values()} - released
        repaired = self._pools.keep_in_pool(cloud, hosts)
        name = names.resource_class(work.reservation.id)
        traits = isolation.of_provider(self._settings.isolation)
        lacking = {}
        for hypervisor, (host, count) in given.items():
            if host not in aggregate.hosts:
                cloud.compute.add_host(aggregate.id, host)
                repaired.append(f'host {host} was not in aggregate {aggregate.name}')
            provider, lines = providers.ensure(cloud, hypervisor, traits)
            repaired += lines
            wanted = Inventory(resource_class=name, total=count, max_unit=1)
            present = _of_class(cloud.placement.inventories(provider.uuid), name)
            if present != wanted:
                more = count - (present.total if present else 0)
                lacking[provider.uuid] = (more, wanted)
                repaired.append(f'host {host} did not have {count} slots')
        if lacking:
            cloud.placement.create_resource_class(name)
        # Hosts that lose slots come first, so that there are never too many.
        for uuid, (_, wanted) in sorted(lacking.items(), key=lambda item: item[1][0]):
            cloud.placement.set_inventory(uuid, wanted)
        return repaired

    def _take(
        self, work: contract.Work, cloud: Cloud, aggregate: Aggregate, resource: Resource
    ) -> list[str]:
        host = service_host(resource)
        if not _withdraw(cloud, resource, names.resource_class(work.reservation.id)):
            return []
        if host not in aggregate.hosts:
            return []
        cloud.compute.remove_host(aggregate.id, host)
        return [f'host {host} was in aggregate {aggregate.name}']

    def _expel(self, work: contract.Work, cloud: Cloud, aggregate: Aggregate) -> list[str]:
        """Remove hosts from the aggregate that have no part in the reservation.

        Some of them failed while their servers held slots: they stay until those
        servers are gone.
        """
        others = set(aggregate.hosts) - {service_host(each) for each in work.resources}
        name = names.resource_class(work.reservation.id)
        repaired = []
        for host, hypervisors in hypervisors_of(cloud, others).items():
            empty = [_empty(cloud, each, name) for each in sorted(hypervisors)]
            if all(empty):
                _remove_host(cloud, aggregate, host)
                repaired.append(f'host {host} was in aggregate {aggregate.name}')
        return repaired

    # -- the end

    def remove(
        self, work: contract.Work, cloud: Cloud, aggregate: Aggregate | None, *, leave_held: bool
    ) -> None:
        """Remove all slots, and the aggregate.

        :param leave_held: leave the slots that are still held
        :raises climate.exceptions.Transient: if a slot is held, unless *leave_held*
        """
        name = names.resource_class(work.reservation.id)
        tolerated = (CloudConflict,) if leave_held else ()
        with as_transient(CloudConflict):
            for host in scope(work, cloud, aggregate):
                provider = providers.find(cloud, host)
                if provider is not None:
                    with contextlib.suppress(*tolerated):
                        cloud.placement.remove_inventory(provider.uuid, name)
            with contextlib.suppress(*tolerated):
                _remove_class(cloud, name)
        if aggregate is not None:
            remove_aggregate(cloud, aggregate)


def scope(work: contract.Work, cloud: Cloud, aggregate: Aggregate | None) -> list[str]:
    """Return the hypervisors that may have slots of a reservation."""
    known = {resource.name for resource in work.resources}
    members = set(aggregate.hosts) if aggregate is not None else set()
    others = members - {service_host(resource) for resource in work.resources}
    names_by_host = hypervisors_of(cloud, others)
    return sorted(known.union(*names_by_host.values()))


def hypervisors_of(cloud: Cloud, hosts: Iterable[str]) -> dict[str, set[str]]:
    """Return the hypervisor hostnames of service hosts; none for one that is gone."""
    by_host: dict[str, set[str]] = {host: set() for host in sorted(hosts)}
    for hypervisor in cloud.compute.list_hypervisors() if by_host else ():
        if hypervisor.service_host in by_host:
            by_host[hypervisor.service_host].add(hypervisor.hostname)
    return by_host


def remove_aggregate(cloud: Cloud, aggregate: Aggregate) -> None:
    """Remove an aggregate; its hosts stay in the pool.

    :raises climate.exceptions.Transient: if another process adds a host at the same time
    """
    for host in aggregate.hosts:
        _remove_host(cloud, aggregate, host)
    with as_transient(CloudConflict):
        cloud.compute.delete_aggregate(aggregate.id)


def _remove_host(cloud: Cloud, aggregate: Aggregate, host: str) -> None:
    with contextlib.suppress(CloudNotFound):
        cloud.compute.remove_host(aggregate.id, host)


def _remove_class(cloud: Cloud, name: str) -> None:
    try:
        cloud.placement.delete_resource_class(name)
    except CloudConflict:
        # A host that has left the aggregate still has slots.
        for provider in cloud.placement.list_providers(prefix=providers.PREFIX):
            cloud.placement.remove_inventory(provider.uuid, name)
        cloud.placement.delete_resource_class(name)


def _inventory(cloud: Cloud, host: str, name: str) -> tuple[str, Inventory] | None:
    """Return the nested provider of a host and its inventory of a class."""
    provider = providers.find(cloud, host)
    if provider is None:
        return None
    with contextlib.suppress(CloudNotFound):
        inventory = _of_class(cloud.placement.inventories(provider.uuid), name)
        return None if inventory is None else (provider.uuid, inventory)
    return None


def _of_class(inventories: Iterable[Inventory], name: str) -> Inventory | None:
    return next((each for each in inventories if each.resource_class == name), None)


def _total(cloud: Cloud, host: str, name: str) -> int:
    stocked = _inventory(cloud, host, name)
    return 0 if stocked is None else stocked[1].total


def _empty(cloud: Cloud, host: str, name: str) -> bool:
    """Remove the free slots of a host; return whether none is left."""
    stocked = _inventory(cloud, host, name)
    if stocked is None:
        return True
    uuid, inventory = stocked
    used = cloud.placement.usages(uuid).get(name, 0)
    if not used:
        # A server may just have taken one.
        with as_transient(CloudConflict):
            cloud.placement.remove_inventory(uuid, name)
        return True
    if inventory.total > used:
        cloud.placement.set_inventory(uuid, Inventory(resource_class=name, total=used, max_unit=1))
    return False


def _withdraw(cloud: Cloud, resource: Resource, name: str) -> bool:
    """Remove the slots of a host; return whether it has none left.

    A failed host keeps the slots that its servers hold.

    :raises climate.exceptions.Transient: if a server on a working host holds one
    """
    if _empty(cloud, resource.name, name):
        return True
    if resource.failed_at is None:
        raise exceptions.Transient(f'a server holds a slot on host {resource.name}')
    return False
