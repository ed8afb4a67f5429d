# SPDX-License-Identifier: Apache-2.0

"""Never twice: sixteen processes that want more than one host."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import random

from climate.db.transactions.store import Transaction
from tests import base
from tests import drafts
from tests import services
from tests.functional import http
from tests.functional import racers
from tests.functional.db import cases
from tests.functional.race_case import at
from tests.functional.race_case import create
from tests.functional.race_case import DAY
from tests.functional.race_case import HOURS
from tests.functional.race_case import RaceCase
from tests.functional.racers import Request


@services.on_each_engine(base.TestCase)
class Races(RaceCase):
    """Many requests of each process, and changes."""

    def test_each_of_200_hours_is_booked_once(self) -> None:
        # Every hour is wanted by two, each in an order of its own.
        wanted: list[list[Request]] = [[] for _ in range(racers.COUNT)]
        for hour in range(HOURS):
            for rival in (hour, hour + 1 + hour % 7):
                wanted[rival % racers.COUNT].append(create(hour, hour + 1))
        for number, requests in enumerate(wanted):
            random.Random(number).shuffle(requests)
        counts = collections.Counter(code for codes in self.racers.race(wanted) for code in codes)
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
