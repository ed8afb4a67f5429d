# SPDX-License-Identifier: Apache-2.0
"""Floating IPs: ``virtual:floatingip``.

An operator registers addresses that Neutron does not assign by itself: they
lie in a subnet of an external network, outside of its allocation pools. During
a lease, Neutron has a floating IP with the address, in the project of the lease,
with the tags of :mod:`climate.plugins.marks`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import ipaddress
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Annotated
from typing import Any
from typing import ClassVar
from typing import Self

from climate import exceptions
from climate.allocation.requirements import Comparison
from climate.allocation.requirements import Operator
from climate.cloud.base import Cloud
from climate.cloud.base import CloudConflict
from climate.cloud.base import Network
from climate.cloud.base import Subnet
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
from climate.plugins import schemas
from climate.plugins.collection import ResourceCollection
from climate.plugins.fields import Fixed
from climate.plugins.floating_ip import errors
from climate.plugins.floating_ip.collection import FLOATING_IPS
from climate.plugins.floating_ip.effects import AddressEffects
from climate.plugins.floating_ip.facts import FloatingIPFacts
from climate.plugins.floating_ip.names import RESOURCE_TYPE as RESOURCE_TYPE
from climate.plugins.floating_ip.names import TAKEN


@dataclasses.dataclass(frozen=True)
class AddressList(fields.Kind):
    """A list of IP addresses; some clients send an empty text for an empty list."""

    kind = 'list'

    @property
    def bounds(self) -> str:
        """The limits of a value, for users."""
        return 'IP addresses'

    @property
    def schema(self) -> schemas.Schema:
        """The JSON schema of the values it takes."""
        address = {'type': 'string', 'anyOf': [{'format': 'ipv4'}, {'format': 'ipv6'}]}
        return {'anyOf': [{'type': 'array', 'items': address}, {'enum': ['']}]}

    def read(self, value: Any) -> tuple[str, ...]:
        """Return the addresses in canonical form."""
        if value == '':
            return ()
        if not isinstance(value, list):
            raise fields.Fault('it is not a list of addresses')
        return tuple(dict.fromkeys(str(_address(item)) for item in value))


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class FloatingIPRequest(models.Request):
    """Floating IPs of a network."""

    network_id: Annotated[
        str,
        fields.Text(
            'The external network, by its id in Neutron.',
            required=True,
            fixed=Fixed.ALWAYS,
            blank=True,
        ),
    ]
    amount: Annotated[int, fields.Count('The number of floating IPs.')]
    required: Annotated[
        tuple[str, ...],
        AddressList(
            'Addresses that have to be among them; once the lease runs none can be added.',
            key='required_floatingips',
        ),
    ] = ()

    unstated: ClassVar[tuple[str, ...]] = (
        'required_floatingips must not have more addresses than amount.',
    )

    def check(self) -> None:
        """Refuse more required addresses than floating IPs."""
        if len(self.required) > self.amount:
            raise errors.TooLongFloatingIPs

    def check_change(self, before: Self, given: Collection[str], *, running: bool) -> None:
        """Refuse addresses that were not required before, in a running lease.

        The project may use other addresses, which a new one would have to replace.
        """
        if running and set(self.required) - set(before.required):
            raise exceptions.CantUpdateParameter(param='required_floatingips')


class FloatingIP(contract.Plugin[FloatingIPRequest]):
    """Leases addresses by making floating IPs of them."""

    resource_type: ClassVar[str] = RESOURCE_TYPE
    restarts: ClassVar[bool] = True
    nouns: ClassVar[Nouns] = Nouns('floating IP', 'floating IPs')
    describes_request: ClassVar[bool] = True
    request_model: ClassVar[type[models.Request]] = FloatingIPRequest
    shrinks: ClassVar[bool] = True
    collection: ClassVar[ResourceCollection | None] = FLOATING_IPS

    # -- pure half

    def search(self, request: FloatingIPRequest) -> contract.Search:
        """Describe the addresses that the request can use."""
        return contract.Search(
            resource_type=RESOURCE_TYPE,
            minimum=request.amount,
            maximum=request.amount,
            requirement=Comparison(
                key='floating_network_id', op=Operator.EQ, value=request.network_id
            ),
            noun='floating IPs',
            names=tuple(resource_name(request.network_id, item) for item in request.required),
        )

    def instructions(
        self, reservation: Reservation, resources: Sequence[HeldResource]
    ) -> Sequence[contract.Instruction]:
        """Return how to give the addresses to servers."""
        addresses = sorted(FloatingIPFacts.of(reservation).floating_ips)[: instructions.MOST]
        return [
            contract.Instruction(
                name='add_floating_ip',
                title=f'Give {address} to a server',
                command=instructions.command(
                    'openstack', 'server', 'add', 'floating', 'ip', 'SERVER', address
                ),
            )
            for address in addresses
        ]

    # -- effect half

    def start(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Create exactly the allocated floating IPs.

        If the reservation loses some, floating IPs that lead nowhere go first.

        :raises climate.exceptions.Permanent: if one that leads to a port would have to go
        """
        return self._addresses(work, cloud).settle()

    def check(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Repair changes that others made to the floating IPs."""
        return self._addresses(work, cloud).check()

    def end(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Delete the floating IPs, wherever they lead."""
        return self._addresses(work, cloud).remove()

    def sweep(
        self, records: contract.Records, cloud: Cloud, *, dry_run: bool
    ) -> Iterable[contract.SweepFinding]:
        """Delete the floating IPs that ended leases have left behind."""
        for item in cloud.network.list_floating_ips():
            reservation_id = marks.over(item, records)
            if reservation_id is None:
                continue
            if not dry_run:
                cloud.network.delete_floating_ip(item.id)
            yield contract.SweepFinding(
                what=f'floating IP {item.address} of reservation {reservation_id}, which is over',
                done='' if dry_run else 'removed',
            )

    def _addresses(self, work: contract.Work, cloud: Cloud) -> AddressEffects:
        required = self.load(work.reservation.request).required
        return AddressEffects(work, cloud.network, required)

    # -- resources

    resource_schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'additionalProperties': False,
        **FLOATING_IPS.schema,
    }

    def discover(self, draft: ResourceDraft, cloud: Cloud) -> Resource:
        """Look up the subnet of an address, which Neutron must neither use nor assign."""
        address = str(_address(draft.attributes['floating_ip_address']))
        network = _network(cloud, str(draft.attributes['floating_network_id']))
        subnet = _subnet(cloud.network.list_subnets(network.id), address)
        if _belongs_to_neutron(subnet, address) or (
            cloud.network.find_port_of_address(network.id, address)
            or cloud.network.find_floating_ip(network.id, address)
        ):
            raise errors.NeutronUsesFloatingIP(floatingip=address)
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

    def report(self, resources: Sequence[Resource], cloud: Cloud) -> Iterator[contract.Reported]:
        """Report addresses that Neutron no longer leaves to Climate."""
        networks = {str(one.attributes['floating_network_id']) for one in resources}
        subnets = {one: _subnets(cloud, one) for one in sorted(networks)}
        strange = {
            resource_name(one.network_id, one.address)
            for one in cloud.network.list_floating_ips()
            if marks.strange(one)
        }
        for one in resources:
            known = subnets[str(one.attributes['floating_network_id'])]
            taken = TAKEN if one.name in strange else ''
            yield contract.Reported(known=one, now=one, trouble=_trouble(one, known), taken=taken)


def _subnets(cloud: Cloud, network_id: str) -> tuple[Subnet, ...] | None:
    """Return the subnets of an external network; None if there is no such network."""
    try:
        return cloud.network.list_subnets(_network(cloud, network_id).id)
    except errors.FloatingIPNetworkNotFound:
        return None


def _trouble(resource: Resource, subnets: tuple[Subnet, ...] | None) -> str:
    address = str(resource.attributes['floating_ip_address'])
    if subnets is None:
        return f'there is no external network {resource.attributes["floating_network_id"]}'
    try:
        subnet = _subnet(subnets, address)
    except exceptions.ClimateError:
        return 'it is in no subnet of its network'
    return 'Neutron assigns it to others' if _belongs_to_neutron(subnet, address) else ''


def resource_name(network_id: str, address: str) -> str:
    """Return the name under which an address of a network is registered."""
    return f'{network_id}:{address}'


def _address(value: object) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Parse an IP address.

    :raises climate.plugins.floating_ip.errors.InvalidIPFormat: if the value is not one
    """
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            return ipaddress.ip_address(value)
    raise errors.InvalidIPFormat(ip=repr(value)[:60])


def _network(cloud: Cloud, network_id: str) -> Network:
    """Return an external network.

    :raises climate.plugins.floating_ip.errors.FloatingIPNetworkNotFound: if there is none
    """
    try:
        network = cloud.network.find_network(network_id)
    except CloudConflict:
        # Several networks have this name, so it is not an id.
        network = None
    if network is None or network.id != network_id or not network.external:
        raise errors.FloatingIPNetworkNotFound(network=network_id)
    return network


def _subnet(subnets: Iterable[Subnet], address: str) -> Subnet:
    """Return the subnet of an address.

    :raises climate.plugins.floating_ip.errors.FloatingIPSubnetNotFound: if there is none
    """
    wanted = ipaddress.ip_address(address)
    for subnet in subnets:
        network = ipaddress.ip_network(subnet.cidr)
        if wanted in network and wanted not in _reserved(network):
            return subnet
    raise errors.FloatingIPSubnetNotFound(floatingip=address)


def _reserved(network: ipaddress.IPv4Network | ipaddress.IPv6Network) -> Iterator[Any]:
    """Yield the addresses of a range that no server can have."""
    if network.version == 4 and network.prefixlen < 31:
        yield network.network_address
        yield network.broadcast_address


def _belongs_to_neutron(subnet: Subnet, address: str) -> bool:
    """Whether an address is the gateway, or one that Neutron assigns by itself."""
    wanted = int(ipaddress.ip_address(address))
    if subnet.gateway_ip and wanted == int(ipaddress.ip_address(subnet.gateway_ip)):
        return True
    return any(
        int(ipaddress.ip_address(first)) <= wanted <= int(ipaddress.ip_address(last))
        for first, last in subnet.allocation_pools
    )
