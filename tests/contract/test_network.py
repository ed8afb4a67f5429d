# SPDX-License-Identifier: Apache-2.0

"""The contract of networks, held against the cloud."""

from __future__ import annotations

from tests.contract import network_contracts
from tests.contract import network_worlds


class TestMemoryCloudNetworks(network_contracts.NetworkContract):
    """Networks on the simulated cloud in memory."""

    world_type = network_worlds.SimulatedWorld


class TestMemoryCloudPorts(network_contracts.PortContract):
    """Ports on the simulated cloud in memory."""

    world_type = network_worlds.SimulatedWorld


class TestMemoryCloudFloatingIPs(network_contracts.FloatingIPContract):
    """Floating IPs on the simulated cloud in memory."""

    world_type = network_worlds.SimulatedWorld


class TestFileCloudNetworks(network_contracts.NetworkContract):
    """Networks on the simulated cloud on a file."""

    world_type = network_worlds.FileSimulatedWorld


class TestFileCloudPorts(network_contracts.PortContract):
    """Ports on the simulated cloud on a file."""

    world_type = network_worlds.FileSimulatedWorld


class TestFileCloudFloatingIPs(network_contracts.FloatingIPContract):
    """Floating IPs on the simulated cloud on a file."""

    world_type = network_worlds.FileSimulatedWorld
