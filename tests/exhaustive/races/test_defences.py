# SPDX-License-Identifier: Apache-2.0

"""Each safeguard alone prevents double bookings; without both, races find double bookings."""

from __future__ import annotations

from testtools import content

from tests import base
from tests import services
from tests.exhaustive.races import defences
from tests.exhaustive.races import over_http
from tests.exhaustive.races import random_workload
from tests.exhaustive.races import rounds
from tests.exhaustive.races import tallies
from tests.exhaustive.races.defences import Defences

PAIR = 'rigs: create 300+0 | grow'
ROUNDS = 5
HTTP_ROUNDS = 5
HISTORIES = 2


@services.on_each_engine(base.TestCase, 'TestOn', engines=services.DATABASE_SERVERS)
class _Races:
    """Races on one database engine."""

    def table(self, defended: Defences) -> tallies.Tally:
        """Race one pair in each mode of a round."""
        runner = self.useFixture(rounds.PairRunner(self.kind, defended))
        (pair,) = (each for each in rounds.pairs() if each.name == PAIR)
        tally = runner.run(pair, 2, ROUNDS)
        self.addDetail('table', content.text_content('\n'.join(tallies.table([tally]))))
        self.assertGreater(tally.met, 0)
        return tally

    def over_http(self, defended: Defences) -> tallies.Tally:
        """Race over HTTP."""
        tally = self.useFixture(over_http.HttpRace(self.kind, defended)).run(HTTP_ROUNDS)
        self.addDetail('table', content.text_content('\n'.join(tallies.table([tally]))))
        return tally

    def histories(self, defended: Defences) -> random_workload.Tally:
        """Run random workloads."""
        tally = self.useFixture(random_workload.RandomWorkload(self.kind, defended)).run(HISTORIES)
        self.addDetail('table', content.text_content('\n'.join(tally.lines())))
        return tally

    def test_a_pair_without_any_is_overbooked(self) -> None:
        self.assertGreater(self.table(defences.NONE).overbooked, 0)

    def test_a_pair_with_verification_alone(self) -> None:
        self.assertEqual([], self.table(defences.VERIFICATION).failures)

    def test_a_pair_with_the_rules_of_the_database_alone(self) -> None:
        self.assertEqual([], self.table(defences.GUARDS).failures)

    def test_http_with_verification_alone(self) -> None:
        self.assertEqual([], self.over_http(defences.VERIFICATION).failures)

    def test_http_with_the_rules_of_the_database_alone(self) -> None:
        self.assertEqual([], self.over_http(defences.GUARDS).failures)

    def test_histories_without_any_have_no_order(self) -> None:
        self.assertGreater(self.histories(defences.NONE).impossible, 0)

    def test_histories_with_verification_alone(self) -> None:
        self.assertEqual([], self.histories(defences.VERIFICATION).failures)

    def test_histories_with_the_rules_of_the_database_alone(self) -> None:
        self.assertEqual([], self.histories(defences.GUARDS).failures)
