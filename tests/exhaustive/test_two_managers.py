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

"""Two managers share many leases, on the clock of the machine."""

from __future__ import annotations

from tests import services
from tests.functional.manager import test_service


class TestTwoManagers(test_service.ManagerCase):
    """On the engines that ``tests/functional`` leaves out."""

    def test_sqlite(self) -> None:
        self.share(services.SQLITE)

    def test_postgresql(self) -> None:
        self.share(services.POSTGRESQL)


class TestTwoManagersInBatches(test_service.ManagerCase):
    """In batches; SQLite has no SKIP LOCKED."""

    batches = True

    def test_sqlite(self) -> None:
        self.share(services.SQLITE)
