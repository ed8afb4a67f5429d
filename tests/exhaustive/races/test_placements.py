# SPDX-License-Identifier: Apache-2.0

"""Leases have the placement that they asked for, whatever races with them.

``CLIMATE_RACE_ROUNDS`` sets the number of rounds. With the default number, both tests of an
engine take about 20 seconds.
"""

from __future__ import annotations

from typing import Any

from testtools import content

from tests import base
from tests import services
from tests.exhaustive.races import placed
from tests.exhaustive.races import placement_races
from tests.exhaustive.races import tallies

ROUNDS = {2: 10, 8: 3}


@services.on_each_engine(base.TestCase, 'TestOn', engines=services.DATABASE_SERVERS)
class _Placements:
    """Races on one database engine."""

    def race(self, processes: int) -> None:
        """Race new leases, then new leases and changes."""
        race = self.useFixture(placement_races.PlacementRace(self.kind))
        found = [
            race.run(changes, processes, tallies.rounds(ROUNDS[processes]))
            for changes in (False, True)
        ]
        self.addDetail('table', content.text_content('\n'.join(tallies.table(found))))
        self.assertEqual([], [text for tally in found for text in tally.failures])
        # Rounds prove nothing unless transactions overlapped.
        self.assertGreater(2 * sum(one.met for one in found), sum(one.rounds for one in found))
        self.assertGreater(race.accepted, 0)

    def test_two_processes(self) -> None:
        self.race(2)

    def test_eight_processes(self) -> None:
        self.race(8)


class TestPlacedViolations(base.TestCase):
    """The independent check finds each kind of violation."""

    LABELS = {'zone': {1: 'a', 2: 'a', 3: 'b'}, 'rack': {1: 'a1', 2: 'a2', 3: 'b1'}}

    def violations(self, *reservations: tuple[dict[str, Any], placed.Where]) -> int:
        """Return how many conditions some reservations violate."""
        bodies = tuple({'placement': stated} for stated, _ in reservations)
        request = placed.PlacedRequest(name='l', bodies=bodies, scarce='', units=1)
        where = {position: members for position, (_, members) in enumerate(reservations)}
        lease = placed.PlacedLease(where=where, dates=(0, 1))
        return len(list(placed.violations(request, lease, self.LABELS)))

    def test_one_value(self) -> None:
        self.assertEqual(0, self.violations(({'same': ['zone']}, {1: 1, 2: 1})))
        self.assertEqual(1, self.violations(({'same': ['rack']}, {1: 1, 2: 1})))

    def test_the_value_of_another_reservation(self) -> None:
        rule = {'same_as': [{'reservation': 0, 'property': 'zone'}]}
        self.assertEqual(0, self.violations(({}, {1: 1}), (rule, {2: 1})))
        self.assertEqual(1, self.violations(({}, {1: 1}), (rule, {3: 1})))

    def test_an_even_spread(self) -> None:
        rule = {'spread': [{'property': 'zone'}]}
        self.assertEqual(0, self.violations((rule, {1: 1, 2: 1, 3: 1})))
        self.assertEqual(1, self.violations((rule, {1: 1, 2: 1})))
        self.assertEqual(1, self.violations((rule, {1: 3, 3: 1})))

    def test_resources_apart(self) -> None:
        self.assertEqual(0, self.violations(({'apart_from': [1]}, {1: 1}), ({}, {2: 1})))
        self.assertEqual(1, self.violations(({'apart_from': [1]}, {1: 1}), ({}, {1: 1})))
