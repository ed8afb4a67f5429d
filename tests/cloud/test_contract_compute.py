# SPDX-License-Identifier: Apache-2.0

"""The contract of Nova and Glance, held against a real cloud."""

from __future__ import annotations

from tests.contract import booting_contracts
from tests.contract import contracts
from tests.contract import flavor_contracts
from tests.contract import paging_contracts
from tests.contract import real_backends
from tests.contract import server_contracts
from tests.contract import slot_contracts
from tests.contract.contracts import held

globals().update(
    held(
        __name__,
        'Real',
        real_backends.RealBackend,
        contracts.HypervisorContract,
        contracts.AggregateContract,
        contracts.AggregateLimitsContract,
        server_contracts.ServerContract,
        paging_contracts.PagedServerContract,
        server_contracts.ServerLifeContract,
        booting_contracts.BootedAndShelvedContract,
        server_contracts.ImageContract,
        flavor_contracts.FlavorContract,
        paging_contracts.PagedFlavorContract,
        flavor_contracts.ServerGroupContract,
        flavor_contracts.ServiceContract,
        slot_contracts.SlotContract,
    )
)
