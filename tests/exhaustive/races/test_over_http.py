# SPDX-License-Identifier: Apache-2.0

"""Leases with one or several reservations are never double booked over plain HTTP."""

from __future__ import annotations

from testtools import content

from tests import base
from tests import services
from tests.exhaustive.races import over_http
from tests.exhaustive.races import tallies

ROUNDS = 10


@services.on_each_engine(base.TestCase, 'TestOn', engines=services.DATABASE_SERVERS)
class _Race:
    """A race on one database engine."""

    def test_one_host_is_had_once_by_leases_of_several_reservations(self) -> None:
        tally = self.useFixture(over_http.HttpRace(self.kind)).run(tallies.rounds(ROUNDS))
        self.addDetail('table', content.text_content('\n'.join(tallies.table([tally]))))
        self.assertEqual([], tally.failures)
        self.assertGreater(tally.met, 0)
