# SPDX-License-Identifier: Apache-2.0

"""One of sixteen processes holds what all of them want, and one takes it."""

from __future__ import annotations

import collections
import datetime
import json

from tests import base
from tests import services
from tests.functional import http
from tests.functional import racers
from tests.functional.race_case import RaceCase
from tests.functional.racers import Request

# Offers begin at most 400 days ahead.
TOMORROW = datetime.datetime.now(datetime.UTC).replace(microsecond=0) + datetime.timedelta(days=1)
ONE = {'resource_type': 'physical:host', 'min': 1, 'max': 1}


def at(hour: float) -> str:
    """Return the instant so many hours after this time tomorrow."""
    return (TOMORROW + datetime.timedelta(hours=hour)).isoformat()


def hold(start: float = 1, end: float = 2, token: str = http.ADMIN) -> Request:
    """Return a request to hold a host between two hours."""
    body = {
        'reservations': [ONE],
        'duration': f'{(end - start) * 60:.0f}m',
        'earliest': at(start),
        'latest': at(end),
        'hold': 600,
        'limit': 1,
    }
    return Request(method='POST', path='/v1/offers', body=body, token=token, version='1.4')


def take(offer_id: str, token: str = http.ADMIN) -> Request:
    """Return a request to take an offer."""
    body = {'name': 'taken', 'offer_id': offer_id}
    return Request(method='POST', path='/v1/leases', body=body, token=token, version='1.4')


def book(start: float = 1, end: float = 2) -> Request:
    """Return a request to book a host between two hours."""
    body = {'name': 'booked', 'start_date': at(start), 'end_date': at(end), 'reservations': [ONE]}
    return Request(method='POST', path='/v1/leases', body=body, version='1.4')


def held(answers: list[list[racers.Answer]]) -> list[str]:
    """Return the ids of the offers in answers that are held."""
    found = [json.loads(one.body) for mine in answers for one in mine if one.status == 200]
    offers = [one for each in found for one in each['offers']]
    return [one['id'] for one in offers if one['held_until'] is not None]


def counted(answers: list[list[int]]) -> dict[int, int]:
    """Return how often there is each status."""
    return dict(collections.Counter(code for codes in answers for code in codes))


class HoldRaces(RaceCase):
    """One host."""

    def test_one_holds_it_and_one_takes_it(self) -> None:
        (offer_id,) = held(self.racers.answers([[hold()]] * racers.COUNT))
        before = self.booked()
        self.assertEqual(1, len(before))
        codes = counted(self.racers.race([[take(offer_id)]] * racers.COUNT))
        self.assertEqual({201: 1, 409: racers.COUNT - 1}, codes)
        self.assertEqual(before, self.booked())


class TestPostgresql(HoldRaces, base.TestCase):
    """On PostgreSQL; the exhaustive lane has the other engines."""

    kind = services.POSTGRESQL
