# SPDX-License-Identifier: Apache-2.0

"""The contract of networks, held against a real cloud."""

from __future__ import annotations

from tests.contract import network_backends
from tests.contract import network_contracts
from tests.contract import paging_contracts
from tests.contract.contracts import held

globals().update(
    held(
        __name__,
        'Real',
        network_backends.RealBackend,
        network_contracts.NetworkContract,
        paging_contracts.PagedNetworkContract,
        network_contracts.PortContract,
        network_contracts.FloatingIPContract,
    )
)
