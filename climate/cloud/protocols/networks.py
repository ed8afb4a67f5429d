# SPDX-License-Identifier: Apache-2.0

"""Networks of Neutron and their subnets."""

from __future__ import annotations

import dataclasses
from collections.abc import Set as AbstractSet
from typing import Protocol


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Segment:
    """The segment of a physical network, or the tunnel, that a network uses.

    :ivar network_type: the type in Neutron, such as ``vlan`` or ``vxlan``
    :ivar physical_network: the name in Neutron; None for tunnels
    :ivar segmentation_id: the VLAN or tunnel id; None for a type without one
    """

    network_type: str
    physical_network: str | None
    segmentation_id: int | None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Network:
    """A layer-2 network.

    :ivar external: whether it can have floating IPs
    """

    id: str
    name: str
    project_id: str
    segment: Segment
    external: bool
    tags: frozenset[str]
    description: str = ''


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Subnet:
    """A range of addresses in a network.

    :ivar cidr: the range, such as ``192.0.2.0/24``
    :ivar gateway_ip: None if it has no gateway
    :ivar allocation_pools: first and last address of each range from which Neutron
        allocates, in ascending order
    """

    id: str
    name: str
    network_id: str
    cidr: str
    gateway_ip: str | None
    allocation_pools: tuple[tuple[str, str], ...]


class Networks(Protocol):
    """Operations on networks and subnets, in all projects."""

    def find_network(self, name_or_id: str) -> Network | None:
        """Return the network with this id, or else with exactly this name.

        None if neither exists.

        :raises CloudConflict: if several networks have the name: names are not unique
        """

    def find_network_of_segment(self, segment: Segment) -> Network | None:
        """Return the network that uses a segment; None if it is free."""

    def list_networks(self, tag: str | None = None) -> tuple[Network, ...]:
        """Return every network, or those with this tag, by id."""

    def create_network(
        self, name: str, project_id: str, segment: Segment, *, description: str = ''
    ) -> Network:
        """Create a network of a project on a segment, without tags.

        :raises CloudConflict: if the segment is in use (possibly by an earlier call
            whose response was lost: see :meth:`find_network_of_segment`)
        :raises CloudQuota: if the project has reached its limit of networks
        :raises climate.exceptions.Permanent: if the cloud has no such segment
        """

    def describe_network(self, network_id: str, name: str, description: str) -> None:
        """Change the name and description of a network.

        :raises CloudNotFound: if there is no such network
        """

    def set_network_tags(self, network_id: str, tags: AbstractSet[str]) -> None:
        """Replace the tags of a network.

        :raises CloudNotFound: if there is no such network
        """

    def delete_network(self, network_id: str) -> None:
        """Delete a network with its subnets; a no-op if it does not exist.

        Also deletes its floating IPs that are not attached.

        :raises CloudConflict: if it still has ports; see
            :meth:`climate.cloud.protocols.ports.Ports.list_ports`
        """

    def list_subnets(self, network_id: str) -> tuple[Subnet, ...]:
        """Return the subnets of a network, by id.

        A network that does not exist has no subnets.
        """

    def delete_subnet(self, subnet_id: str) -> None:
        """Delete a subnet; a no-op if it does not exist.

        :raises CloudConflict: if ports have addresses in it
        """
