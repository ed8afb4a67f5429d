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
"""Never twice: sixteen processes want the same, and the database shows who has it."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import random
import tempfile

import sqlalchemy as sa

from climate.clock import SystemClock
from climate.cmd import composition
from climate.db.store import Transaction
from climate.resources.registrar import Registrar
from climate.simulator import SimulatedCloud
from tests import base
from tests import drafts
from tests import services
from tests.functional import http
from tests.functional import racers
from tests.functional.db import cases
from tests.functional.racers import Request

DAY = datetime.datetime(2035, 6, 1, tzinfo=datetime.UTC)
HOURS = 200

_OVERLAPS = sa.text(
    """
    SELECT count(*) FROM allocations a JOIN allocations b
        ON b.resource_id = a.resource_id AND b.id > a.id
        AND b.start_date < a.end_date AND b.end_date > a.start_date
    WHERE a.state <> 'released' AND b.state <> 'released'
    """
)


def at(hour: float) -> str:
    """Return the instant so many hours into the day of the tests."""
    return (DAY + datetime.timedelta(hours=hour)).isoformat()


def create(start: float, end: float, name: str = 'a lease') -> Request:
    """Return a request for one host between two hours."""
    return Request(
        method='POST',
        path='/v1/leases',
        body={
            'name': name,
            'start_date': at(start),
            'end_date': at(end),
            'reservations': [{'resource_type': 'physical:host', 'min': 1, 'max': 1}],
        },
    )


class Races:
    """One host, one database, sixteen processes."""

    kind = ''

    def setUp(self) -> None:
        super().setUp()
        database = self.useFixture(services.Database(self.kind))
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        core = composition.core(racers.configuration(database.url), SystemClock())
        self.store = core.store
        self.addCleanup(self.store.close)
        cases.migration.sync(self.store.engine)
        cloud = SimulatedCloud(folder.name, clock=core.clock)
        self.addCleanup(cloud.close)
        cloud.seed(20)
        self.registrar = Registrar(self.store, core.plugins, cloud)
        self.host = self.registrar.register_resource(drafts.host('compute-1'))
        self.racers = racers.racers()
        self.racers.open(database.url, folder.name)

    def overlaps(self) -> int:
        """Return how many pairs of allocations of one host overlap."""
        with self.store.engine.connect() as connection:
            return int(connection.execute(_OVERLAPS).scalar_one())

    def booked(self) -> list[tuple[int, datetime.datetime, datetime.datetime]]:
        """Return ``(host, start, end)`` of every allocation."""
        table = cases.migration.metadata().tables['allocations']
        query = sa.select(table.c.resource_id, table.c.start_date, table.c.end_date)
        with self.store.engine.connect() as connection:
            return [tuple(row) for row in connection.execute(query)]

    def lease_ids(self) -> dict[str, str]:
        """Return the ids of the leases by name."""
        table = cases.migration.metadata().tables['leases']
        with self.store.engine.connect() as connection:
            rows = connection.execute(sa.select(table.c.name, table.c.id))
            return {row.name: row.id for row in rows}

    def test_one_host_goes_to_one_of_sixteen(self) -> None:
        answers = self.racers.race([[create(1, 2)]] * racers.COUNT)
        counts = collections.Counter(code for codes in answers for code in codes)
        self.assertEqual({201: 1, 409: racers.COUNT - 1}, dict(counts))
        self.assertEqual(1, len(self.booked()))

    def test_each_of_200_hours_is_booked_once(self) -> None:
        # Every hour is wanted by two, each in an order of its own.
        wanted: list[list[Request]] = [[] for _ in range(racers.COUNT)]
        for hour in range(HOURS):
            for rival in (hour, hour + 1 + hour % 7):
                wanted[rival % racers.COUNT].append(create(hour, hour + 1))
        for number, requests in enumerate(wanted):
            random.Random(number).shuffle(requests)
        answers = self.racers.race(wanted)
        counts = collections.Counter(code for codes in answers for code in codes)
        self.assertEqual({201: HOURS, 409: HOURS}, dict(counts))
        hours = sorted(start for _, start, _ in self.booked())
        hour = datetime.timedelta(hours=1)
        self.assertEqual([DAY + number * hour for number in range(HOURS)], hours)
        self.assertEqual(0, self.overlaps())

    def test_no_project_gets_more_leases_than_its_limit(self) -> None:
        def fill(tx: Transaction) -> None:
            for number in range(98):
                made = cases.lease(number, number + 1, project_id='blue', reservations=())
                tx.leases.insert(dataclasses.replace(made, events=()))

        self.store.run(fill)
        body = {'name': 'one more', 'start_date': at(1), 'end_date': at(2), 'reservations': []}
        wish = Request(method='POST', path='/v1/leases', body=body, token=http.MEMBER)
        answers = self.racers.race([[wish]] * racers.COUNT)
        counts = collections.Counter(code for codes in answers for code in codes)
        self.assertEqual({201: 2, 403: racers.COUNT - 2}, dict(counts))

    def test_of_two_neighbours_one_gets_the_gap(self) -> None:
        gaps = racers.COUNT // 2
        made = [
            request
            for gap in range(gaps)
            for request in (
                create(10 * gap, 10 * gap + 1, f'left-{gap}'),
                create(10 * gap + 3, 10 * gap + 4, f'right-{gap}'),
            )
        ]
        self.assertEqual([[201] * len(made)], self.racers.race([made]))
        ids = self.lease_ids()
        grow = []
        for gap in range(gaps):
            for name, change in (
                (f'left-{gap}', {'end_date': at(10 * gap + 2.5)}),
                (f'right-{gap}', {'start_date': at(10 * gap + 1.5)}),
            ):
                grow.append([Request(method='PUT', path=f'/v1/leases/{ids[name]}', body=change)])
        codes = [answer[0] for answer in self.racers.race(grow)]
        for gap in range(gaps):
            self.assertEqual([200, 409], sorted(codes[2 * gap : 2 * gap + 2]), codes)
        self.assertEqual(0, self.overlaps())

    def test_a_host_is_booked_or_let_go_but_not_both(self) -> None:
        outcomes = set()
        for number in range(2, 8):
            # The one before is gone or taken; this one alone is free.
            host = (
                self.host
                if number == 2
                else self.registrar.register_resource(drafts.host(f'compute-{number}'))
            )
            let_go = Request(method='LET_GO', path=str(host))
            answers = self.racers.race([[create(1, 2)], [let_go], [create(1, 2)], [create(1, 2)]])
            (_, (gone,), *_), creates = answers, [answers[0][0], answers[2][0], answers[3][0]]
            taken = [start for resource, start, _ in self.booked() if resource == host]
            if gone == 204:
                self.assertEqual(([409] * 3, []), (creates, taken))
            else:
                self.assertEqual((409, [201, 409, 409]), (gone, sorted(creates)))
                self.assertEqual(1, len(taken))
            outcomes.add(gone)
        self.assertEqual(0, self.overlaps())
        self.assertLessEqual(outcomes, {204, 409})


class TestSqlite(Races, base.TestCase):
    """On SQLite."""

    kind = services.SQLITE


class TestMariadb(Races, base.TestCase):
    """On MariaDB."""

    kind = services.MARIADB


class TestPostgresql(Races, base.TestCase):
    """On PostgreSQL."""

    kind = services.POSTGRESQL
