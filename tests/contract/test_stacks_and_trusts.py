# SPDX-License-Identifier: Apache-2.0

"""The contracts of Heat and Keystone, held against the cloud."""

from __future__ import annotations

from tests.contract import identity_contracts
from tests.contract import stack_contracts
from tests.contract import worlds


class TestMemoryCloudStack(stack_contracts.StackContract):
    """Heat's verbs on the simulated cloud in memory."""

    world_type = worlds.SimulatedWorld


class TestFileCloudStack(stack_contracts.StackContract):
    """Heat's verbs on the simulated cloud on a file."""

    world_type = worlds.FileSimulatedWorld


class TestMemoryCloudIdentity(identity_contracts.IdentityContract):
    """Keystone's verbs on the simulated cloud in memory."""

    world_type = worlds.SimulatedWorld


class TestFileCloudIdentity(identity_contracts.IdentityContract):
    """Keystone's verbs on the simulated cloud on a file."""

    world_type = worlds.FileSimulatedWorld


class TestStubTrusts(identity_contracts.TrustContract):
    """The real client of Keystone, against a stub that speaks HTTP."""

    world_type = worlds.StubWorld
