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

"""The responses to several processes with random calls are possible in one order.

Refusals for lack of room are counted, but need not have an instant without room: see
:ref:`races` in the guide.
"""

from __future__ import annotations

from testtools import content

from tests import base
from tests import services
from tests.exhaustive.races import random_workload
from tests.exhaustive.races import tallies

HISTORIES = 3


class _Histories:
    """Histories on one database engine."""

    engine = ''

    def test_every_answer_has_a_place_in_one_order(self) -> None:
        workload = self.useFixture(random_workload.RandomWorkload(self.engine))
        tally = workload.run(tallies.rounds(HISTORIES))
        self.addDetail('table', content.text_content('\n'.join(tally.lines())))
        self.assertEqual([], tally.failures)
        self.assertGreater(tally.accepted, 0)
        self.assertGreater(tally.overlapping, 0)


class TestOnMariadb(_Histories, base.TestCase):
    """MariaDB."""

    engine = services.MARIADB


class TestOnPostgresql(_Histories, base.TestCase):
    """PostgreSQL."""

    engine = services.POSTGRESQL
