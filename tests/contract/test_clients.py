# SPDX-License-Identifier: Apache-2.0

"""The contract of the clients, held against every cloud that needs nothing."""

from __future__ import annotations

from tests.contract import booting_contracts
from tests.contract import contracts
from tests.contract import flavor_contracts
from tests.contract import paging_contracts
from tests.contract import placement_contracts
from tests.contract import server_contracts
from tests.contract import slot_contracts
from tests.contract import worlds


class TestMemoryCloudHypervisors(contracts.HypervisorContract):
    """Hypervisors on the simulated cloud in memory."""

    world_type = worlds.SimulatedWorld


class TestMemoryCloudAggregates(contracts.AggregateContract):
    """Aggregates on the simulated cloud in memory."""

    world_type = worlds.SimulatedWorld


class TestMemoryCloudAggregateLimits(contracts.AggregateLimitsContract):
    """Limits of aggregates on the simulated cloud in memory."""

    world_type = worlds.SimulatedWorld


class TestMemoryCloudServers(server_contracts.ServerContract):
    """Servers on the simulated cloud in memory."""

    world_type = worlds.SimulatedWorld


class TestMemoryCloudServerLife(server_contracts.ServerLifeContract):
    """ServerLife on the simulated cloud in memory."""

    world_type = worlds.SimulatedWorld


class TestMemoryCloudBooted(booting_contracts.BootedAndShelvedContract):
    """Servers that others boot, of the simulated cloud in memory."""

    world_type = worlds.SimulatedWorld


class TestMemoryCloudImages(server_contracts.ImageContract):
    """Images on the simulated cloud in memory."""

    world_type = worlds.SimulatedWorld


class TestMemoryCloudSlots(slot_contracts.SlotContract):
    """Slots in the simulated cloud in memory."""

    world_type = worlds.SimulatedWorld


class TestMemoryCloudFlavors(flavor_contracts.FlavorContract):
    """Flavors on the simulated cloud in memory."""

    world_type = worlds.SimulatedWorld


class TestMemoryCloudServerGroups(flavor_contracts.ServerGroupContract):
    """ServerGroups on the simulated cloud in memory."""

    world_type = worlds.SimulatedWorld


class TestMemoryCloudServices(flavor_contracts.ServiceContract):
    """Services on the simulated cloud in memory."""

    world_type = worlds.SimulatedWorld


class TestMemoryCloudPlacement(placement_contracts.ProviderLimitsContract):
    """Placement on the simulated cloud in memory."""

    world_type = worlds.SimulatedWorld


class TestMemoryCloudInventories(placement_contracts.InventoryContract):
    """Inventories on the simulated cloud in memory."""

    world_type = worlds.SimulatedWorld


class TestMemoryCloudTraits(placement_contracts.TraitContract):
    """Traits on the simulated cloud in memory."""

    world_type = worlds.SimulatedWorld


class TestFileCloudHypervisors(contracts.HypervisorContract):
    """Hypervisors on the simulated cloud on a file."""

    world_type = worlds.FileSimulatedWorld


class TestFileCloudAggregates(contracts.AggregateContract):
    """Aggregates on the simulated cloud on a file."""

    world_type = worlds.FileSimulatedWorld


class TestFileCloudAggregateLimits(contracts.AggregateLimitsContract):
    """Limits of aggregates on the simulated cloud on a file."""

    world_type = worlds.FileSimulatedWorld


class TestFileCloudServers(server_contracts.ServerContract):
    """Servers on the simulated cloud on a file."""

    world_type = worlds.FileSimulatedWorld


class TestFileCloudServerLife(server_contracts.ServerLifeContract):
    """ServerLife on the simulated cloud on a file."""

    world_type = worlds.FileSimulatedWorld


class TestFileCloudBooted(booting_contracts.BootedAndShelvedContract):
    """Servers that others boot, of the simulated cloud on a file."""

    world_type = worlds.FileSimulatedWorld


class TestFileCloudImages(server_contracts.ImageContract):
    """Images on the simulated cloud on a file."""

    world_type = worlds.FileSimulatedWorld


class TestFileCloudFlavors(flavor_contracts.FlavorContract):
    """Flavors on the simulated cloud on a file."""

    world_type = worlds.FileSimulatedWorld


class TestFileCloudServerGroups(flavor_contracts.ServerGroupContract):
    """ServerGroups on the simulated cloud on a file."""

    world_type = worlds.FileSimulatedWorld


class TestFileCloudServices(flavor_contracts.ServiceContract):
    """Services on the simulated cloud on a file."""

    world_type = worlds.FileSimulatedWorld


class TestFileCloudPlacement(placement_contracts.ProviderLimitsContract):
    """Placement on the simulated cloud on a file."""

    world_type = worlds.FileSimulatedWorld


class TestFileCloudInventories(placement_contracts.InventoryContract):
    """Inventories on the simulated cloud on a file."""

    world_type = worlds.FileSimulatedWorld


class TestFileCloudTraits(placement_contracts.TraitContract):
    """Traits on the simulated cloud on a file."""

    world_type = worlds.FileSimulatedWorld


class TestHTTPHypervisors(contracts.HypervisorContract):
    """Hypervisors over HTTP, against a stub."""

    world_type = worlds.StubWorld


class TestHTTPAggregates(contracts.AggregateContract):
    """Aggregates over HTTP, against a stub."""

    world_type = worlds.StubWorld


class TestHTTPServers(server_contracts.ServerContract):
    """Servers over HTTP, against a stub."""

    world_type = worlds.StubWorld


class TestHTTPPagedServers(paging_contracts.PagedServerContract):
    """Lists of servers over HTTP, against a stub."""

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
