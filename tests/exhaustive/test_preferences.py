# SPDX-License-Identifier: Apache-2.0

"""Offers in the order that a caller prefers, in random situations.

Each can be booked, and none that could is better.
"""

from __future__ import annotations

import datetime
import random
from typing import Any

from climate.leases.prices import Prices
from climate.testing import service as serving
from tests import base
from tests.functional import fixtures

ROUNDS = 4
HALF = datetime.timedelta(minutes=30)
FIRST = datetime.datetime(2030, 2, 1, tzinfo=datetime.UTC)
HOURS = 20
FACTORS = tuple(
    0.5 if hour < 3 or 9 <= hour < 12 else 2.0 if hour == 7 else 1.0 for hour in range(24)
)
PRICES = Prices(units={'physical:host': 4.0, 'virtual:instance/VCPU': 0.25}, factors=FACTORS)


def written(time: datetime.datetime) -> str:
    """Return a time as the API writes it."""
    return time.isoformat().replace('+00:00', 'Z')


def read(text: str) -> datetime.datetime:
    """Return the time that the API wrote."""
    return datetime.datetime.fromisoformat(text)


class TestPreferences(base.TestCase):
    """Four hosts in two racks, with random leases within a day."""

    def setUp(self) -> None:
        super().setUp()
        self.service = self.useFixture(fixtures.Service(prices=PRICES))
        # Offers by preference count what others have, though a lease could give them other hosts.
        self.service.replace_settings(rebind=False)
        self.rng = random.Random(1405)

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request as a member of the project."""
        return serving.send(self.service, method, f'/v1/{path}', body, version='1.4')

    def book(self, reservations: list[dict[str, Any]], start: Any, end: Any, **facts: Any) -> int:
        """Book or rehearse a lease; return the status."""
        body = {'name': 'l', 'start_date': written(start), 'end_date': written(end)}
        answer = self.send('POST', 'leases', {**body, 'reservations': reservations, **facts})
        return int(answer.status_int)

    def reservations(self) -> list[dict[str, Any]]:
        """Return a reservation of whole hosts or of slots."""
        few = self.rng.randrange(1, 3)
        hosts = {'resource_type': 'physical:host', 'min': few, 'max': few}
        slots = {
            'resource_type': 'virtual:instance',
            'amount': self.rng.choice([2, 3, 5]),
            'vcpus': 4,
            'memory_mb': 512,
            'disk_gb': 1,
            'affinity': None,
        }
        return [self.rng.choice([hosts, slots])]

    def fill(self) -> None:
        """Replace all leases by other ones."""
        for lease in self.send('GET', 'leases').json['leases']:
            self.send('DELETE', f'leases/{lease["id"]}')
        self.service.work()
        for _ in range(9):
            start = FIRST + self.rng.randrange(2 * HOURS) * HALF
            self.book(self.reservations(), start, start + self.rng.randrange(1, 8) * HALF)

    def offers(self, reservations: list[dict[str, Any]], **facts: Any) -> list[dict[str, Any]]:
        """Return the offers of two hours within the day."""
        latest = FIRST + datetime.timedelta(hours=HOURS)
        body = {'duration': '2h', 'earliest': written(FIRST), 'latest': written(latest), **facts}
        answer = self.send('POST', 'offers', {**body, 'reservations': reservations})
        self.assertEqual(200, answer.status_int, answer.text)
        found: list[dict[str, Any]] = answer.json['offers']
        return found

    def starts(self, reservations: list[dict[str, Any]]) -> list[datetime.datetime]:
        """Return the half hours at which the lease could begin."""
        every = [FIRST + step * HALF for step in range(2 * HOURS - 3)]
        return [
            start
            for start in every
            if self.book(reservations, start, start + 4 * HALF, dry_run=True) == 200
        ]

    def check_bookable(self, reservations: list[dict[str, Any]], offer: dict[str, Any]) -> None:
        """Rehearse an offer."""
        start, end = read(offer['start_date']), read(offer['end_date'])
        self.assertEqual(200, self.book(reservations, start, end, dry_run=True), offer)

    def factor(self, start: datetime.datetime) -> float:
        """Return how many hours at a factor of 1 cost as much as two hours."""
        return sum(FACTORS[(start + step * HALF).hour] / 2 for step in range(4))

    def test_the_cheapest(self) -> None:
        """All bookings, prices and durations are multiples of half an hour."""
        for _ in range(ROUNDS):
            self.fill()
            wanted = self.reservations()
            offers = self.offers(wanted, prefer='cheapest', limit=2)
            costs = [offer['cost'] for offer in offers]
            self.assertEqual(sorted(costs), costs)
            for offer in offers:
                self.assertEqual('cheapest', offer['reason'])
                self.check_bookable(wanted, offer)
                self.assertEqual(self.cost(wanted, read(offer['start_date'])), offer['cost'])
            others = [self.cost(wanted, start) for start in self.starts(wanted)]
            self.assertEqual(min(others, default=None), min(costs, default=None))

    def cost(self, wanted: list[dict[str, Any]], start: datetime.datetime) -> float:
        """Return what two hours cost."""
        [one] = wanted
        rate = 4.0 * one['min'] if 'min' in one else 0.25 * 4 * one['amount']
        return self.factor(start) * rate

    def test_the_fewest_resources(self) -> None:
        for _ in range(ROUNDS):
            self.fill()
            wanted = self.reservations()
            offers = self.offers(wanted, prefer='fewest_resources', limit=2)
            numbers = [offer['resources'] for offer in offers]
            self.assertEqual(sorted(numbers), numbers)
            for offer in offers:
                self.assertEqual('fewest_resources', offer['reason'])
                self.check_bookable(wanted, offer)
            self.assertEqual(bool(self.offers(wanted, limit=1)), bool(offers))
            for start in self.starts(wanted):
                self.assertGreaterEqual(self.used(wanted, start), numbers[0])

    def used(self, wanted: list[dict[str, Any]], start: datetime.datetime) -> int:
        """Return how many resources a lease would use."""
        body = {'name': 'l', 'start_date': written(start), 'end_date': written(start + 4 * HALF)}
        body |= {'reservations': wanted}
        lease = self.send('POST', 'leases', body).json['lease']
        with self.service.store.reading() as tx:
            found = tx.allocations.live_of([one['id'] for one in lease['reservations']])
        self.send('DELETE', f'leases/{lease["id"]}')
        self.service.work()
        return len({item.resource_id for item in found})

    def test_the_same_rack(self) -> None:
        for _ in range(ROUNDS):
            self.fill()
            wanted = self.reservations()
            offers = self.offers(wanted, prefer='same', property='rack', limit=5)
            values = []
            for offer in offers:
                if offer['reason'] != 'same':
                    continue
                [one] = offer['requirements']
                values += one['values']
                limited = self.in_rack(wanted, one['values'][0])
                self.check_bookable(limited, offer)
                sooner = [
                    start for start in self.starts(limited) if start < read(offer['start_date'])
                ]
                self.assertEqual([], sooner)
            for rack in {'r0', 'r1'} - set(values):
                self.assertEqual([], self.starts(self.in_rack(wanted, rack)))
            if not values:
                self.assertEqual(self.offers(wanted, limit=5), offers)

    def in_rack(self, wanted: list[dict[str, Any]], rack: str) -> list[dict[str, Any]]:
        """Return reservations that require a rack."""
        return [{**one, 'resource_properties': f'["==", "$rack", "{rack}"]'} for one in wanted]
