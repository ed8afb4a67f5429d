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

"""The contract of networks, held against the twin."""

from __future__ import annotations

from tests.contract import network_contracts
from tests.contract import network_worlds


class TestMemoryTwinNetworks(network_contracts.NetworkContract):
    """Networks on the twin in memory."""

    world_type = network_worlds.TwinWorld


class TestMemoryTwinPorts(network_contracts.PortContract):
    """Ports on the twin in memory."""

    world_type = network_worlds.TwinWorld


class TestMemoryTwinFloatingIPs(network_contracts.FloatingIPContract):
    """Floating IPs on the twin in memory."""

    world_type = network_worlds.TwinWorld


class TestFileTwinNetworks(network_contracts.NetworkContract):
    """Networks on the twin on a file."""

    world_type = network_worlds.FileTwinWorld


class TestFileTwinPorts(network_contracts.PortContract):
    """Ports on the twin on a file."""

    world_type = network_worlds.FileTwinWorld


class TestFileTwinFloatingIPs(network_contracts.FloatingIPContract):
    """Floating IPs on the twin on a file."""

    world_type = network_worlds.FileTwinWorld
