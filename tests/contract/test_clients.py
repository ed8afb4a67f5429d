# SPDX-License-Identifier: Apache-2.0

"""The contract of the clients, held against every cloud that needs nothing."""

from __future__ import annotations

from tests.contract import backends
from tests.contract import booting_contracts
from tests.contract import contracts
from tests.contract import flavor_contracts
from tests.contract import paging_contracts
from tests.contract import placement_contracts
from tests.contract import server_contracts
from tests.contract import slot_contracts
from tests.contract.contracts import held

_CONTRACTS = (
    contracts.HypervisorContract,
    contracts.AggregateContract,
    contracts.AggregateLimitsContract,
    server_contracts.ServerContract,
    server_contracts.ServerLifeContract,
    booting_contracts.BootedAndShelvedContract,
    server_contracts.ImageContract,
    flavor_contracts.FlavorContract,
    flavor_contracts.ServerGroupContract,
    flavor_contracts.ServiceContract,
    placement_contracts.ProviderLimitsContract,
    placement_contracts.InventoryContract,
    placement_contracts.TraitContract,
)
globals().update(
    held(
        __name__, 'MemoryCloud', backends.SimulatedBackend, *_CONTRACTS, slot_contracts.SlotContract
    )
)
globals().update(held(__name__, 'FileCloud', backends.FileSimulatedBackend, *_CONTRACTS))
globals().update(
    held(
        __name__,
        'HTTP',
        backends.StubBackend,
        contracts.HypervisorContract,
        contracts.AggregateContract,
        server_contracts.ServerContract,
        paging_contracts.PagedServerContract,
        placement_contracts.PlacementContract,
    )
)


class TestHTTPBooted(booting_contracts.BootedContract):
    """Servers that others boot, over HTTP, against a stub."""

    backend_type = backends.StubBackend

    def test_a_nova_that_does_not_show_hints(self) -> None:
        self.backend.stub.newest = 96
        self.assertEqual({}, self.compute.scheduler_hints(self.server_id))
