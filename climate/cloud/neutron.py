# SPDX-License-Identifier: Apache-2.0

"""Neutron, over openstacksdk.

:mod:`climate.cloud.errors` maps all errors. When a client sets the tags of an object
that does not exist, Neutron returns 500; this client then looks for the object and
reports that it does not exist.
"""

from __future__ import annotations

import contextlib
import ipaddress
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from climate import exceptions
from climate.cloud.base import CloudConflict
from climate.cloud.base import CloudNotFound
from climate.cloud.base import FloatingIP
from climate.cloud.base import Network
from climate.cloud.base import Port
from climate.cloud.base import Segment
from climate.cloud.base import Subnet
from climate.cloud.sdk import SdkService
from climate.domain import copies


class NeutronNetworking:
    """Implements :class:`climate.cloud.base.Networking`.

    :param service: of the type ``network``
    """

    def __init__(self, service: SdkService) -> None:
        self._service = service

    # -- networks and subnets

    def find_network(self, name_or_id: str) -> Network | None:
        """Return the network with this id, or else with exactly this name."""
        return self._network_of_id(name_or_id) or self._network_named(name_or_id)

    def _network_of_id(self, network_id: str) -> Network | None:
        networks = self._networks('find_network', id=network_id)
        return networks[0] if networks else None

    def _network_named(self, name: str) -> Network | None:
        networks = self._networks('find_network', name=name)
        if len(networks) > 1:
            raise CloudConflict(f'several networks have the name {name!r}')
        return networks[0] if networks else None

    def find_network_of_segment(self, segment: Segment) -> Network | None:
        """Return the network that uses a segment; None if it is free."""
        networks = self._networks('find_network_of_segment', **_provider(segment))
        return next((network for network in networks if network.segment == segment), None)

    def list_networks(self, tag: str | None = None) -> tuple[Network, ...]:
        """Return every network, or those with this tag, by id."""
        # Callers delete these networks, so no others may be among them, even if Neutron
        # ignores the filter.
        query = {} if tag is None else {'tags': tag}
        networks = self._networks('list_networks', **query)
        return tuple(network for network in networks if tag is None or tag in network.tags)

    def _networks(self, verb: str, **query: Any) -> tuple[Network, ...]:
        return self._service.every(verb, lambda neutron: map(_network, neutron.networks(**query)))

    def create_network(
        self, name: str, project_id: str, segment: Segment, *, description: str = ''
    ) -> Network:
        """Create a network of a project on a segment, without tags."""
        with self._service.calling('create_network') as neutron:
            made = neutron.create_network(
                name=name, project_id=project_id, description=description, **_provider(segment)
            )
            return _network(made)

    def describe_network(self, network_id: str, name: str, description: str) -> None:
        """Change the name and description of a network."""
        with self._service.calling('describe_network') as neutron:
            neutron.update_network(network_id, name=name, description=description)

    def set_network_tags(self, network_id: str, tags: AbstractSet[str]) -> None:
        """Replace the tags of a network."""
        try:
            self._set_tags('set_network_tags', f'/networks/{network_id}', tags)
        except exceptions.Transient:
            if self._network_of_id(network_id) is None:
                raise CloudNotFound(f'Neutron has no network {network_id}') from None
            raise

    def _set_tags(self, verb: str, path: str, tags: AbstractSet[str]) -> None:
        with self._service.calling(verb) as neutron:
            neutron.put(f'{path}/tags', json={'tags': sorted(tags)}, raise_exc=True)

    def delete_network(self, network_id: str) -> None:
        """Delete a network with its subnets; a no-op if it does not exist."""
        with contextlib.suppress(CloudNotFound), self._service.calling('delete_network') as neutron:
            neutron.delete_network(network_id, ignore_missing=False)

    def list_subnets(self, network_id: str) -> tuple[Subnet, ...]:
        """Return the subnets of a network, by id."""
        query = {'network_id': network_id}
        return self._service.every(
            'list_subnets', lambda neutron: map(_subnet, neutron.subnets(**query))
        )

    def delete_subnet(self, subnet_id: str) -> None:
        """Delete a subnet; a no-op if it does not exist."""
        with contextlib.suppress(CloudNotFound), self._service.calling('delete_subnet') as neutron:
            neutron.delete_subnet(subnet_id, ignore_missing=False)

    # -- ports and routers

    def list_ports(self, network_id: str) -> tuple[Port, ...]:
        """Return the ports of a network, by id, including those of routers."""
        return self._ports('list_ports', network_id=network_id)

    def find_port_of_address(self, network_id: str, address: str) -> Port | None:
        """Return the port with an address in a network; None if the address is free."""
        query = {'network_id': network_id, 'fixed_ips': f'ip_address={address}'}
        ports = self._ports('find_port_of_address', **query)
        return ports[0] if ports else None

    def _ports(self, verb: str, **query: Any) -> tuple[Port, ...]:
        return self._service.every(verb, lambda neutron: map(_port, neutron.ports(**query)))

    def delete_port(self, port_id: str) -> None:
        """Delete a port; a no-op if it does not exist."""
        with contextlib.suppress(CloudNotFound), self._service.calling('delete_port') as neutron:
            neutron.delete_port(port_id, ignore_missing=False)

    def remove_router_interface(self, router_id: str, port_id: str) -> None:
        """Remove a router from a network; a no-op if it or the port does not exist."""
        with contextlib.suppress(CloudNotFound):
            with self._service.calling('remove_router_interface') as neutron:
                neutron.remove_interface_from_router(router_id, port=port_id)

    def remove_routes(self, router_id: str, port_id: str) -> None:
        """Remove the static routes of a router that lead through an interface."""
        with contextlib.suppress(CloudNotFound), self._service.calling('remove_routes') as neutron:
            fixed = neutron.get_port(port_id).fixed_ips
            ranges = [neutron.get_subnet(item['subnet_id']).cidr for item in fixed]
            routes = neutron.get_router(router_id).routes
            stay = [item for item in routes if not _is_within(item['nexthop'], ranges)]
            if len(stay) < len(routes):
                neutron.update_router(router_id, routes=stay)

    def delete_router(self, router_id: str) -> None:
        """Delete a router and its gateway; a no-op if it does not exist."""
        with contextlib.suppress(CloudNotFound), self._service.calling('delete_router') as neutron:
            neutron.delete_router(router_id, ignore_missing=False)

    # -- floating IPs

    def find_floating_ip(self, network_id: str, address: str) -> FloatingIP | None:
        """Return the floating IP of exactly this address; None if it is free."""
        addresses = self._floating_ips(
            'find_floating_ip', floating_network_id=network_id, floating_ip_address=address
        )
        return addresses[0] if addresses else None

    def list_floating_ips(
        self, tag: str | None = None, *, description: str | None = None
    ) -> tuple[FloatingIP, ...]:
        """Return every floating IP, or those with this tag and description, by id."""
        wanted = {'tags': tag, 'description': description}
        query = {key: value for key, value in wanted.items() if value is not None}
        return tuple(
            item
            for item in self._floating_ips('list_floating_ips', **query)
            if (tag is None or tag in item.tags) and description in (None, item.description)
        )

    def _floating_ips(self, verb: str, **query: Any) -> tuple[FloatingIP, ...]:
        return self._service.every(verb, lambda neutron: map(_floating_ip, neutron.ips(**query)))

    def create_floating_ip(
        self,
        network_id: str,
        project_id: str,
        *,
        subnet_id: str | None = None,
        address: str | None = None,
        description: str = '',
    ) -> FloatingIP:
        """Allocate a floating IP of an external network to a project, without tags."""
        wanted = {'subnet_id': subnet_id, 'floating_ip_address': address}
        with self._service.calling('create_floating_ip') as neutron:
            made = neutron.create_ip(
                floating_network_id=network_id,
                project_id=project_id,
                description=description,
                **{key: value for key, value in wanted.items() if value is not None},
            )
            return _floating_ip(made)

    def set_floating_ip_tags(self, floating_ip_id: str, tags: AbstractSet[str]) -> None:
        """Replace the tags of a floating IP."""
        verb = 'set_floating_ip_tags'
        try:
            self._set_tags(verb, f'/floatingips/{floating_ip_id}', tags)
        except exceptions.Transient:
            if not self._floating_ips(verb, id=floating_ip_id):
                raise CloudNotFound(f'Neutron has no floating IP {floating_ip_id}') from None
            raise

    def delete_floating_ip(self, floating_ip_id: str) -> None:
        """Release a floating IP, attached or not; a no-op if it does not exist."""
        with contextlib.suppress(CloudNotFound):
            with self._service.calling('delete_floating_ip') as neutron:
                neutron.delete_ip(floating_ip_id, ignore_missing=False)


def _is_within(address: str, ranges: Iterable[str]) -> bool:
    parsed = ipaddress.ip_address(address)
    return any(parsed in ipaddress.ip_network(item) for item in ranges)


def _provider(segment: Segment) -> Mapping[str, object]:
    attributes = {
        'provider_network_type': segment.network_type,
        'provider_physical_network': segment.physical_network,
        'provider_segmentation_id': segment.segmentation_id,
    }
    # Neutron rejects null for an attribute that the network type does not have.
    return {key: value for key, value in attributes.items() if value is not None}


def _network(item: Any) -> Network:
    number = item.provider_segmentation_id
    return copies.converted(
        Network,
        item,
        segment=Segment(
            network_type=item.provider_network_type,
            physical_network=item.provider_physical_network,
            segmentation_id=None if number is None else int(number),
        ),
        external=bool(item.is_router_external),
        tags=frozenset(item.tags),
        description=item.description or '',
    )


def _subnet(item: Any) -> Subnet:
    pools = ((pool['start'], pool['end']) for pool in item.allocation_pools)
    return copies.converted(
        Subnet,
        item,
        allocation_pools=tuple(sorted(pools, key=lambda pool: int(ipaddress.ip_address(pool[0])))),
    )


def _port(item: Any) -> Port:
    return copies.converted(Port, item)


def _floating_ip(item: Any) -> FloatingIP:
    return copies.converted(
        FloatingIP,
        item,
        network_id=item.floating_network_id,
        address=item.floating_ip_address,
        tags=frozenset(item.tags or ()),
        description=item.description or '',
    )
