# SPDX-License-Identifier: Apache-2.0

"""Ports of networks, and the routers that use some of them."""

from __future__ import annotations

import dataclasses
from typing import Protocol

# The owners of router ports in Neutron: centralized, distributed and HA routers.
ROUTER_INTERFACES = frozenset(
    {
        'network:router_interface',
        'network:router_interface_distributed',
        'network:ha_router_replicated_interface',
    }
)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Port:
    """A port on a network.

    :ivar device_id: the id of the server or router that uses it; '' if it is unused
    :ivar device_owner: Neutron's name of the service that uses it, such as
        ``compute:nova``; '' if it is unused
    """

    id: str
    network_id: str
    project_id: str
    device_id: str
    device_owner: str

    @property
    def router_id(self) -> str | None:
        """The id of the router whose interface it is; None for any other port."""
        return self.device_id if self.device_owner in ROUTER_INTERFACES else None


class Ports(Protocol):
    """Operations on ports and routers, in all projects."""

    def list_ports(self, network_id: str) -> tuple[Port, ...]:
        """Return the ports of a network, by id, including those of routers.

        A network that does not exist has no ports.
        """

    def find_port_of_address(self, network_id: str, address: str) -> Port | None:
        """Return the port with an address in a network; None if the address is free.

        The addresses of routers and floating IPs belong to ports, too.
        """

    def delete_port(self, port_id: str) -> None:
        """Delete a port; a no-op if it does not exist.

        :raises CloudConflict: if it belongs to a router; see
            :meth:`remove_router_interface`
        """

    def remove_router_interface(self, router_id: str, port_id: str) -> None:
        """Remove a router from a network; a no-op if it or the port does not exist.

        :param port_id: the port that is the router's interface in the network
        :raises CloudConflict: if the interface serves floating IPs, or static routes of
            the router lead through it; see :meth:`remove_routes`
        """

    def remove_routes(self, router_id: str, port_id: str) -> None:
        """Remove the static routes of a router that lead through an interface.

        A no-op if there are none, or the router or its port does not exist.
        """

    def delete_router(self, router_id: str) -> None:
        """Delete a router and its gateway; a no-op if it does not exist.

        :raises CloudConflict: if it still has interfaces
        """
