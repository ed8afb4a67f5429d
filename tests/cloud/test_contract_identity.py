# SPDX-License-Identifier: Apache-2.0

"""The client of Keystone, on a real one."""

from __future__ import annotations

from tests.contract import identity_contracts
from tests.contract import real_worlds


class TestRealIdentity(identity_contracts.IdentityContract):
    """Held to the contract."""

    world_type = real_worlds.RealWorld
