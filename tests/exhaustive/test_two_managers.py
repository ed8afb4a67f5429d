# SPDX-License-Identifier: Apache-2.0

"""Two managers share many leases, on the clock of the machine."""

from __future__ import annotations

from tests import services
from tests.functional.manager import test_service


class TestTwoManagers(test_service.ManagerCase):
    """On SQLite, which ``tests/functional`` leaves out, and which has no SKIP LOCKED."""

    def test_sqlite(self) -> None:
        self.share(services.SQLITE)
