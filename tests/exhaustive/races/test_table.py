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

"""Every pair of those who change what is booked, or what can be, from 2 and from 8 processes.

``CLIMATE_RACE_ROUNDS`` says how many rounds each pair has. Without it each has one from
2 processes, and every fourth one from 8, which take most of the time.
``python -m tests.exhaustive.races`` prints the table.
"""

from __future__ import annotations

from testtools import content

from tests import base
from tests import services
from tests.exhaustive.races import contenders
from tests.exhaustive.races import grounds
from tests.exhaustive.races import rounds
from tests.exhaustive.races import tallies

# By the number of processes: usually one round of each pair, or of every fourth.
EVERY = {2: 1, 8: 4}


class _Table:
    """One engine."""

    engine = ''

    def run_all(self, kind: grounds.Kind) -> None:
        arena = self.useFixture(rounds.Arena(self.engine))
        found = [
            arena.run(pair, processes, tallies.rounds(1))
            for processes, every in EVERY.items()
            for pair in list(rounds.pairs([kind]))[:: 1 if tallies.asked() else every]
        ]
        self.addDetail('table', content.text_content('\n'.join(tallies.table(found))))
        self.assertEqual([], [story for tally in found for story in tally.stories])
        # It proves nothing unless they were at it together.
        count = sum(tally.rounds for tally in found)
        self.assertGreater(2 * sum(tally.met for tally in found), count)

    def test_hosts(self) -> None:
        self.run_all(grounds.HOSTS)

    def test_rigs(self) -> None:
        self.run_all(grounds.RIGS)


class TestOnMariadb(_Table, base.TestCase):
    """MariaDB."""

    engine = services.MARIADB


class TestOnPostgresql(_Table, base.TestCase):
    """PostgreSQL."""

    engine = services.POSTGRESQL


class TestAlone(base.TestCase):
    """A contender that nobody races with gets what it wants, so a refusal is a lost race."""

    def test_each_contender_alone(self) -> None:
        ground = self.useFixture(grounds.Ground(services.SQLITE))
        wrong = {
            (kind.name, contender.name): rounds.alone(ground, contender)
            for kind in grounds.KINDS
            for contender in contenders.of(kind)
        }
        self.assertEqual({}, {key: found for key, found in wrong.items() if found})
