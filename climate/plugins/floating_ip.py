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
"""Floating IPs: ``virtual:floatingip``.

An operator registers addresses that Neutron gives to nobody by itself: they
lie in a subnet of an external network, outside of its allocation pools. During
a lease Neutron has a floating IP of the address, in the project of the lease,
with the tags of :mod:`climate.plugins.marks`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import ipaddress
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any
from typing import ClassVar

from climate import exceptions
from climate.allocation.requirements import Comparison
from climate.allocation.requirements import Operator
from climate.clients.base import Cloud
from climate.clients.base import CloudConflict
from climate.clients.base import Network
from climate.clients.base import Subnet
from climate.domain.leases import Reservation
from climate.domain.resources import Resource
from climate.domain.resources import ResourceDraft
from climate.plugins import base
from climate.plugins import fields
from climate.plugins import marks
from climate.plugins.addresses import Addresses

RESOURCE_TYPE = 'virtual:floatingip'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class FloatingIPRequest:
    """What somebody wants: so many floating IPs of a network.

    :ivar network_id: Neutron's id of the external network
    :ivar required: addresses that have to be among them, in canonical form
    """

    network_id: str
    amount: int
    required: tuple[str, ...] = ()


class FloatingIP(base.Plugin[FloatingIPRequest]):
    """Leases addresses by making floating IPs of them."""

    resource_type: ClassVar[str] = RESOURCE_TYPE
    request_schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'required': ['resource_type', 'network_id', 'amount'],
        'properties': {
            'resource_type': {'const': RESOURCE_TYPE},
            'network_id': fields.TEXT,
            'amount': fields.COUNT,
            # Clients that leave it empty send an empty text.
            'required_floatingips': {
                'type': ['array', 'null', 'string'],
                'items': {'type': 'string'},
                'maxLength': 0,
            },
        },
    }

    shrinks: ClassVar[bool] = True

    @classmethod
    def from_conf(cls, conf: Any) -> FloatingIP:  # noqa: ARG003  nothing is configured
        """Return the plugin; nothing is configured."""
        return cls()

    # -- pure half

    def parse(self, body: Mapping[str, Any], *, strict: bool = False) -> FloatingIPRequest:
        """Read what a client sent; see :class:`climate.plugins.base.Plugin`."""
        fields.known(body, self.request_schema, strict=strict)
        request = FloatingIPRequest(
            network_id=fields.text(body, 'network_id', required=True),
            amount=fields.count(body, 'amount'),
            required=_required(body),
        )
        return _checked(request)

    def change(
        self,
        request: FloatingIPRequest,
        body: Mapping[str, Any],
        *,
        strict: bool = False,
        running: bool = False,
    ) -> FloatingIPRequest:
        """Return *request* with the changes a client sent.

        In a running lease no address becomes required that was not: it might
        be another one than those that the project makes use of.
        """
        fields.known(body, self.request_schema, strict=strict, also=('id',))
        if fields.text(body, 'network_id') not in ('', request.network_id):
            raise exceptions.CantUpdateParameter(param='network_id')
        amount, required = request.amount, request.required
        if body.get('amount') is not None:
            amount = fields.count(body, 'amount')
        if body.get('required_floatingips') is not None:
            required = _required(body)
        if running and set(required) - set(request.required):
            raise exceptions.CantUpdateParameter(param='required_floatingips')
        return _checked(dataclasses.replace(request, amount=amount, required=required))

    def dump(self, request: FloatingIPRequest) -> dict[str, Any]:
        """Return *request* as JSON values."""
        return {
            'network_id': request.network_id,
            'amount': request.amount,
            'required_floatingips': list(request.required),
        }

    def load(self, stored: Mapping[str, Any]) -> FloatingIPRequest:
        """Return the request that :meth:`dump` wrote."""
        return FloatingIPRequest(
            network_id=stored['network_id'],
            amount=stored['amount'],
            required=tuple(stored['required_floatingips']),
        )

    def search(self, request: FloatingIPRequest) -> base.Search:
        """Say which addresses the request can use."""
        return base.Search(
            resource_type=RESOURCE_TYPE,
            minimum=request.amount,
            maximum=request.amount,
            requirement=Comparison(
                key='floating_network_id', op=Operator.EQ, value=request.network_id
            ),
            noun='floating IPs',
            names=tuple(resource_name(request.network_id, item) for item in request.required),
        )

    def describe(self, reservation: Reservation) -> dict[str, Any]:
        """Return the keys of a reservation of floating IPs in the API's answer."""
        return self.dump(self.load(reservation.request))

    # -- effect half

    def start(self, work: base.Work, cloud: Cloud) -> base.Outcome:
        """Make exactly the allocated floating IPs.

        What is to be given up are rather those that lead nowhere.

        :raises climate.exceptions.Permanent: if all of them lead to ports
        """
        return self._addresses(work, cloud).settle()

    def check(self, work: base.Work, cloud: Cloud) -> base.Outcome:
        """Put right what somebody else changed about the floating IPs."""
        return self._addresses(work, cloud).check()

    def end(self, work: base.Work, cloud: Cloud) -> base.Outcome:
        """Remove the floating IPs, wherever they lead to."""
        return self._addresses(work, cloud).remove()

    def sweep(
        self, records: base.Records, cloud: Cloud, *, dry_run: bool
    ) -> Iterable[base.Finding]:
        """Remove the floating IPs that leases which are over have left."""
        for found in cloud.network.list_floating_ips():
            reservation_id = marks.over(found, records)
            if reservation_id is None:
                continue
            if not dry_run:
                cloud.network.delete_floating_ip(found.id)
            yield base.Finding(
                what=f'floating IP {found.address} of reservation {reservation_id}, which is over',
                done='' if dry_run else 'removed',
            )

    def _addresses(self, work: base.Work, cloud: Cloud) -> Addresses:
        required = self.load(work.reservation.request).required
        return Addresses(work, cloud.network, required)

    # -- resources

    resource_schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'additionalProperties': False,
        'required': ['floating_network_id', 'floating_ip_address'],
        'properties': {
            'floating_network_id': {'type': 'string', 'minLength': 1, 'maxLength': 255},
            'floating_ip_address': {'type': 'string', 'minLength': 1, 'maxLength': 64},
        },
    }

    def discover(self, draft: ResourceDraft, cloud: Cloud) -> Resource:
        """Look up where an address belongs that Neutron gives to nobody by itself."""
        address = str(_address(draft.attributes['floating_ip_address']))
        network = _network(cloud, str(draft.attributes['floating_network_id']))
        subnet = _subnet(cloud.network.list_subnets(network.id), address)
        if _is_given_away(subnet, address) or (
            cloud.network.find_port_of_address(network.id, address)
            or cloud.network.find_floating_ip(network.id, address)
        ):
            raise exceptions.NeutronUsesFloatingIP(floatingip=address)
        return Resource(
            resource_type=RESOURCE_TYPE,
            name=resource_name(network.id, address),
            attributes={
                'floating_network_id': network.id,
                'subnet_id': subnet.id,
                'floating_ip_address': address,
            },
            capabilities=draft.capabilities,
        )


def resource_name(network_id: str, address: str) -> str:
    """Return under which name an address of a network is registered."""
    return f'{network_id}:{address}'


def _address(value: object) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return an IP address.

    :raises climate.exceptions.InvalidIPFormat: if it is none
    """
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            return ipaddress.ip_address(value)
    raise exceptions.InvalidIPFormat(ip=repr(value)[:60])


def _required(body: Mapping[str, Any]) -> tuple[str, ...]:
    value = body.get('required_floatingips')
    if value is None or value == '':
        return ()
    if not isinstance(value, list):
        raise exceptions.MalformedParameter(
            'Malformed parameter required_floatingips: it is not a list of addresses'
        )
    return tuple(dict.fromkeys(str(_address(item)) for item in value))


def _checked(request: FloatingIPRequest) -> FloatingIPRequest:
    if len(request.required) > request.amount:
        raise exceptions.TooLongFloatingIPs
    return request


def _network(cloud: Cloud, network_id: str) -> Network:
    """Return an external network.

    :raises climate.exceptions.FloatingIPNetworkNotFound: if there is none
    """
    try:
        found = cloud.network.find_network(network_id)
    except CloudConflict:
        # Several have this name; it is no id.
        found = None
    if found is None or found.id != network_id or not found.external:
        raise exceptions.FloatingIPNetworkNotFound(network=network_id)
    return found


def _subnet(subnets: Iterable[Subnet], address: str) -> Subnet:
    """Return the subnet that an address is of.

    :raises climate.exceptions.FloatingIPSubnetNotFound: if there is none
    """
    wanted = ipaddress.ip_address(address)
    for subnet in subnets:
        network = ipaddress.ip_network(subnet.cidr)
        if wanted in network and wanted not in _reserved(network):
            return subnet
    raise exceptions.FloatingIPSubnetNotFound(floatingip=address)


def _reserved(network: ipaddress.IPv4Network | ipaddress.IPv6Network) -> Iterator[Any]:
    """Yield the addresses of a range that nobody can have."""
    if network.version == 4 and network.prefixlen < 31:
        yield network.network_address
        yield network.broadcast_address


def _is_given_away(subnet: Subnet, address: str) -> bool:
    """Whether an address is the gateway, or Neutron gives it to whoever asks."""
    wanted = int(ipaddress.ip_address(address))
    if subnet.gateway_ip and wanted == int(ipaddress.ip_address(subnet.gateway_ip)):
        return True
    return any(
        int(ipaddress.ip_address(first)) <= wanted <= int(ipaddress.ip_address(last))
        for first, last in subnet.allocation_pools
    )
