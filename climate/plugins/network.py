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
"""Networks on segments of one's own: ``network``.

An operator registers segments: VLANs of a physical network, or VXLANs. During
a lease Neutron has a network on the segment, of the project of the lease,
which makes subnets in it and plugs servers and routers in as it likes. At the
end all of that is taken off, and the segment is free for the next one.
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
from climate.domain.leases import Reservation
from climate.domain.resources import Resource
from climate.domain.resources import ResourceDraft
from climate.plugins import base
from climate.plugins import fields
from climate.plugins import marks
from climate.plugins import segments
from climate.plugins.segments import Segments

RESOURCE_TYPE = 'network'
_LARGEST = {'vlan': 4094, 'vxlan': (1 << 24) - 1}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class NetworkRequest:
    """What somebody wants: one network.

    :ivar name: what Neutron is to call it
    :ivar description: what Neutron is to say about it
    :ivar network_properties: requirement on the segment; JSON text or ''
    :ivar resource_properties: another one, likewise; both may speak of what
        the segment is and of what operators say of it
    """

    name: str
    description: str = ''
    network_properties: str = ''
    resource_properties: str = ''


class NetworkPlugin(base.Plugin[NetworkRequest]):
    """Leases segments by making networks on them."""

    resource_type: ClassVar[str] = RESOURCE_TYPE
    request_schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'required': ['resource_type', 'network_name'],
        'properties': {
            'resource_type': {'const': RESOURCE_TYPE},
            'network_name': fields.TEXT,
            'network_description': fields.TEXT,
            'network_properties': fields.REQUIREMENT,
            'resource_properties': fields.REQUIREMENT,
            'before_end': {'enum': ['', 'default', None]},
        },
    }

    @classmethod
    def from_conf(cls, conf: Any) -> NetworkPlugin:  # noqa: ARG003  nothing is configured
        """Return the plugin."""
        return cls()

    # -- pure half

    def parse(self, body: Mapping[str, Any], *, strict: bool = False) -> NetworkRequest:
        """Read what a client sent; see :class:`climate.plugins.base.Plugin`."""
        fields.known(body, self.request_schema, strict=strict)
        _check_before_end(body)
        return NetworkRequest(
            name=fields.text(body, 'network_name', required=True),
            description=fields.text(body, 'network_description', lines=True),
            network_properties=fields.requirement(body, 'network_properties'),
            resource_properties=fields.requirement(body, 'resource_properties'),
        )

    def change(
        self,
        request: NetworkRequest,
        body: Mapping[str, Any],
        *,
        strict: bool = False,
        running: bool = False,
    ) -> NetworkRequest:
        """Return *request* with the changes a client sent.

        A network cannot be moved to another segment, so what it is asked for
        is fixed once it is there.
        """
        fields.known(body, self.request_schema, strict=strict, also=('id',))
        _check_before_end(body)
        changes = {}
        if body.get('network_name') is not None:
            changes['name'] = fields.text(body, 'network_name', required=True)
        if body.get('network_description') is not None:
            changes['description'] = fields.text(body, 'network_description', lines=True)
        for key in ('network_properties', 'resource_properties'):
            if body.get(key) is not None:
                changes[key] = fields.requirement(body, key)
                if running and changes[key] != getattr(request, key):
                    raise exceptions.CantUpdateParameter(param=key)
        return dataclasses.replace(request, **changes)

    def dump(self, request: NetworkRequest) -> dict[str, Any]:
        """Return *request* as JSON values."""
        return {
            'network_name': request.name,
            'network_description': request.description,
            'network_properties': request.network_properties,
            'resource_properties': request.resource_properties,
        }

    def load(self, stored: Mapping[str, Any]) -> NetworkRequest:
        """Return the request that :meth:`dump` wrote."""
        return NetworkRequest(
            name=stored['network_name'],
            description=stored['network_description'],
            network_properties=stored['network_properties'],
            resource_properties=stored['resource_properties'],
        )

    def search(self, request: NetworkRequest) -> base.Search:
        """Say which segments the request can use."""
        return base.Search(
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
        """Whether the network is to be called otherwise."""
        return (before.name, before.description) != (request.name, request.description)

    def describe(self, reservation: Reservation) -> dict[str, Any]:
        """Return the keys of a reservation of a network in the API's answer."""
        return {
            **self.dump(self.load(reservation.request)),
            'network_id': reservation.facts.get(segments.FACT),
        }

    # -- effect half

    def start(self, work: base.Work, cloud: Cloud) -> base.Outcome:
        """Make the network, or bring its name and description up to date.

        :raises climate.exceptions.Permanent: if it is to be on another segment
            than before, and is in use
        """
        return self._segments(work, cloud).settle()

    def check(self, work: base.Work, cloud: Cloud) -> base.Outcome:
        """Put right what somebody else changed about the network."""
        return self._segments(work, cloud).settle()

    def end(self, work: base.Work, cloud: Cloud) -> base.Outcome:
        """Remove the network with all that is on it."""
        return self._segments(work, cloud).remove()

    def sweep(
        self, records: base.Records, cloud: Cloud, *, dry_run: bool
    ) -> Iterable[base.Finding]:
        """Remove the networks that leases which are over have left."""
        for found in cloud.network.list_networks():
            reservation_id = marks.over(found, records)
            if reservation_id is None:
                continue
            if not dry_run:
                segments.take_down(cloud.network, found.id)
            yield base.Finding(
                what=f'network {found.id} of reservation {reservation_id}, which is over',
                done='' if dry_run else 'removed with all that was on it',
            )

    def _segments(self, work: base.Work, cloud: Cloud) -> Segments:
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
        """Look whether Neutron has a network on a segment.

        It cannot be asked whether it could have one there.
        """
        _check_segment(draft.attributes)
        segment = segments.of(draft.attributes)
        physical = segment.physical_network
        found = Resource(
            resource_type=RESOURCE_TYPE,
            name=f'{segment.network_type}:{physical or "-"}:{segment.segmentation_id}',
            attributes={
                'network_type': segment.network_type,
                'segment_id': segment.segmentation_id,
                **({} if physical is None else {'physical_network': physical}),
            },
            capabilities=draft.capabilities,
        )
        _refuse_use(found, cloud)
        return found

    def release(self, resource: Resource, cloud: Cloud) -> None:
        """Let a segment go that no network is on.

        :raises climate.exceptions.SegmentInUse: if there is one
        """
        _refuse_use(resource, cloud)


def _check_before_end(body: Mapping[str, Any]) -> None:
    """Take what existing clients send, of which none asks for anything."""
    if body.get('before_end') not in (None, '', 'default'):
        raise exceptions.MalformedParameter(
            "Malformed parameter before_end: a network has nothing but ''"
        )


def _check_segment(attributes: Mapping[str, Any]) -> None:
    kind, physical = attributes['network_type'], attributes.get('physical_network')
    if kind not in _LARGEST:
        raise exceptions.MalformedParameter(
            f'Malformed parameter network_type: it is one of {", ".join(sorted(_LARGEST))}'
        )
    number = fields.count(attributes, 'segment_id')
    if number > _LARGEST[kind]:
        raise exceptions.MalformedParameter(
            f'Malformed parameter segment_id: a {kind} has a number from 1 to {_LARGEST[kind]}'
        )
    if kind == 'vlan' and not physical:
        raise exceptions.MissingParameter(param='physical_network')
    if kind == 'vxlan' and physical is not None:
        raise exceptions.MalformedParameter(
            'Malformed parameter physical_network: tunnels have none'
        )


def _refuse_use(resource: Resource, cloud: Cloud) -> None:
    used = cloud.network.find_network_of_segment(segments.of(resource.attributes))
    if used is not None:
        raise exceptions.SegmentInUse(segment=resource.name, network=used.id)
