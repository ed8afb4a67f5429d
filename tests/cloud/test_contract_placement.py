# SPDX-License-Identifier: Apache-2.0

"""The contract of Placement, held against a real cloud."""

from __future__ import annotations

from tests.contract import placement_contracts
from tests.contract import real_worlds


class TestRealPlacement(placement_contracts.ProviderLimitsContract):
    """Placement on a real cloud."""

    world_type = real_worlds.RealWorld


class TestRealInventories(placement_contracts.InventoryContract):
    """Inventories on a real cloud."""

    world_type = real_worlds.RealWorld


class TestRealTraits(placement_contracts.TraitContract):
    """Traits on a real cloud."""

    world_type = real_worlds.RealWorld
