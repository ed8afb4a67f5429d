# SPDX-License-Identifier: Apache-2.0

"""Sixteen processes hold, take, book and release at once, and a sum of their own."""

from __future__ import annotations

import random
from collections.abc import Iterator

import sqlalchemy as sa

from tests import base
from tests import drafts
from tests import services
from tests.exhaustive.races import records
from tests.functional import racers
from tests.functional import test_hold_races
from tests.functional.db import cases
from tests.functional.racers import Request
from tests.functional.test_hold_races import book
from tests.functional.test_hold_races import counted
from tests.functional.test_hold_races import held
from tests.functional.test_hold_races import hold
from tests.functional.test_hold_races import take

BLUE = 'alice:blue:member'
ROUNDS = 6


def release(offer_id: str) -> Request:
    """Return a request to delete an offer."""
    return Request(method='DELETE', path=f'/v1/offers/{offer_id}', version='1.4')


@services.on_each_engine(base.TestCase)
class HoldRaces(test_hold_races.HoldRaces):
    """One host, unless a test registers more."""

    def expire(self) -> None:
        """Let all holds end."""
        offers = cases.migration.metadata().tables['offers']
        past = sa.update(offers).where(offers.c.held_until.is_not(None))
        with self.store.engine.begin() as connection:
            connection.execute(past.values(held_until=offers.c.created_at))

    def test_bookings_and_holds(self) -> None:
        answers = self.racers.answers([[book()], [hold()]] * (racers.COUNT // 2))
        booked = [one for mine in answers for one in mine if one.status == 201]
        self.assertEqual(1, len(booked) + len(held(answers)))
        self.assertEqual(1, len(self.booked()))

    def test_take_and_release(self) -> None:
        """Either the lease is there or the host is free, and another request may book it."""
        (offer_id,) = held(self.racers.answers([[hold()]]))
        four = [[take(offer_id)], [release(offer_id)], [book()], [book()]]
        codes = counted(self.racers.race(four * 4))
        self.assertLessEqual(set(codes), {201, 204, 404, 409})
        self.assertLessEqual(codes.get(201, 0), 1)
        self.assertEqual(codes.get(201, 0), len(self.booked()))
        self.assertEqual(codes.get(201, 0), len(self.lease_ids()))

    def test_an_expired_hold(self) -> None:
        """It is in the way of all: one gets what it held."""
        held(self.racers.answers([[hold()]]))
        self.expire()
        codes = counted(self.racers.race([[book()]] * racers.COUNT))
        self.assertEqual({201: 1, 409: racers.COUNT - 1}, codes)
        self.assertEqual(1, len(self.booked()))

    def test_take_while_it_expires(self) -> None:
        (offer_id,) = held(self.racers.answers([[hold()]]))
        self.expire()
        codes = counted(self.racers.race([[take(offer_id)], [book()]] * (racers.COUNT // 2)))
        self.assertEqual(1, codes[201])
        self.assertLessEqual(set(codes), {201, 404, 409})
        self.assertEqual(1, len(self.booked()))
        self.assertEqual(1, len(self.lease_ids()))

    def test_the_limit_of_a_project(self) -> None:
        """Each wants hours of its own; five of sixteen get some."""
        hours = [[hold(2 * place, 2 * place + 1, BLUE)] for place in range(racers.COUNT)]
        self.assertEqual({200: 5, 403: racers.COUNT - 5}, counted(self.racers.race(hours)))
        self.assertEqual(5, len(self.booked()))

    def test_at_random(self) -> None:
        """Whatever they do, in whatever order: no more is booked than there is."""
        for number in range(2, 4):
            self.registrar.register_resource(drafts.host(f'compute-{number}'))
        rng = random.Random(13)
        known: list[str] = []
        for number in range(ROUNDS):
            requests = [list(self.chosen(rng, known)) for _ in range(racers.COUNT)]
            answers = self.racers.answers(requests)
            known += held(answers)
            codes = counted([[one.status for one in mine] for mine in answers])
            self.assertLessEqual(set(codes), {200, 201, 204, 403, 404, 409}, codes)
            with self.store.engine.connect() as connection:
                self.assertEqual([], records.overbooked(records.read(connection)))
            if number % 2:
                self.expire()
        self.assertTrue(known)

    def chosen(self, rng: random.Random, known: list[str]) -> Iterator[Request]:
        """Yield what a process does in a round."""
        for _ in range(2):
            start = rng.randrange(4)
            end = start + rng.randint(1, 3)
            ways = [hold(start, end), hold(start, end), book(start, end)]
            if known:
                ways += [
                    take(rng.choice(known)),
                    take(rng.choice(known)),
                    release(rng.choice(known)),
                ]
            yield rng.choice(ways)
