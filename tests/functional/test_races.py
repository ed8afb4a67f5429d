# SPDX-License-Identifier: Apache-2.0

"""Never twice: sixteen processes want the same; ``tests/exhaustive`` has more races."""

from __future__ import annotations

import collections

from tests import base
from tests import services
from tests.functional import racers
from tests.functional.race_case import create
from tests.functional.race_case import RaceCase


@services.on_each_engine(base.TestCase)
class Races(RaceCase):
    """The simplest one."""

    def test_one_host_goes_to_one_of_sixteen(self) -> None:
        answers = self.racers.race([[create(1, 2)]] * racers.COUNT)
        counts = collections.Counter(code for codes in answers for code in codes)
        self.assertEqual({201: 1, 409: racers.COUNT - 1}, dict(counts))
        self.assertEqual(1, len(self.booked()))
