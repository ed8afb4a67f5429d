# SPDX-License-Identifier: Apache-2.0

"""The contract of networks, held against a real cloud."""

from __future__ import annotations

from tests.contract import network_contracts
from tests.contract import network_worlds
from tests.contract import paging_contracts


class TestRealNetworks(network_contracts.NetworkContract):
    """Networks in a real Neutron."""

    world_type = network_worlds.RealWorld


class TestRealPagedNetworks(paging_contracts.PagedNetworkContract):
    """A list of networks in a real Neutron."""

    world_type = network_worlds.RealWorld


class TestRealPorts(network_contracts.PortContract):
    """Ports in a real Neutron."""

    world_type = network_worlds.RealWorld


class TestRealFloatingIPs(network_contracts.FloatingIPContract):
    """Floating IPs in a real Neutron."""

    world_type = network_worlds.RealWorld
