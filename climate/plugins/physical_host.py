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

"""Whole hosts: ``physical:host``.

A reservable host waits in the aggregate ``freepool``. During a lease it is in
an aggregate of its own, named after the reservation, in an availability zone
of its own; afterwards it goes back. Names and metadata keys are part of the
contract with Nova's scheduler: see :mod:`climate.plugins.isolation`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any
from typing import ClassVar

from climate import exceptions
from climate.allocation import requirements
from climate.clients.base import Cloud
from climate.clients.base import CloudConflict
from climate.domain.leases import Reservation
from climate.domain.resources import Resource
from climate.domain.resources import ResourceDraft
from climate.plugins import base
from climate.plugins import fields
from climate.plugins import host_images
from climate.plugins import host_pools
from climate.plugins import host_servers
from climate.plugins import isolation
from climate.plugins import nested_providers
from climate.plugins.host_pools import HostSettings
from climate.plugins.host_sweeps import HostSweep

RESOURCE_TYPE = 'physical:host'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class HostRequest:
    """What somebody wants: between ``minimum`` and ``maximum`` whole hosts.

    :ivar hypervisor_properties: requirement on what Nova says; JSON text or ''
    :ivar resource_properties: requirement on what operators say; likewise
    :ivar before_end: '', 'default' or 'snapshot'
    """

    minimum: int
    maximum: int
    hypervisor_properties: str = ''
    resource_properties: str = ''
    before_end: str = 'default'


class PhysicalHost(base.Plugin[HostRequest]):
    """Leases whole hosts by moving them between Nova aggregates."""

    resource_type: ClassVar[str] = RESOURCE_TYPE
    prepares: ClassVar[bool] = True
    request_schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'required': ['resource_type', 'min', 'max'],
        'properties': {
            'resource_type': {'const': RESOURCE_TYPE},
            'min': fields.COUNT,
            'max': fields.COUNT,
            'hypervisor_properties': fields.REQUIREMENT,
            'resource_properties': fields.REQUIREMENT,
            'before_end': {'enum': ['', 'default', 'snapshot', None]},
        },
    }

    def __init__(self, settings: HostSettings | None = None) -> None:
        self._settings = settings or HostSettings()
        self._pools = host_pools.HostPools(self._settings)

    @classmethod
    def from_conf(cls, conf: Any) -> PhysicalHost:
        """Return the plugin as *conf* wants it."""
        return cls(HostSettings.from_conf(conf))

    # -- pure half

    def parse(self, body: Mapping[str, Any], *, strict: bool = False) -> HostRequest:
        """Read what a client sent; see :class:`climate.plugins.base.Plugin`."""
        fields.known(body, self.request_schema, strict=strict)
        request = HostRequest(
            minimum=fields.count(body, 'min'),
            maximum=fields.count(body, 'max'),
            hypervisor_properties=fields.requirement(body, 'hypervisor_properties'),
            resource_properties=fields.requirement(body, 'resource_properties'),
            before_end=_before_end(body.get('before_end', 'default')),
        )
        return _checked(request)

    def change(
        self,
        request: HostRequest,
        body: Mapping[str, Any],
        *,
        strict: bool = False,
        running: bool = False,
    ) -> HostRequest:
        """Return *request* with the changes a client sent."""
        fields.known(body, self.request_schema, strict=strict, also=('id',))
        changes: dict[str, Any] = {}
        for key, name in (('min', 'minimum'), ('max', 'maximum')):
            if body.get(key) is not None:
                changes[name] = fields.count(body, key)
        for key in ('hypervisor_properties', 'resource_properties'):
            # A client that leaves the field out and one that sends null both
            # mean "as it was"; an empty text takes the requirement away.
            if body.get(key) is not None:
                changes[key] = fields.requirement(body, key)
        if body.get('before_end') is not None:
            changes['before_end'] = _before_end(body['before_end'])
        return _checked(dataclasses.replace(request, **changes))

    def dump(self, request: HostRequest) -> dict[str, Any]:
        """Return *request* as JSON values."""
        return {
            'min': request.minimum,
            'max': request.maximum,
            'hypervisor_properties': request.hypervisor_properties,
            'resource_properties': request.resource_properties,
            'before_end': request.before_end,
        }

    def load(self, stored: Mapping[str, Any]) -> HostRequest:
        """Return the request that :meth:`dump` wrote."""
        return HostRequest(
            minimum=stored['min'],
            maximum=stored['max'],
            hypervisor_properties=stored['hypervisor_properties'],
            resource_properties=stored['resource_properties'],
            before_end=stored['before_end'],
        )

    def search(self, request: HostRequest) -> base.Search:
        """Say which hosts the request can use."""
        return base.Search(
            resource_type=RESOURCE_TYPE,
            minimum=request.minimum,
            maximum=request.maximum,
            requirement=requirements.all_of(
                requirements.parse(request.hypervisor_properties),
                requirements.parse(request.resource_properties),
            ),
            noun='hosts',
        )

    def describe(self, reservation: Reservation) -> dict[str, Any]:
        """Return the keys of a host reservation in the API's answer."""
        return self.dump(self.load(reservation.request))

    # -- effect half

    def prepare(self, work: base.Work, cloud: Cloud) -> base.Outcome:
        """Make the aggregate, still empty."""
        aggregate, _ = self._pools.aggregate(work, cloud)
        return base.Done(facts={'aggregate_id': aggregate.id})

    def start(self, work: base.Work, cloud: Cloud) -> base.Outcome:
        """Move exactly the allocated hosts into the reservation's aggregate.

        A host that is to be given up must be empty, unless that is forced.
        """
        going = host_servers.empty(work, cloud, host_pools.hosts_of(work, work.leaving))
        if going:
            return self._pools.until_gone(work, going, {})
        wanted = host_pools.hosts_of(work, work.allocations)
        aggregate, _, occupied = self._pools.reconcile(work, cloud, wanted)
        facts = {'aggregate_id': aggregate.id}
        return self._pools.until_gone(work, occupied, facts) if occupied else base.Done(facts=facts)

    def check(self, work: base.Work, cloud: Cloud) -> base.Outcome:
        """Put right what somebody else changed about the aggregate."""
        # What is to be given up is still there until it was.
        wanted = host_pools.hosts_of(work, (*work.allocations, *work.leaving))
        aggregate, repaired, occupied = self._pools.reconcile(work, cloud, wanted)
        facts = {'aggregate_id': aggregate.id}
        if occupied:
            return self._pools.until_gone(work, occupied, facts)
        return base.Done(facts=facts, repaired=tuple(repaired))

    def before_end(self, work: base.Work, cloud: Cloud) -> base.Outcome:
        """Make an image of every server on the hosts, if that is wanted."""
        action = self.load(work.reservation.request).before_end
        if action == 'default':
            action = self._settings.before_end
        aggregate = cloud.compute.find_aggregate(work.reservation.id)
        if action != 'snapshot' or aggregate is None:
            return base.Done()
        return host_images.take(work, cloud, aggregate.hosts, self._settings.image_prefix)

    def end(self, work: base.Work, cloud: Cloud) -> base.Outcome:
        """Delete the servers, and put the hosts back once they are empty.

        The project is shut out first, or it could start servers faster than
        they go.
        """
        aggregate = cloud.compute.find_aggregate(work.reservation.id)
        members = aggregate.hosts if aggregate is not None else ()
        if aggregate is not None and members:
            self._pools.close_to_owner(cloud, aggregate)
        host_images.finish(work, cloud, self._settings.image_prefix)
        going = [server for host in members for server in host_servers.clear(work, cloud, host)]
        if going:
            return self._pools.until_gone(work, going, {})
        # A host that was taken out of the pool by a manager that died before
        # it could put it anywhere is in no aggregate, but held.
        self._pools.give_back(cloud, aggregate, {*members, *host_pools.held_hosts(work)})
        if aggregate is not None:
            try:
                cloud.compute.delete_aggregate(aggregate.id)
            except CloudConflict as error:
                # Somebody put a host in meanwhile; it is seen next time.
                raise exceptions.Transient(error.message) from error
        return base.Done(facts={'aggregate_id': None, 'imaging': None})

    def sweep(
        self, records: base.Records, cloud: Cloud, *, dry_run: bool
    ) -> Iterable[base.Finding]:
        """Find aggregates of leases that are over, and hosts that are nowhere."""
        return HostSweep(self._settings, self._pools, records, dry_run).run(cloud)

    def occupied(self, reservation: Reservation, resource: Resource, cloud: Cloud) -> str:
        """Name the servers on a host."""
        host = host_servers.service_host(resource)
        return ', '.join(server.id for server in cloud.compute.list_servers(host))

    # -- resources

    resource_schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'additionalProperties': False,
        'properties': {},
    }

    def discover(self, draft: ResourceDraft, cloud: Cloud) -> Resource:
        """Look an empty hypervisor up, in Nova and in Placement."""
        hypervisor = cloud.compute.find_hypervisor(draft.name)
        if hypervisor is None:
            raise exceptions.HostNotFound(host=draft.name)
        provider = cloud.placement.find_provider(hypervisor.hostname)
        found = Resource(
            resource_type=RESOURCE_TYPE,
            name=hypervisor.hostname,
            inventories=() if provider is None else cloud.placement.inventories(provider.uuid),
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
        host_servers.refuse_servers(cloud, found)
        return found

    def admit(self, resource: Resource, cloud: Cloud) -> None:
        """Put a host into the pool of reservable hosts.

        Slots of it are counted in a provider of our own, see
        :mod:`climate.plugins.nested_providers`.
        """
        traits = isolation.of_provider(self._settings.isolation)
        nested_providers.admit(cloud, resource.name, traits)
        self._pools.put_into_pool(cloud, host_servers.service_host(resource))

    def release(self, resource: Resource, cloud: Cloud) -> None:
        """Take a host without servers out of the pool of reservable hosts."""
        host = host_servers.service_host(resource)
        host_servers.refuse_servers(cloud, resource)
        self._pools.take_out_of_pool(cloud, host)
        nested_providers.release(cloud, resource.name)


def _before_end(value: Any) -> str:
    if value is None:
        return 'default'
    if value not in ('', 'default', 'snapshot'):
        raise exceptions.MalformedParameter(
            f"Malformed parameter before_end: '{value}' is not one of '', 'default', 'snapshot'"
        )
    return str(value)


def _checked(request: HostRequest) -> HostRequest:
    if request.minimum > request.maximum:
        raise exceptions.InvalidRange(what='hosts')
    return request
