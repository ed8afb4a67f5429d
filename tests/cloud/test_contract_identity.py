# SPDX-License-Identifier: Apache-2.0

"""The client of Keystone, on a real one."""

from __future__ import annotations

from tests.contract import identity_contracts
from tests.contract import real_backends


class TestRealIdentity(identity_contracts.IdentityContract):
    """Held to the contract."""

    backend_type = real_backends.RealBackend
