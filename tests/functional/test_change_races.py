# SPDX-License-Identifier: Apache-2.0

"""Changes of one lease, by processes at once: the lock of its row orders them.

``tests/functional/db/test_leases.py`` tests the lock itself.
"""

from __future__ import annotations

import collections
import dataclasses
import json
from typing import Any

import sqlalchemy as sa

from tests import base
from tests import services
from tests.functional import racers
from tests.functional.race_case import create
from tests.functional.race_case import RaceCase
from tests.functional.racers import Request


@services.on_each_engine(base.TestCase)
class _ChangeRaces(RaceCase):
    """Sixteen processes that change one version of a lease."""

    def lease(self) -> tuple[str, str]:
        """Book a lease; return its path and its tag."""
        ((made,),) = self.racers.answers([[dataclasses.replace(create(1, 2), version='1.4')]])
        self.assertEqual(201, made.status, made)
        return f'/v1/leases/{json.loads(made.body)["lease"]["id"]}', made.tag

    def change(self, method: str, path: str, tag: str, body: Any = None) -> list[Request]:
        headers = {'If-Match': tag}
        return [Request(method=method, path=path, body=body, version='1.4', headers=headers)]

    def test_one_of_many_changes_of_one_version_wins(self) -> None:
        path, tag = self.lease()
        names = [f'of process {number}' for number in range(racers.COUNT)]
        answers = self.racers.race(
            [self.change('PUT', path, tag, {'name': name}) for name in names]
        )
        self.assertEqual(
            {200: 1, 412: racers.COUNT - 1},
            dict(collections.Counter(status for (status,) in answers)),
        )
        self.assertEqual([names[answers.index([200])]], list(self.lease_ids()))

    def test_a_change_or_a_deletion_wins(self) -> None:
        path, tag = self.lease()
        half = racers.COUNT // 2
        longer = {'end_date': create(1, 3).body['end_date']}
        requests = [self.change('PUT', path, tag, longer)] * half
        requests += [self.change('DELETE', path, tag)] * half
        found = collections.Counter(status for (status,) in self.racers.race(requests))
        self.assertEqual(1, found[200] + found[204], found)
        # Behind a deletion there is nothing any more.
        others = 412 if found[200] else 404
        self.assertEqual(racers.COUNT - 1, found[others], found)
        gone = sa.text('SELECT count(*) FROM leases WHERE deleted_at IS NOT NULL')
        with self.store.engine.connect() as connection:
            self.assertEqual(found[204], connection.execute(gone).scalar_one())
