# SPDX-License-Identifier: Apache-2.0

"""The aggregates of hosts: the pool, and one for each reservation."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from climate import exceptions
from climate.cloud.base import Aggregate
from climate.cloud.base import as_transient
from climate.cloud.base import Cloud
from climate.cloud.base import CloudConflict
from climate.cloud.base import CloudNotFound
from climate.cloud.base import Server
from climate.conf.settings import option
from climate.conf.settings import Settings
from climate.domain.history import EvictedServer
from climate.domain.leases import Allocation
from climate.domain.leases import AllocationState
from climate.domain.resources import Resource
from climate.plugins import contract
from climate.plugins.host import errors
from climate.plugins.host import isolation
from climate.plugins.host import nodes
from climate.plugins.host import servers as host_servers
from climate.plugins.host.isolation import Isolation
from climate.plugins.host.isolation import Marking
from climate.plugins.host.nodes import service_host

_FIRST_LOOK = datetime.timedelta(seconds=0.25)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class HostSettings(Settings):
    """The options of hosts.

    :ivar server_deletion_poll: longest interval between two checks whether servers
        are deleted, in seconds
    """

    freepool: str = option('nova', 'aggregate_freepool_name')
    zone_prefix: str = option('physical:host', 'blazar_az_prefix')
    owner_key: str = option('physical:host', 'blazar_owner')
    image_prefix: str = option('nova', 'image_prefix')
    before_end: str = option('physical:host', 'before_end')
    server_deletion_poll: float = option('physical:host', 'server_deletion_poll')
    isolation: Isolation = option('physical:host', 'isolation', Isolation)


def server_options(settings: HostSettings, reservation_id: str) -> tuple[str, str]:
    """Return the option of a new server by which Nova places it on the hosts of a lease.

    Nova's own filters do not read the hint, only the zone of the lease.
    """
    if settings.isolation is Isolation.PLACEMENT:
        return '--availability-zone', settings.zone_prefix + reservation_id
    return '--hint', f'reservation={reservation_id}'


class HostPools:
    """Brings aggregates to the desired state; every step is idempotent."""

    def __init__(self, settings: HostSettings) -> None:
        self._settings = settings

    def _freepool(self, cloud: Cloud) -> tuple[Aggregate, list[str]]:
        aggregate = cloud.compute.find_aggregate(self._settings.freepool)
        if aggregate is None:
            # An operator can create it, so the effect is retried.
            raise exceptions.Transient(f"there is no aggregate '{self._settings.freepool}'")
        return aggregate, self._close(cloud, aggregate)

    def _close(self, cloud: Cloud, freepool: Aggregate) -> list[str]:
        return _mark(cloud, freepool, isolation.of_pool(self._settings.isolation))

    def put_into_pool(self, cloud: Cloud, host: str) -> None:
        """Add a host to the pool.

        :raises climate.plugins.host.errors.FreePoolNotFound: if there is no pool
        """
        freepool = cloud.compute.find_aggregate(self._settings.freepool)
        if freepool is None:
            raise errors.FreePoolNotFound(name=self._settings.freepool)
        self._close(cloud, freepool)
        if host not in freepool.hosts:
            cloud.compute.add_host(freepool.id, host)

    def keep_in_pool(self, cloud: Cloud, hosts: Iterable[str]) -> list[str]:
        """Return hosts with reserved slots to the pool if they have left it."""
        freepool, repaired = self._freepool(cloud)
        for host in sorted(set(hosts) - set(freepool.hosts)):
            cloud.compute.add_host(freepool.id, host)
            repaired.append(f'host {host} was not in aggregate {freepool.name}')
        return repaired

    def take_out_of_pool(self, cloud: Cloud, host: str) -> None:
        """Remove a host from the pool, so that all projects can use it again."""
        freepool = cloud.compute.find_aggregate(self._settings.freepool)
        if freepool is not None and host in freepool.hosts:
            cloud.compute.remove_host(freepool.id, host)

    def aggregate(self, work: contract.Work, cloud: Cloud) -> tuple[Aggregate, list[str]]:
        """Create or repair the reservation's aggregate; return it and the repairs."""
        name = work.reservation.id
        found = cloud.compute.find_aggregate(name)
        aggregate, repaired = ensured(found, cloud, name, self._settings.zone_prefix + name)
        marking = isolation.of_lease(
            self._settings.isolation, self._settings.owner_key, work.lease.project_id
        )
        return aggregate, repaired + _mark(cloud, aggregate, marking)

    def close_to_owner(self, cloud: Cloud, aggregate: Aggregate) -> None:
        """Stop the project from starting servers on the hosts of an aggregate."""
        marking = isolation.of_ended_lease(self._settings.isolation, self._settings.owner_key)
        _mark(cloud, aggregate, marking)

    def until_gone(
        self, work: contract.Work, servers: list[Server], facts: Mapping[str, Any]
    ) -> contract.Again:
        """Return an :class:`Again` that gives Nova time to delete *servers*.

        Nova deletes most within a second. The longer it has taken, the longer the
        interval.
        """
        longest = datetime.timedelta(seconds=self._settings.server_deletion_poll)
        return contract.Again(
            after=min(max((work.now - work.since) / 4, _FIRST_LOOK), longest),
            why=f'{len(servers)} servers are being deleted',
            facts=facts,
        )

    def reconcile(
        self, work: contract.Work, cloud: Cloud, wanted: AbstractSet[str]
    ) -> tuple[Aggregate, list[str], list[Server]]:
        """Make the *wanted* service hosts the members of the aggregate.

        :returns: the aggregate, the repairs, and the servers of other projects
            that must be deleted before their hosts can be moved
        """
        aggregate, repaired = self.aggregate(work, cloud)
        freepool, closed = self._freepool(cloud)
        repaired += closed
        surplus = sorted(set(aggregate.hosts) - wanted)
        self.give_back(cloud, aggregate, surplus)
        repaired += [f'host {host} was in aggregate {aggregate.name}' for host in surplus]
        occupied: list[Server] = []
        for host in sorted(wanted):
            if host not in aggregate.hosts:
                occupied += self._take_host(work, cloud, host, freepool, aggregate)
                repaired.append(f'host {host} was not in aggregate {aggregate.name}')
            elif host in freepool.hosts:
                cloud.compute.remove_host(freepool.id, host)
                repaired.append(f'host {host} was in aggregate {freepool.name} as well')
        return aggregate, repaired, occupied

    def foreign(
        self, work: contract.Work, cloud: Cloud, mine: Aggregate
    ) -> Iterator[EvictedServer]:
        """Yield the servers of other projects that the start of the lease will delete.

        Those on hosts that another lease still has are left to its end.
        """
        freepool = cloud.compute.find_aggregate(self._settings.freepool)
        leased = {
            host
            for aggregate in cloud.compute.list_aggregates()
            if aggregate.id != mine.id and self._is_of_lease(aggregate)
            for host in aggregate.hosts
        }
        pooled = set() if freepool is None else set(freepool.hosts)
        for host in sorted(hosts_of(work, work.allocations) & pooled - leased):
            for server in host_servers.foreign(work, cloud, host):
                yield EvictedServer(
                    id=server.id,
                    name=server.name,
                    project_id=server.project_id,
                    user_id=server.user_id,
                    host=host,
                )

    def _take_host(
        self,
        work: contract.Work,
        cloud: Cloud,
        host: str,
        freepool: Aggregate,
        aggregate: Aggregate,
    ) -> list[Server]:
        """Move a host of the pool into the aggregate; return servers that prevent it.

        Servers of other projects may be deleted from hosts of the pool at any time,
        and Nova does not move a host with servers to another zone.
        """
        mine = [resource for resource in work.resources if service_host(resource) == host]
        for resource in mine:
            nodes.refuse_shared(cloud, resource)
        remaining = host_servers.evict(
            work, cloud, host, lambda: self._belongs_to_another_lease(cloud, host, aggregate)
        )
        if remaining:
            return remaining
        try:
            # In this order, because all projects can use a host that is in no aggregate.
            cloud.compute.add_host(aggregate.id, host)
            if host in freepool.hosts:
                cloud.compute.remove_host(freepool.id, host)
        except CloudConflict as error:
            # It is still in the zone of a lease, which is temporary, or in an operator's.
            for resource in mine:
                self._refuse_zone(cloud, resource, str(error))
            raise exceptions.Transient(str(error)) from error
        return []

    def _refuse_zone(self, cloud: Cloud, resource: Resource, message: str) -> None:
        """Refuse a host that an operator has put into an availability zone.

        :raises climate.exceptions.ResourceUnusable: if that is why Nova refuses it
        """
        host = service_host(resource)
        aggregates = [
            item for item in cloud.compute.list_aggregates() if not self._is_of_lease(item)
        ]
        zones = nodes.zoned(aggregates, host, self._settings.freepool)
        reason = nodes.trouble(host, resource.name, (), zones)
        if reason:
            raise exceptions.ResourceUnusable(message, resource_id=resource.id, reason=reason)

    def give_back(self, cloud: Cloud, aggregate: Aggregate | None, hosts: Iterable[str]) -> None:
        """Return hosts to the pool.

        Each host is added to the pool before it is removed from the aggregate, so
        that a manager that dies in between leaves it in the aggregate, where the
        next one finds it.
        """
        hosts = sorted(hosts)
        if not hosts:
            return
        freepool, _ = self._freepool(cloud)
        # Read again, because another manager may have returned them meanwhile.
        existing = None if aggregate is None else cloud.compute.find_aggregate(aggregate.name)
        members = () if existing is None else existing.hosts
        strays = {host for host in hosts if host not in members and host not in freepool.hosts}
        elsewhere = strays & self._leased(cloud) if strays else strays
        # If a server was started meanwhile, the next attempt finds it.
        with as_transient(CloudConflict):
            for host in hosts:
                if host not in freepool.hosts and host not in elsewhere:
                    self._pool(cloud, freepool, host)
                if existing is not None and host in members:
                    cloud.compute.remove_host(existing.id, host)

    def _pool(self, cloud: Cloud, freepool: Aggregate, host: str) -> None:
        try:
            cloud.compute.add_host(freepool.id, host)
        except CloudNotFound:
            # Either the pool is missing, which an operator can fix, or the host is
            # gone, and there is nothing to return.
            self._freepool(cloud)

    def _belongs_to_another_lease(self, cloud: Cloud, host: str, mine: Aggregate) -> bool:
        """Whether a reservation other than that of *mine* has a host, or slots on it."""
        return any(
            host in aggregate.hosts and aggregate.id != mine.id and self._is_of_lease(aggregate)
            for aggregate in cloud.compute.list_aggregates()
        )

    def _is_of_lease(self, aggregate: Aggregate) -> bool:
        return aggregate.availability_zone == self._settings.zone_prefix + aggregate.name or (
            isolation.is_of_slots(aggregate)
            and aggregate.metadata.get(isolation.SLOTS_KEY) == aggregate.name
        )

    def _leased(self, cloud: Cloud) -> set[str]:
        """Return the hosts that are in the aggregate of any reservation."""
        return {
            host
            for aggregate in cloud.compute.list_aggregates()
            if (aggregate.availability_zone or '').startswith(self._settings.zone_prefix)
            for host in aggregate.hosts
        }


def ensured(
    found: Aggregate | None, cloud: Cloud, name: str, zone: str | None
) -> tuple[Aggregate, list[str]]:
    """Return the aggregate of a name, created unless it was found, and the repairs, a line each."""
    if found is not None:
        return found, []
    repaired = [f'aggregate {name} was missing']
    try:
        return cloud.compute.create_aggregate(name, zone), repaired
    except CloudConflict:
        # Created a moment ago by a call whose response was lost.
        aggregate = cloud.compute.find_aggregate(name)
        if aggregate is None:
            raise
        return aggregate, repaired


def _mark(cloud: Cloud, aggregate: Aggregate, marking: Marking) -> list[str]:
    changes = marking.changes(aggregate.metadata)
    if not changes:
        return []
    cloud.compute.set_aggregate_metadata(aggregate.id, changes)
    return [f'aggregate {aggregate.name} was not marked as it should be: {", ".join(changes)}']


def hosts_of(work: contract.Work, allocations: Iterable[Allocation]) -> set[str]:
    """Return the service hosts of some of the allocations of *work*."""
    ids = {allocation.resource_id for allocation in allocations}
    return {service_host(resource) for resource in work.resources if resource.id in ids}


def held_hosts(work: contract.Work) -> set[str]:
    """Return the service hosts that the lease holds."""
    return hosts_of(work, (item for item in work.allocations if item.state is AllocationState.HELD))
