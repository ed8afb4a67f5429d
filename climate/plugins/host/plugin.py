# SPDX-License-Identifier: Apache-2.0

"""Whole hosts: ``physical:host``.

A reservable host is in the aggregate ``freepool``. During a lease it is in an
aggregate that is named after the reservation and has its own availability zone.
When the lease ends, the host returns to the pool. Names and metadata keys are part
of the contract with Nova's scheduler: see :mod:`climate.plugins.host.isolation`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Annotated
from typing import Any
from typing import ClassVar

from climate import exceptions
from climate.allocation import requirements
from climate.cloud.base import Aggregate
from climate.cloud.base import as_transient
from climate.cloud.base import Cloud
from climate.cloud.base import CloudConflict
from climate.domain.holdings import HeldResource
from climate.domain.leases import Reservation
from climate.domain.nouns import Nouns
from climate.domain.resources import Resource
from climate.domain.resources import ResourceDraft
from climate.plugins import contract
from climate.plugins import fields
from climate.plugins import instructions
from climate.plugins import models
from climate.plugins.collection import ResourceCollection
from climate.plugins.host import errors
from climate.plugins.host import images
from climate.plugins.host import isolation
from climate.plugins.host import nodes
from climate.plugins.host import pools
from climate.plugins.host import providers
from climate.plugins.host import renames
from climate.plugins.host import reports
from climate.plugins.host import resources
from climate.plugins.host import servers
from climate.plugins.host.collection import HOSTS
from climate.plugins.host.facts import HostFacts
from climate.plugins.host.names import RESOURCE_TYPE as RESOURCE_TYPE
from climate.plugins.host.pools import HostSettings
from climate.plugins.host.sweep import HostSweep


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class HostRequest(models.Request):
    """Between ``minimum`` and ``maximum`` whole hosts."""

    minimum: Annotated[int, fields.Count('The smallest number of hosts.', key='min')]
    maximum: Annotated[int, fields.Count('The largest number of hosts.', key='max')]
    hypervisor_properties: Annotated[
        str, fields.Requirement('A requirement on what Nova reports about the hosts.')
    ] = ''
    resource_properties: Annotated[
        str, fields.Requirement('A requirement on the properties that operators set on hosts.')
    ] = ''
    before_end: Annotated[
        str,
        fields.OneOf(
            'What to do shortly before the end: make an image of each server (``snapshot``), '
            'nothing (an empty text), or what the operator has configured (``default``).',
            words=('', 'default', 'snapshot'),
        ),
    ] = 'default'

    unstated: ClassVar[tuple[str, ...]] = ('min must not be larger than max.',)

    def check(self) -> None:
        """Refuse a minimum that is larger than the maximum."""
        if self.minimum > self.maximum:
            raise exceptions.InvalidRange(what='hosts')


class PhysicalHost(contract.Configured[HostRequest, HostSettings]):
    """Leases whole hosts by moving them between Nova aggregates."""

    resource_type: ClassVar[str] = RESOURCE_TYPE
    restarts: ClassVar[bool] = True
    yield_seconds: ClassVar[int] = 120
    nouns: ClassVar[Nouns] = Nouns('host', 'hosts')
    prepares: ClassVar[bool] = True
    evicts: ClassVar[bool] = True
    compute_hosts: ClassVar[bool] = True
    collection: ClassVar[ResourceCollection | None] = HOSTS
    identity: ClassVar[str | None] = 'service_name'
    compared: ClassVar[tuple[str, ...]] = reports.COMPARED
    reserved_properties: ClassVar[frozenset[str]] = resources.RESERVED_PROPERTIES
    refusals: ClassVar[resources.HostRefusals] = resources.HostRefusals()
    describes_request: ClassVar[bool] = True
    request_model: ClassVar[type[models.Request]] = HostRequest
    settings: ClassVar[type[HostSettings]] = HostSettings

    def __init__(self, settings: HostSettings | None = None) -> None:
        super().__init__(settings)
        self._pools = pools.HostPools(self._settings)

    # -- pure half

    def search(self, request: HostRequest) -> contract.Search:
        """Return which hosts the request can use."""
        texts = filter(None, (request.hypervisor_properties, request.resource_properties))
        parts = [requirements.parse(text) for text in texts]
        return contract.Search(
            resource_type=RESOURCE_TYPE,
            minimum=request.minimum,
            maximum=request.maximum,
            requirement=requirements.all_of(*parts) if parts else None,
            noun='hosts',
        )

    def instructions(
        self, reservation: Reservation, resources: Sequence[HeldResource]
    ) -> Sequence[contract.Instruction]:
        """Return how to create a server on the hosts."""
        words = pools.server_options(self._settings, reservation.id)
        return [
            contract.Instruction(
                name='create_server',
                title='Create a server on these hosts',
                command=instructions.create_server(*words),
            )
        ]

    # -- effect half

    def prepare(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Create the aggregate, without hosts, and look for servers that are in the way."""
        aggregate, _ = self._pools.aggregate(work, cloud)
        found = tuple(self._pools.foreign(work, cloud, aggregate))
        note = f'servers of other projects on the hosts that got notice: {len(found)}'
        return contract.Done(
            facts=_facts_with(work, aggregate), evicts=found, steps=(note,) if found else ()
        )

    def start(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Move exactly the allocated hosts into the reservation's aggregate.

        A host that leaves the reservation must have no servers, unless this is forced.
        """
        going = servers.empty(work, cloud, pools.hosts_of(work, work.leaving))
        if going:
            return self._pools.until_gone(work, going, {})
        wanted = pools.hosts_of(work, work.allocations)
        aggregate, _, occupied = self._pools.reconcile(work, cloud, wanted)
        facts = _facts_with(work, aggregate)
        if occupied:
            return self._pools.until_gone(work, occupied, facts)
        return contract.Done(facts=facts)

    def check(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Undo changes that other services or operators made to the aggregate."""
        # Hosts that leave the reservation are in the aggregate until they have left.
        wanted = pools.hosts_of(work, (*work.allocations, *work.leaving))
        aggregate, repaired, occupied = self._pools.reconcile(work, cloud, wanted)
        facts = _facts_with(work, aggregate)
        if occupied:
            return self._pools.until_gone(work, occupied, facts)
        return contract.Done(facts=facts, repaired=tuple(repaired))

    def before_end(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Make an image of every server on the hosts, if the request asks for it."""
        action = self.load(work.reservation.request).before_end
        if action == 'default':
            action = self._settings.before_end
        aggregate = cloud.compute.find_aggregate(work.reservation.id)
        if action != 'snapshot' or aggregate is None:
            return contract.Done()
        return images.take(work, cloud, aggregate.hosts, self._settings.image_prefix)

    def end(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Delete the servers, and return the hosts to the pool once they are empty.

        The project loses access first; otherwise it could start servers faster
        than Climate deletes them.
        """
        aggregate = cloud.compute.find_aggregate(work.reservation.id)
        members = aggregate.hosts if aggregate is not None else ()
        if aggregate is not None and members:
            self._pools.close_to_owner(cloud, aggregate)
        images.finish(work, cloud, self._settings.image_prefix)
        going = [server for host in members for server in servers.clear(work, cloud, host)]
        if going:
            return self._pools.until_gone(work, going, {})
        # If a manager dies after taking a host out of the pool, the host is in no
        # aggregate, but still allocated.
        self._pools.give_back(cloud, aggregate, {*members, *pools.held_hosts(work)})
        if aggregate is not None:
            # If a host was added meanwhile, the next attempt finds it.
            with as_transient(CloudConflict):
                cloud.compute.delete_aggregate(aggregate.id)
        facts = dataclasses.replace(
            HostFacts.of(work.reservation), aggregate_id=None, images_before={}
        )
        return contract.Done(facts=facts.changes(work.reservation))

    def sweep(
        self, records: contract.Records, cloud: Cloud, *, dry_run: bool
    ) -> Iterable[contract.SweepFinding]:
        """Find aggregates of ended leases, and hosts that are in no aggregate."""
        return HostSweep(self._settings, self._pools, records, dry_run).run(cloud)

    def occupied(self, reservation: Reservation, resource: Resource, cloud: Cloud) -> str:
        """Name the servers on a host."""
        parts = nodes.split(cloud, nodes.service_host(resource), {resource.name})
        return ', '.join(server.id for server in parts.here)

    # -- resources

    resource_schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'additionalProperties': False,
        'properties': {},
    }

    def discover(self, draft: ResourceDraft, cloud: Cloud) -> Resource:
        """Look up an empty hypervisor in Nova and in Placement."""
        hypervisor = cloud.compute.find_hypervisor(draft.name)
        if hypervisor is None:
            raise errors.HostNotFound(host=draft.name)
        host = reports.described(cloud, hypervisor)
        nodes.refuse_place(cloud, host, self._settings.freepool)
        servers.refuse_servers(cloud, host)
        return host

    def report(self, resources: Sequence[Resource], cloud: Cloud) -> Iterable[contract.Reported]:
        """Return how Nova and Placement have hosts now."""
        settings = self._settings
        return reports.HostReports(cloud, settings.freepool, settings.zone_prefix).of(resources)

    def rename(self, resource: Resource, name: str, cloud: Cloud) -> Resource:
        """Return a host with its new hypervisor hostname; its nova-compute is the same."""
        traits = isolation.of_provider(self._settings.isolation)
        return renames.rename(resource, name, cloud, traits)

    def admit(self, resource: Resource, cloud: Cloud) -> None:
        """Put a host into the pool of reservable hosts.

        A nested provider counts its slots, see :mod:`climate.plugins.host.providers`.
        """
        traits = isolation.of_provider(self._settings.isolation)
        providers.admit(cloud, resource.name, traits)
        self._pools.put_into_pool(cloud, nodes.service_host(resource))

    def release(self, resource: Resource, cloud: Cloud, *, shared: bool = False) -> None:
        """Take a host without servers out of the pool of reservable hosts.

        :param shared: whether another registered host has the same nova-compute, which
            then stays in the pool
        """
        servers.refuse_servers(cloud, resource)
        if not shared:
            self._pools.take_out_of_pool(cloud, nodes.service_host(resource))
        providers.release(cloud, resource.name)


def _facts_with(work: contract.Work, aggregate: Aggregate) -> dict[str, Any]:
    """Return the change of the facts that records *aggregate*."""
    known = HostFacts.of(work.reservation)
    return dataclasses.replace(known, aggregate_id=aggregate.id).changes(work.reservation)
