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

"""Leases with one or several reservations are never double booked over plain HTTP."""

from __future__ import annotations

from testtools import content

from tests import base
from tests import services
from tests.exhaustive.races import over_http
from tests.exhaustive.races import tallies

ROUNDS = 10


class _Race:
    """A race on one database engine."""

    kind = ''

    def test_one_host_is_had_once_by_leases_of_several_reservations(self) -> None:
        race = self.useFixture(over_http.HttpRace(self.kind))
        tally = race.run(tallies.rounds(ROUNDS))
        self.addDetail('table', content.text_content('\n'.join(tallies.table([tally]))))
        self.assertEqual([], tally.failures)
        self.assertGreater(tally.met, 0)


class TestOnMariadb(_Race, base.TestCase):
    """MariaDB."""

    kind = services.MARIADB


class TestOnPostgresql(_Race, base.TestCase):
    """PostgreSQL."""

    kind = services.POSTGRESQL
