# SPDX-License-Identifier: Apache-2.0

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


@services.on_each_engine(base.TestCase, 'TestOn', engines=services.DATABASE_SERVERS)
class _Histories:
    """Histories on one database engine."""

    def test_every_answer_has_a_place_in_one_order(self) -> None:
        workload = self.useFixture(random_workload.RandomWorkload(self.kind))
        tally = workload.run(tallies.rounds(HISTORIES))
        self.addDetail('table', content.text_content('\n'.join(tally.lines())))
        self.assertEqual([], tally.failures)
        self.assertGreater(tally.accepted, 0)
        self.assertGreater(tally.overlapping, 0)
