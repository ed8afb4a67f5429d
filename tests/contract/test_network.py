# SPDX-License-Identifier: Apache-2.0

"""The contract of networks, held against the cloud."""

from __future__ import annotations

from tests.contract import network_backends
from tests.contract import network_contracts
from tests.contract.contracts import held

_CONTRACTS = (
    network_contracts.NetworkContract,
    network_contracts.PortContract,
    network_contracts.FloatingIPContract,
)
globals().update(held(__name__, 'MemoryCloud', network_backends.SimulatedBackend, *_CONTRACTS))
globals().update(held(__name__, 'FileCloud', network_backends.FileSimulatedBackend, *_CONTRACTS))
