# SPDX-License-Identifier: Apache-2.0
"""The network of one reservation, on the segment that is allocated to it."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping

from climate import exceptions
from climate.cloud import base
from climate.domain.leases import Allocation
from climate.domain.resources import Resource
from climate.plugins import contract
from climate.plugins import marks
from climate.plugins.network.facts import NetworkFacts

LOG = logging.getLogger(__name__)

# Owner of ports that Neutron creates by itself, and deletes with the network.
_OF_NEUTRON = 'network:'
TAKEN = 'Neutron has a network on it that Climate has not made'


def of(attributes: Mapping[str, str | int | None]) -> base.Segment:
    """Return the segment that the attributes of a resource describe."""
    physical = attributes.get('physical_network')
    return base.Segment(
        network_type=str(attributes['network_type']),
        physical_network=None if physical is None else str(physical),
        segmentation_id=int(attributes['segment_id'] or 0),
    )


class Segments:
    """Creates, repairs and deletes the network; every step can be repeated.

    :param name: the requested name
    :param description: the requested description
    """

    def __init__(
        self, work: contract.Work, neutron: base.Networking, *, name: str, description: str
    ) -> None:
        self._work = work
        self._neutron = neutron
        self._name = name
        self._description = description
        self._facts = NetworkFacts.of(work.reservation)
        self._resources = {resource.id: resource for resource in work.resources}

    def settle(self) -> contract.Done:
        """Make sure that the network is on the allocated segment, and on no segment to leave.

        :raises climate.exceptions.Permanent: if a network to remove is in use
        """
        self._leave()
        facts = self._facts
        repaired: list[str] = []
        for resource in self._of(self._work.allocations):
            network = self._present(resource, repaired)
            self._tag(network, repaired)
            facts = dataclasses.replace(
                facts, network_id=network.id, described=self._describe(network)
            )
        return contract.Done(facts=facts.changes(self._work.reservation), repaired=tuple(repaired))

    def remove(self) -> contract.Done:
        """Remove the network with everything on it."""
        for resource in self._work.resources:
            self._remove(resource)
        facts = dataclasses.replace(self._facts, network_id=None, described=())
        return contract.Done(facts=facts.changes(self._work.reservation))

    def _remove(self, resource: Resource) -> None:
        network = self._neutron.find_network_of_segment(of(resource.attributes))
        if network is not None and self._is_ours(network):
            take_down(self._neutron, network.id)

    def _of(self, allocations: Iterable[Allocation]) -> Iterator[Resource]:
        for item in allocations:
            yield self._resources[item.resource_id]

    def _is_ours(self, network: base.Network) -> bool:
        return marks.is_of(self._work, network, self._facts.network_id)

    def _leave(self) -> None:
        for resource in self._of(self._work.leaving):
            network = self._neutron.find_network_of_segment(of(resource.attributes))
            if network is None or not self._is_ours(network):
                continue
            if any(map(_is_of_users, self._neutron.list_ports(network.id))):
                raise exceptions.Permanent(
                    f'network {network.id} is in use and cannot be moved to another segment'
                )
            take_down(self._neutron, network.id)
        for resource in self._work.undone:
            self._remove(resource)

    def _present(self, resource: Resource, repaired: list[str]) -> base.Network:
        """Return the network; create it if it does not exist."""
        segment = of(resource.attributes)
        network = self._neutron.find_network_of_segment(segment)
        if network is None:
            repaired.append(f'the network on segment {resource.name} was missing')
            return self._made(segment)
        if not self._is_ours(network) or network.project_id != self._work.lease.project_id:
            # Transient, since it may be of the previous lease, or an operator may remove it.
            # Only the log names the project, which the owner of the lease must not see.
            LOG.warning(
                'Segment %s of reservation %s is used by network %s of project %s',
                resource.name,
                self._work.reservation.id,
                network.id,
                network.project_id,
            )
            message = f'segment {resource.name} is used by another network'
            if marks.strange(network) and self._facts.network_id is None:
                raise exceptions.ResourceUnusable(message, resource_id=resource.id, reason=TAKEN)
            raise exceptions.Transient(message)
        return network

    def _made(self, segment: base.Segment) -> base.Network:
        # If another caller has just created one there, the next attempt finds it.
        with base.as_transient(base.CloudConflict):
            return self._neutron.create_network(
                self._name,
                self._work.lease.project_id,
                segment,
                description=marks.of(self._work.reservation.id),
            )

    def _tag(self, network: base.Network, repaired: list[str]) -> None:
        wanted = marks.tags(self._work.reservation.id)
        if wanted <= network.tags:
            return
        if network.id == self._facts.network_id:
            repaired.append(f'network {network.id} had lost its tags')
        others = {tag for tag in network.tags if not marks.reservations({tag})}
        with base.as_transient(base.CloudNotFound, base.CloudConflict):
            self._neutron.set_network_tags(network.id, others | wanted)

    def _describe(self, network: base.Network) -> tuple[str, str]:
        """Set the requested name and description of the network, and return them.

        They are set only once for each change of the request, since the project owns
        the network and may rename it.
        """
        wanted = (self._name, self._description)
        fresh = network.id != self._facts.network_id or wanted != self._facts.described
        if fresh and wanted != (network.name, network.description):
            with base.as_transient(base.CloudNotFound, base.CloudConflict):
                self._neutron.describe_network(network.id, *wanted)
        return wanted


def take_down(neutron: base.Networking, network_id: str) -> None:
    """Remove a network with its subnets and all ports.

    Floating IPs that lead to it then lead nowhere. Routers stay with their owners,
    but lose their interfaces there and their routes through the network.

    :raises climate.exceptions.Transient: if a port was added at the same time
    """
    ports = neutron.list_ports(network_id)
    with base.as_transient(base.CloudNotFound, base.CloudConflict):
        # Ports that floating IPs lead to come first: a router on the way to such a
        # port cannot be detached.
        for port in ports:
            if not port.device_owner.startswith(_OF_NEUTRON):
                neutron.delete_port(port.id)
        for port in ports:
            if port.router_id is not None:
                _unplug(neutron, port.router_id, port.id)
        neutron.delete_network(network_id)


def _unplug(neutron: base.Networking, router_id: str, port_id: str) -> None:
    """Detach a router, with its routes through the network if there are any."""
    try:
        neutron.remove_router_interface(router_id, port_id)
    except base.CloudConflict:
        neutron.remove_routes(router_id, port_id)
        neutron.remove_router_interface(router_id, port_id)


def _is_of_users(port: base.Port) -> bool:
    """Whether a user has connected something to the network with a port."""
    return port.router_id is not None or not port.device_owner.startswith(_OF_NEUTRON)
