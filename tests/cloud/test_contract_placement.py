# SPDX-License-Identifier: Apache-2.0

"""The contract of Placement, held against a real cloud."""

from __future__ import annotations

from tests.contract import placement_contracts
from tests.contract import real_backends
from tests.contract.contracts import held

globals().update(
    held(
        __name__,
        'Real',
        real_backends.RealBackend,
        placement_contracts.ProviderLimitsContract,
        placement_contracts.InventoryContract,
        placement_contracts.TraitContract,
    )
)
