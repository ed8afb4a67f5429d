# SPDX-License-Identifier: Apache-2.0
"""Networks on dedicated segments: ``network``.

An operator registers segments: VLANs of a physical network, or VXLANs. During
a lease, Neutron has a network on the segment. It belongs to the project of the
lease, which creates subnets and connects servers and routers as it likes. At the
end all of that is removed, and the segment is free for the next lease.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Annotated
from typing import Any
from typing import ClassVar

from climate import exceptions
from climate.allocation import requirements
from climate.cloud.base import Cloud
from climate.domain.holdings import HeldResource
from climate.domain.leases import Reservation
from climate.domain.nouns import Nouns
from climate.domain.resources import Resource
from climate.domain.resources import ResourceDraft
from climate.plugins import contract
from climate.plugins import fields
from climate.plugins import instructions
from climate.plugins import marks
from climate.plugins import models
from climate.plugins.fields import Fixed
from climate.plugins.network import effects
from climate.plugins.network import errors
from climate.plugins.network.effects import Segments
from climate.plugins.network.facts import NetworkFacts

RESOURCE_TYPE = 'network'
_LARGEST = {'vlan': 4094, 'vxlan': (1 << 24) - 1}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class NetworkRequest(models.Request):
    """One network.

    Both requirements can use the attributes of the segment and the properties that
    operators give it.
    """

    before_end: Annotated[
        str,
        fields.OneOf(
            'Nothing is done before the end: only an empty text or ``default``.',
            words=('', 'default'),
            otherwise="a network has nothing but ''",
            kept=False,
        ),
    ] = dataclasses.field(default='', compare=False)
    name: Annotated[str, fields.Text('The name of the network.', key='network_name', required=True)]
    description: Annotated[
        str, fields.Text('The description of the network.', key='network_description', lines=True)
    ] = ''
    network_properties: Annotated[
        str, fields.Requirement('A requirement on the segment.', fixed=Fixed.RUNNING)
    ] = ''
    resource_properties: Annotated[
        str, fields.Requirement('A further requirement on the segment.', fixed=Fixed.RUNNING)
    ] = ''


class NetworkPlugin(contract.Plugin[NetworkRequest]):
    """Leases segments by making networks on them."""

    resource_type: ClassVar[str] = RESOURCE_TYPE
    restarts: ClassVar[bool] = True
    nouns: ClassVar[Nouns] = Nouns('network', 'networks')
    request_model: ClassVar[type[models.Request]] = NetworkRequest

    # -- pure half

    def search(self, request: NetworkRequest) -> contract.Search:
        """Describe the segments that the request can use."""
        return contract.Search(
            resource_type=RESOURCE_TYPE,
            minimum=1,
            maximum=1,
            requirement=requirements.all_of(
                requirements.parse(request.network_properties),
                requirements.parse(request.resource_properties),
            ),
            noun='networks',
        )

    def follows(self, before: NetworkRequest, request: NetworkRequest) -> bool:
        """Whether the name or the description of the network changes."""
        return (before.name, before.description) != (request.name, request.description)

    def describe(self, reservation: Reservation) -> dict[str, Any]:
        """Return the keys of a reservation of a network in the API's response."""
        network_id = NetworkFacts.of(reservation).network_id
        return {**super().describe(reservation), 'network_id': network_id}

    def instructions(
        self, reservation: Reservation, resources: Sequence[HeldResource]
    ) -> Sequence[contract.Instruction]:
        """Return the id of the network, and how to create a server on it."""
        network_id = NetworkFacts.of(reservation).network_id
        if network_id is None:
            return ()
        subnet = ('openstack', 'subnet', 'create', '--network', network_id)
        return [
            contract.Instruction(name='network', title='Id of the network', value=network_id),
            contract.Instruction(
                name='create_subnet',
                title='Create a subnet, which servers need',
                command=instructions.command(*subnet, '--subnet-range', '10.0.0.0/24', 'SUBNET'),
            ),
            contract.Instruction(
                name='create_server',
                title='Create a server on the network',
                command=instructions.create_server('--network', network_id),
            ),
        ]

    # -- effect half

    def start(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Create the network, or update its name and description.

        :raises climate.exceptions.Permanent: if it has to move to another segment
            while it is in use
        """
        return self._segments(work, cloud).settle()

    def check(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Repair changes that others made to the network."""
        return self._segments(work, cloud).settle()

    def end(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Remove the network with everything on it."""
        return self._segments(work, cloud).remove()

    def sweep(
        self, records: contract.Records, cloud: Cloud, *, dry_run: bool
    ) -> Iterable[contract.SweepFinding]:
        """Remove the networks that ended leases have left behind."""
        for network in cloud.network.list_networks():
            reservation_id = marks.over(network, records)
            if reservation_id is None:
                continue
            if not dry_run:
                effects.take_down(cloud.network, network.id)
            yield contract.SweepFinding(
                what=f'network {network.id} of reservation {reservation_id}, which is over',
                done='' if dry_run else 'removed with all that was on it',
            )

    def _segments(self, work: contract.Work, cloud: Cloud) -> Segments:
        request = self.load(work.reservation.request)
        return Segments(work, cloud.network, name=request.name, description=request.description)

    # -- resources

    resource_schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'additionalProperties': False,
        'required': ['network_type', 'segment_id'],
        'properties': {
            'network_type': {'enum': sorted(_LARGEST)},
            'physical_network': {'type': ['string', 'null'], 'minLength': 1, 'maxLength': 64},
            'segment_id': {'type': 'integer', 'minimum': 1, 'maximum': max(_LARGEST.values())},
        },
    }

    def discover(self, draft: ResourceDraft, cloud: Cloud) -> Resource:
        """Return a segment, unless Neutron has a network on it.

        Neutron has no call that shows whether it supports the segment.

        :raises climate.plugins.network.errors.SegmentInUse: if there is a network
        """
        _check_segment(draft.attributes)
        segment = effects.of(draft.attributes)
        physical = segment.physical_network
        resource = Resource(
            resource_type=RESOURCE_TYPE,
            name=f'{segment.network_type}:{physical or "-"}:{segment.segmentation_id}',
            attributes={
                'network_type': segment.network_type,
                'segment_id': segment.segmentation_id,
                **({} if physical is None else {'physical_network': physical}),
            },
            capabilities=draft.capabilities,
        )
        _refuse_use(resource, cloud)
        return resource

    def report(self, resources: Sequence[Resource], cloud: Cloud) -> Iterator[contract.Reported]:
        """Report segments on which Neutron has networks that Climate has not made."""
        strange = {one.segment for one in cloud.network.list_networks() if marks.strange(one)}
        for one in resources:
            taken = effects.TAKEN if effects.of(one.attributes) in strange else ''
            yield contract.Reported(known=one, now=one, taken=taken)

    def release(self, resource: Resource, cloud: Cloud, *, shared: bool = False) -> None:
        """Check that no network is on the segment.

        :raises climate.plugins.network.errors.SegmentInUse: if there is one
        """
        _refuse_use(resource, cloud)


def _check_segment(attributes: Mapping[str, Any]) -> None:
    kind, physical = attributes['network_type'], attributes.get('physical_network')
    if kind not in _LARGEST:
        raise exceptions.MalformedParameter.of(
            'network_type', f'it is one of {", ".join(sorted(_LARGEST))}'
        )
    number = fields.Count('The segment.').of(attributes, 'segment_id')
    if number > _LARGEST[kind]:
        raise exceptions.MalformedParameter.of(
            'segment_id', f'a {kind} has a number from 1 to {_LARGEST[kind]}'
        )
    if kind == 'vlan' and not physical:
        raise exceptions.MissingParameter(param='physical_network')
    if kind == 'vxlan' and physical is not None:
        raise exceptions.MalformedParameter.of('physical_network', 'tunnels have none')


def _refuse_use(resource: Resource, cloud: Cloud) -> None:
    used = cloud.network.find_network_of_segment(effects.of(resource.attributes))
    if used is not None:
        raise errors.SegmentInUse(segment=resource.name, network=used.id)
