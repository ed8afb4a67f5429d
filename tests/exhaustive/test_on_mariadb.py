# SPDX-License-Identifier: Apache-2.0

"""Managers on MariaDB: ``tests/functional`` has the same on SQLite and PostgreSQL."""

from __future__ import annotations

from tests import base
from tests import services
from tests.functional.manager import test_booted
from tests.functional.manager import test_managers


class TestBooted(test_booted.TestBooted):
    """Leases by booting a server."""

    kind = services.MARIADB


class TestDeath(test_managers.Death, base.TestCase):
    """A manager that dies is replaced."""

    kind = services.MARIADB
