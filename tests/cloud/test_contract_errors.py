# SPDX-License-Identifier: Apache-2.0

"""What the real clients make of trouble on the way to a real cloud."""

from __future__ import annotations

from tests.contract import error_contracts
from tests.contract import real_backends

globals().update(
    error_contracts.cases(
        __name__, 'Real', error_contracts.WireContract, real_backends.ImpatientRealBackend
    )
)
