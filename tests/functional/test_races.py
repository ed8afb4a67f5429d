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

"""Never twice: sixteen processes want the same; ``tests/exhaustive`` has more races."""

from __future__ import annotations

import collections

from tests import base
from tests import services
from tests.functional import racers
from tests.functional.race_case import create
from tests.functional.race_case import RaceCase


class Races(RaceCase):
    """The simplest one."""

    def test_one_host_goes_to_one_of_sixteen(self) -> None:
        answers = self.racers.race([[create(1, 2)]] * racers.COUNT)
        counts = collections.Counter(code for codes in answers for code in codes)
        self.assertEqual({201: 1, 409: racers.COUNT - 1}, dict(counts))
        self.assertEqual(1, len(self.booked()))


class TestSqlite(Races, base.TestCase):
    """On SQLite."""

    kind = services.SQLITE


class TestMariadb(Races, base.TestCase):
    """On MariaDB."""

    kind = services.MARIADB


class TestPostgresql(Races, base.TestCase):
    """On PostgreSQL."""

    kind = services.POSTGRESQL
