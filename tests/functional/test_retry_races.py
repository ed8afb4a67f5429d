# SPDX-License-Identifier: Apache-2.0

"""Retries of a request, by processes at once."""

from __future__ import annotations

import collections
import dataclasses
import json

from tests import base
from tests import services
from tests.functional import racers
from tests.functional.race_case import create
from tests.functional.race_case import RaceCase
from tests.functional.racers import Answer
from tests.functional.racers import Request


@services.on_each_engine(base.TestCase)
class _Races(RaceCase):
    """Sixteen processes that send one request."""

    def one(self, request: Request) -> Answer:
        """Send a request from one process."""
        ((answer,),) = self.racers.answers([[request]])
        return answer

    def keyed(self, project: str = 'ops') -> Request:
        """Return a request with a key for the only host."""
        return dataclasses.replace(
            create(1, 2),
            version='1.4',
            headers={'Idempotency-Key': 'k'},
            token=f'alice:{project}:member',
        )

    def test_one_key_books_one_lease(self) -> None:
        request = self.keyed()
        answers = [one for (one,) in self.racers.answers([[request]] * racers.COUNT)]
        counts = collections.Counter(answer.status for answer in answers)
        self.assertEqual(set(), counts.keys() - {201, 409}, answers)
        self.assertGreater(counts[201], 0)
        bodies = {answer.body for answer in answers if answer.status == 201}
        self.assertEqual(1, len(bodies))
        names = {
            json.loads(answer.body)['error_name'] for answer in answers if answer.status == 409
        }
        self.assertEqual(set(), names - {'IDEMPOTENCY_KEY_IN_USE'})
        self.assertEqual(1, len(self.booked()))
        again = self.racers.answers([[request]] * racers.COUNT)
        self.assertEqual({(201, *bodies)}, {(one.status, one.body) for (one,) in again})
        self.assertEqual(1, len(self.lease_ids()))

    def test_keys_of_projects_are_apart(self) -> None:
        """Half of the processes are of another project; only one of the two has room."""
        mine, theirs = self.keyed('red'), self.keyed('blue')
        self.racers.race([[mine], [theirs]] * (racers.COUNT // 2))
        kept = {self.one(mine), self.one(theirs)}
        self.assertEqual({201, 409}, {answer.status for answer in kept})
        again = self.racers.answers([[mine], [theirs]] * (racers.COUNT // 2))
        self.assertEqual(kept, {one for (one,) in again})
        self.assertEqual(1, len(self.booked()))
