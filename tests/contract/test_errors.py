# SPDX-License-Identifier: Apache-2.0

"""What becomes of errors, held against the cloud."""

from __future__ import annotations

from tests.contract import backends
from tests.contract import error_contracts

globals().update(
    error_contracts.cases(
        __name__, 'MemoryCloud', error_contracts.ErrorsContract, backends.SimulatedBackend
    )
)
globals().update(
    error_contracts.cases(
        __name__, 'FileCloud', error_contracts.ErrorsContract, backends.FileSimulatedBackend
    )
)
