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
