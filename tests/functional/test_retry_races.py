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
from tests.functional.racers import Answer
from tests.functional.racers import Request


class _Races(RaceCase):
    """Sixteen processes that send one request, or change one lease."""

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

    def lease(self) -> tuple[str, str]:
        """Book a lease; return its path and its tag."""
        made = self.one(dataclasses.replace(create(1, 2), version='1.4'))
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
        winner = names[answers.index([200])]
        self.assertEqual([winner], list(self.lease_ids()))

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


class TestSqlite(_Races, base.TestCase):
    """On SQLite."""

    kind = services.SQLITE


class TestMariadb(_Races, base.TestCase):
    """On MariaDB."""

    kind = services.MARIADB


class TestPostgresql(_Races, base.TestCase):
    """On PostgreSQL."""

    kind = services.POSTGRESQL
