# SPDX-License-Identifier: Apache-2.0

"""Races every pair of contenders, with 2 and with 8 processes.

``CLIMATE_RACE_ROUNDS`` sets the number of rounds of each pair, in each of these tests. By
default, each pair has one round with 2 processes. A sample of the pairs has one with 8,
which takes most of the time, and one with each safeguard alone.
``python -m tests.exhaustive.races`` prints the table.
"""

from __future__ import annotations

from testtools import content

from tests import base
from tests import services
from tests.exhaustive.races import contenders
from tests.exhaustive.races import databases
from tests.exhaustive.races import defences
from tests.exhaustive.races import rounds
from tests.exhaustive.races import tallies
from tests.exhaustive.races.defences import Defences

# The sample contains every eighth pair.
SAMPLE = 8


@services.on_each_engine(base.TestCase, 'TestOn', engines=services.DATABASE_SERVERS)
class _Table:
    """Races on one database engine."""

    def race(
        self, pairs: list[rounds.Pair], processes: int = 2, defended: Defences = defences.BOTH
    ) -> list[tallies.Tally]:
        """Race pairs; return the results."""
        runner = self.useFixture(rounds.PairRunner(self.kind, defended))
        found = [runner.run(pair, processes, tallies.rounds(1)) for pair in pairs]
        self.addDetail('table', content.text_content('\n'.join(tallies.table(found))))
        # A round proves nothing unless the transactions overlapped.
        count = sum(tally.rounds for tally in found)
        self.assertGreater(2 * sum(tally.met for tally in found), count)
        return found

    def part(self, number: int) -> None:
        """Race a quarter of the pairs.

        :param number: the number of the quarter, from 0
        """
        self.assertEqual([], _failures(self.race(list(rounds.pairs())[number::4])))

    def sample(self) -> list[rounds.Pair]:
        """Return some of the pairs, or all if the environment sets a number of rounds."""
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
        self.assertEqual([], _failures(self.race(self.sample(), 8)))

    def test_verification_alone(self) -> None:
        self.assertEqual([], _failures(self.race(self.sample(), defended=defences.VERIFICATION)))

    def test_the_rules_of_the_database_alone(self) -> None:
        # They do not cover maintenances and disabled resources.
        found = self.race(self.sample(), defended=defences.GUARDS)
        self.assertEqual([], [each for each in found if each.overbooked])


def _failures(found: list[tallies.Tally]) -> list[str]:
    return [failure for tally in found for failure in tally.failures]


class TestAlone(base.TestCase):
    """A contender without competitors succeeds, so a refusal means a lost race."""

    def test_each_contender_alone(self) -> None:
        database = self.useFixture(databases.RaceDatabase(services.SQLITE))
        wrong = {
            (kind.name, contender.name): rounds.alone(database, contender)
            for kind in databases.KINDS
            for contender in contenders.of(kind)
        }
        self.assertEqual({}, {key: found for key, found in wrong.items() if found})
