# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Managers on MariaDB: ``tests/functional`` has the same on SQLite and PostgreSQL."""

from __future__ import annotations

from tests import base
from tests import services
from tests.functional.manager import test_booted
from tests.functional.manager import test_managers


class TestBooted(test_booted.TestBooted):
    """Leases by booting a server."""

    database = services.MARIADB


class TestDeath(test_managers.Death, base.TestCase):
    """A manager that dies is replaced."""

    database = services.MARIADB
