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
that the scheduler filter of Nova recognises; afterwards it goes back. Names
and metadata keys are part of the contract with that filter.
"""

from __future__ import annotations

import dataclasses
import datetime
import random
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any
from typing import ClassVar

from climate import exceptions
from climate.allocation import requirements
from climate.allocation import selection
from climate.clients.base import Aggregate
from climate.clients.base import Cloud
from climate.clients.base import CloudConflict
from climate.clients.base import Server
from climate.domain.leases import AllocationState
from climate.domain.leases import Reservation
from climate.domain.resources import Resource
from climate.plugins import base
from climate.plugins import fields

RESOURCE_TYPE = 'physical:host'

_AT_ONCE = datetime.timedelta(0)


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


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class HostSettings:
    """What operators configure.

    :ivar server_deletion_poll: seconds between two looks for servers that go
    """

    freepool: str = 'freepool'
    zone_prefix: str = 'blazar_'
    owner_key: str = 'blazar:owner'
    image_prefix: str = 'reserved_'
    before_end: str = ''
    server_deletion_poll: float = 2.0


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

    @classmethod
    def from_conf(cls, conf: Any) -> PhysicalHost:
        """Return the plugin as *conf* wants it."""
        group = conf['physical:host']
        return cls(
            HostSettings(
                freepool=conf.nova.aggregate_freepool_name,
                zone_prefix=group.blazar_az_prefix,
                owner_key=conf.nova.blazar_owner,
                image_prefix=conf.nova.image_prefix,
                before_end=group.before_end,
                server_deletion_poll=group.server_deletion_poll,
            )
        )

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
        self, request: HostRequest, body: Mapping[str, Any], *, strict: bool = False
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

    def choose(
        self, request: HostRequest, snapshot: base.Snapshot, rng: random.Random
    ) -> base.Pick | base.NotEnough:
        """Prefer hosts whose calendar is left with the smallest holes."""
        if len(snapshot.candidates) < snapshot.minimum:
            return base.NotEnough(
                reason=f'{len(snapshot.candidates)} of {snapshot.minimum} hosts are free'
            )
        chosen = selection.choose(
            snapshot.candidates,
            snapshot.start,
            snapshot.end,
            snapshot.minimum,
            snapshot.maximum,
            rng,
        )
        return base.Pick(candidates=tuple(chosen))

    def describe(self, reservation: Reservation) -> dict[str, Any]:
        """Return the keys of a host reservation in the API's answer."""
        return self.dump(self.load(reservation.request))

    # -- effect half

    def prepare(self, work: base.Work, cloud: Cloud) -> base.Outcome:
        """Make the aggregate, still empty."""
        aggregate, _ = self._aggregate(work, cloud)
        return base.Done(facts={'aggregate_id': aggregate.id})

    def start(self, work: base.Work, cloud: Cloud) -> base.Outcome:
        """Move exactly the allocated hosts into the reservation's aggregate."""
        aggregate, _, occupied = self._reconcile(work, cloud)
        facts = {'aggregate_id': aggregate.id}
        return self._until_gone(occupied, facts) if occupied else base.Done(facts=facts)

    def check(self, work: base.Work, cloud: Cloud) -> base.Outcome:
        """Put right what somebody else changed about the aggregate."""
        aggregate, repaired, occupied = self._reconcile(work, cloud)
        facts = {'aggregate_id': aggregate.id}
        if occupied:
            return self._until_gone(occupied, facts)
        return base.Done(facts=facts, repaired=tuple(repaired))

    def before_end(self, work: base.Work, cloud: Cloud) -> base.Outcome:
        """Make an image of every server on the hosts, if that is wanted.

        One server a call: the image is remembered before the next is made, so
        that a manager that dies in between makes none twice.
        """
        action = self.load(work.reservation.request).before_end
        if action == 'default':
            action = self._settings.before_end
        aggregate = cloud.compute.find_aggregate(work.reservation.id)
        if action != 'snapshot' or aggregate is None:
            return base.Done()
        images = dict(work.reservation.facts.get('images') or {})
        for host in aggregate.hosts:
            for server in cloud.compute.list_servers(host):
                if server.id in images:
                    continue
                images[server.id] = cloud.compute.create_image(
                    server.id, self._settings.image_prefix + server.name
                )
                return base.Again(after=_AT_ONCE, why='snapshots', facts={'images': images})
        return base.Done(facts={'images': images})

    def end(self, work: base.Work, cloud: Cloud) -> base.Outcome:
        """Delete the servers, and put the hosts back once they are empty."""
        aggregate = cloud.compute.find_aggregate(work.reservation.id)
        members = aggregate.hosts if aggregate is not None else ()
        going = [server for host in members for server in _clear(cloud, host)]
        if going:
            return self._until_gone(going, {})
        # A host that was taken out of the pool by a manager that died before
        # it could put it anywhere is in no aggregate, but held.
        self._to_freepool(cloud, aggregate, {*members, *_held_hosts(work)})
        if aggregate is not None:
            cloud.compute.delete_aggregate(aggregate.id)
        return base.Done(facts={'aggregate_id': None})

    # -- resources

    def discover(self, name: str, cloud: Cloud) -> Resource:
        """Take an empty hypervisor into the pool of reservable hosts."""
        hypervisor = cloud.compute.find_hypervisor(name)
        if hypervisor is None:
            raise exceptions.HostNotFound(host=name)
        _refuse_servers(cloud, hypervisor.hostname, hypervisor.service_host)
        provider = cloud.placement.find_provider(hypervisor.hostname)
        freepool = cloud.compute.find_aggregate(self._settings.freepool)
        if freepool is None:
            raise exceptions.FreePoolNotFound(name=self._settings.freepool)
        if hypervisor.service_host not in freepool.hosts:
            cloud.compute.add_host(freepool.id, hypervisor.service_host)
        return Resource(
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

    def release(self, resource: Resource, cloud: Cloud) -> None:
        """Take a host without servers out of the pool of reservable hosts."""
        host = _service_host(resource)
        _refuse_servers(cloud, resource.name, host)
        freepool = cloud.compute.find_aggregate(self._settings.freepool)
        if freepool is not None and host in freepool.hosts:
            cloud.compute.remove_host(freepool.id, host)

    # -- steps

    def _freepool(self, cloud: Cloud) -> Aggregate:
        aggregate = cloud.compute.find_aggregate(self._settings.freepool)
        if aggregate is None:
            # An operator can make it, so an effect is tried again.
            raise exceptions.Transient(f"there is no aggregate '{self._settings.freepool}'")
        return aggregate

    def _aggregate(self, work: base.Work, cloud: Cloud) -> tuple[Aggregate, list[str]]:
        """Return the reservation's aggregate as it should be, and what was done."""
        name = work.reservation.id
        repaired = []
        aggregate = cloud.compute.find_aggregate(name)
        if aggregate is None:
            aggregate = self._create_aggregate(name, cloud)
            repaired.append(f'aggregate {name} was missing')
        if aggregate.metadata.get(self._settings.owner_key) != work.lease.project_id:
            cloud.compute.set_aggregate_metadata(
                aggregate.id, {self._settings.owner_key: work.lease.project_id}
            )
            repaired.append(f'aggregate {name} did not name its owner')
        return aggregate, repaired

    def _create_aggregate(self, name: str, cloud: Cloud) -> Aggregate:
        try:
            return cloud.compute.create_aggregate(name, self._settings.zone_prefix + name)
        except CloudConflict:
            # Made a moment ago by a call whose answer was lost.
            aggregate = cloud.compute.find_aggregate(name)
            if aggregate is None:
                raise
            return aggregate

    def _until_gone(self, servers: list[Server], facts: dict[str, Any]) -> base.Again:
        return base.Again(
            after=datetime.timedelta(seconds=self._settings.server_deletion_poll),
            why=f'{len(servers)} servers are being deleted',
            facts=facts,
        )

    def _reconcile(
        self, work: base.Work, cloud: Cloud
    ) -> tuple[Aggregate, list[str], list[Server]]:
        """Put exactly the allocated hosts into the aggregate.

        :returns: the aggregate, what was not as it should be, and the servers
            of others that have to go before their hosts can be moved
        """
        aggregate, repaired = self._aggregate(work, cloud)
        wanted = {_service_host(resource) for resource in work.resources}
        surplus = set(aggregate.hosts) - wanted
        if surplus:
            self._to_freepool(cloud, aggregate, surplus)
            repaired += [f'host {host} was in aggregate {aggregate.name}' for host in surplus]
        missing = sorted(wanted - set(aggregate.hosts))
        occupied: list[Server] = []
        if missing:
            freepool = self._freepool(cloud)
            for host in missing:
                occupied += self._take_host(work, cloud, host, freepool, aggregate)
            repaired += [f'host {host} was not in aggregate {aggregate.name}' for host in missing]
        return aggregate, repaired, occupied

    def _take_host(
        self, work: base.Work, cloud: Cloud, host: str, freepool: Aggregate, aggregate: Aggregate
    ) -> list[Server]:
        """Move a host of the pool into the aggregate; return servers in the way.

        Whatever others run on a host of the pool is there on sufferance only,
        and Nova does not let a host with servers change its zone.
        """
        foreign = _clear(cloud, host, spare=work.lease.project_id)
        if foreign:
            return foreign
        try:
            if host in freepool.hosts:
                cloud.compute.remove_host(freepool.id, host)
            cloud.compute.add_host(aggregate.id, host)
        except CloudConflict as error:
            # Another zone still has it; that passes, or an operator helps.
            raise exceptions.Transient(str(error)) from error
        return []

    def _to_freepool(self, cloud: Cloud, aggregate: Aggregate | None, hosts: Iterable[str]) -> None:
        hosts = sorted(hosts)
        if not hosts:
            return
        freepool = self._freepool(cloud)
        for host in hosts:
            if aggregate is not None and host in aggregate.hosts:
                cloud.compute.remove_host(aggregate.id, host)
            if host not in freepool.hosts:
                cloud.compute.add_host(freepool.id, host)


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
        raise exceptions.InvalidRange
    return request


def _service_host(resource: Resource) -> str:
    return str(resource.attributes.get('service_name') or resource.name)


def _held_hosts(work: base.Work) -> set[str]:
    held = {
        allocation.resource_id
        for allocation in work.allocations
        if allocation.state is AllocationState.HELD
    }
    return {_service_host(resource) for resource in work.resources if resource.id in held}


def _clear(cloud: Cloud, host: str, *, spare: str | None = None) -> list[Server]:
    """Ask for the deletion of the servers on *host*; return those still there.

    :param spare: a project whose servers stay
    """
    servers = [
        server
        for server in cloud.compute.list_servers(host)
        if spare is None or server.project_id != spare
    ]
    for server in servers:
        if server.task_state != 'deleting':
            cloud.compute.delete_server(server.id)
    return servers


def _refuse_servers(cloud: Cloud, name: str, service_host: str) -> None:
    servers = cloud.compute.list_servers(service_host)
    if servers:
        raise exceptions.HostHavingServers(
            servers=', '.join(server.id for server in servers), host=name
        )
