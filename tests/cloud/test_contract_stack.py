# SPDX-License-Identifier: Apache-2.0

"""The client of Heat, on a real one."""

from __future__ import annotations

from tests.contract import real_backends
from tests.contract import stack_contracts


class TestRealStack(stack_contracts.StackContract):
    """Held to the contract."""

    backend_type = real_backends.RealBackend
