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

``CLIMATE_RACE_ROUNDS`` says how many rounds each pair has, in each of these tests. Without it
each pair has one from 2 processes, and a sample of them one from 8, which take most of the
time, and one with the judgement of the service or the rules of the database alone.
``python -m tests.exhaustive.races`` prints the table.
"""

from __future__ import annotations

from testtools import content

from tests import base
from tests import services
from tests.exhaustive.races import contenders
from tests.exhaustive.races import defences
from tests.exhaustive.races import grounds
from tests.exhaustive.races import rounds
from tests.exhaustive.races import tallies
from tests.exhaustive.races.defences import Defences

# One of so many is in a sample.
SAMPLE = 8


class _Table:
    """One engine."""

    engine = ''

    def race(
        self, pairs: list[rounds.Pair], processes: int = 2, defended: Defences = defences.BOTH
    ) -> list[tallies.Tally]:
        """Race pairs; return what it came to."""
        arena = self.useFixture(rounds.Arena(self.engine, defended))
        found = [arena.run(pair, processes, tallies.rounds(1)) for pair in pairs]
        self.addDetail('table', content.text_content('\n'.join(tallies.table(found))))
        # It proves nothing unless they were at it together.
        count = sum(tally.rounds for tally in found)
        self.assertGreater(2 * sum(tally.met for tally in found), count)
        return found

    def part(self, number: int) -> None:
        """Race a quarter of the pairs, from 0."""
        self.assertEqual([], _stories(self.race(list(rounds.pairs())[number::4])))

    def sample(self) -> list[rounds.Pair]:
        """Return some of the pairs, or all if a number of rounds is asked for."""
        return list(rounds.pairs())[:: 1 if tallies.asked() else SAMPLE]

    def test_first_quarter(self) -> None:
        self.part(0)

    def test_second_quarter(self) -> None:
        self.part(1)

    def test_third_quarter(self) -> None:
        self.part(2)

    def test_last_quarter(self) -> None:
        self.part(3)

    def test_eight_processes(self) -> None:
        self.assertEqual([], _stories(self.race(self.sample(), 8)))

    def test_the_judgement_alone(self) -> None:
        found = self.race(self.sample(), defended=defences.JUDGEMENT)
        self.assertEqual([], _stories(found))

    def test_the_rules_of_the_database_alone(self) -> None:
        # They know nothing of maintenances, and of what is closed to new bookings.
        found = self.race(self.sample(), defended=defences.GUARDS)
        self.assertEqual([], [each for each in found if each.overbooked])


def _stories(found: list[tallies.Tally]) -> list[str]:
    return [story for tally in found for story in tally.stories]


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
