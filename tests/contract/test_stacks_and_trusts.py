# SPDX-License-Identifier: Apache-2.0

"""The contracts of Heat and Keystone, held against the cloud."""

from __future__ import annotations

from tests.contract import backends
from tests.contract import identity_contracts
from tests.contract import stack_contracts
from tests.contract.contracts import held

_CONTRACTS = (stack_contracts.StackContract, identity_contracts.IdentityContract)
globals().update(held(__name__, 'MemoryCloud', backends.SimulatedBackend, *_CONTRACTS))
globals().update(held(__name__, 'FileCloud', backends.FileSimulatedBackend, *_CONTRACTS))
globals().update(held(__name__, 'HTTP', backends.StubBackend, identity_contracts.TrustContract))
