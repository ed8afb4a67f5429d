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

"""The contract of the clients, held against every cloud that needs nothing."""

from __future__ import annotations

from tests.contract import booting_contracts
from tests.contract import contracts
from tests.contract import flavor_contracts
from tests.contract import placement_contracts
from tests.contract import server_contracts
from tests.contract import slot_contracts
from tests.contract import worlds


class TestMemoryTwinHypervisors(contracts.HypervisorContract):
    """Hypervisors on the twin in memory."""

    world_type = worlds.TwinWorld


class TestMemoryTwinAggregates(contracts.AggregateContract):
    """Aggregates on the twin in memory."""

    world_type = worlds.TwinWorld


class TestMemoryTwinAggregateLimits(contracts.AggregateLimitsContract):
    """Limits of aggregates on the twin in memory."""

    world_type = worlds.TwinWorld


class TestMemoryTwinServers(server_contracts.ServerContract):
    """Servers on the twin in memory."""

    world_type = worlds.TwinWorld


class TestMemoryTwinServerLife(server_contracts.ServerLifeContract):
    """ServerLife on the twin in memory."""

    world_type = worlds.TwinWorld


class TestMemoryTwinBooted(booting_contracts.BootedAndShelvedContract):
    """Servers that others boot, of the twin in memory."""

    world_type = worlds.TwinWorld


class TestMemoryTwinImages(server_contracts.ImageContract):
    """Images on the twin in memory."""

    world_type = worlds.TwinWorld


class TestMemoryTwinSlots(slot_contracts.SlotContract):
    """Slots in the twin in memory."""

    world_type = worlds.TwinWorld


class TestMemoryTwinFlavors(flavor_contracts.FlavorContract):
    """Flavors on the twin in memory."""

    world_type = worlds.TwinWorld


class TestMemoryTwinServerGroups(flavor_contracts.ServerGroupContract):
    """ServerGroups on the twin in memory."""

    world_type = worlds.TwinWorld


class TestMemoryTwinServices(flavor_contracts.ServiceContract):
    """Services on the twin in memory."""

    world_type = worlds.TwinWorld


class TestMemoryTwinPlacement(placement_contracts.ProviderLimitsContract):
    """Placement on the twin in memory."""

    world_type = worlds.TwinWorld


class TestMemoryTwinInventories(placement_contracts.InventoryContract):
    """Inventories on the twin in memory."""

    world_type = worlds.TwinWorld


class TestMemoryTwinTraits(placement_contracts.TraitContract):
    """Traits on the twin in memory."""

    world_type = worlds.TwinWorld


class TestFileTwinHypervisors(contracts.HypervisorContract):
    """Hypervisors on the twin on a file."""

    world_type = worlds.FileTwinWorld


class TestFileTwinAggregates(contracts.AggregateContract):
    """Aggregates on the twin on a file."""

    world_type = worlds.FileTwinWorld


class TestFileTwinAggregateLimits(contracts.AggregateLimitsContract):
    """Limits of aggregates on the twin on a file."""

    world_type = worlds.FileTwinWorld


class TestFileTwinServers(server_contracts.ServerContract):
    """Servers on the twin on a file."""

    world_type = worlds.FileTwinWorld


class TestFileTwinServerLife(server_contracts.ServerLifeContract):
    """ServerLife on the twin on a file."""

    world_type = worlds.FileTwinWorld


class TestFileTwinBooted(booting_contracts.BootedAndShelvedContract):
    """Servers that others boot, of the twin on a file."""

    world_type = worlds.FileTwinWorld


class TestFileTwinImages(server_contracts.ImageContract):
    """Images on the twin on a file."""

    world_type = worlds.FileTwinWorld


class TestFileTwinFlavors(flavor_contracts.FlavorContract):
    """Flavors on the twin on a file."""

    world_type = worlds.FileTwinWorld


class TestFileTwinServerGroups(flavor_contracts.ServerGroupContract):
    """ServerGroups on the twin on a file."""

    world_type = worlds.FileTwinWorld


class TestFileTwinServices(flavor_contracts.ServiceContract):
    """Services on the twin on a file."""

    world_type = worlds.FileTwinWorld


class TestFileTwinPlacement(placement_contracts.ProviderLimitsContract):
    """Placement on the twin on a file."""

    world_type = worlds.FileTwinWorld


class TestFileTwinInventories(placement_contracts.InventoryContract):
    """Inventories on the twin on a file."""

    world_type = worlds.FileTwinWorld


class TestFileTwinTraits(placement_contracts.TraitContract):
    """Traits on the twin on a file."""

    world_type = worlds.FileTwinWorld


class TestHTTPHypervisors(contracts.HypervisorContract):
    """Hypervisors over HTTP, against a stub."""

    world_type = worlds.StubWorld


class TestHTTPAggregates(contracts.AggregateContract):
    """Aggregates over HTTP, against a stub."""

    world_type = worlds.StubWorld


class TestHTTPServers(server_contracts.ServerContract):
    """Servers over HTTP, against a stub."""

    world_type = worlds.StubWorld


class TestHTTPBooted(booting_contracts.BootedContract):
    """Servers that others boot, over HTTP, against a stub."""

    world_type = worlds.StubWorld

    def test_a_nova_that_does_not_tell_hints(self) -> None:
        self.world.stub.newest = 96
        self.assertEqual({}, self.compute.scheduler_hints(self.server_id))


class TestHTTPPlacement(placement_contracts.PlacementContract):
    """Placement over HTTP, against a stub."""

    world_type = worlds.StubWorld
