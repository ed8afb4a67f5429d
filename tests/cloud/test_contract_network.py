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
