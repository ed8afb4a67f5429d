# SPDX-License-Identifier: Apache-2.0

"""Extensions of leases that have begun, and alternatives to refused changes of them."""

from __future__ import annotations

import datetime
import random
from typing import Any

from climate.api.http.microversions import V1_4
from climate.testing import service as serving
from tests.databases import fetch
from tests.functional import bodies
from tests.functional import http
from tests.functional.fixtures import ServiceCase

MINUTE = datetime.timedelta(minutes=1)


class ExtensionsCase(ServiceCase):
    """A service with four hosts, and random leases of one project on them."""

    def setUp(self) -> None:
        super().setUp()
        self.rng = random.Random(1304)
        # An extension counts what others have, though a change could give them something else.
        self.service.replace_settings(rebind=False)

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request as a member of the project."""
        return serving.send(self.service, method, f'/v1/{path}', body, version=str(V1_4))

    def hour(self, number: int) -> str:
        """Return an instant of the day of all leases."""
        start = datetime.datetime(2030, 2, 1, tzinfo=datetime.UTC)
        return written(start + datetime.timedelta(hours=number))

    def reservations(self) -> list[dict[str, Any]]:
        """Return one or two reservations of whole hosts or of slots."""
        few = self.rng.randrange(1, 3)
        hosts = {'resource_type': 'physical:host', 'min': few, 'max': few}
        slots = bodies.instances(
            amount=self.rng.choice([1, 3, 5]),
            vcpus=self.rng.choice([2, 3]),
            memory_mb=512,
            disk_gb=1,
            affinity=self.rng.choice([None, None, True]),
        )
        return self.rng.choice([[hosts], [slots], [hosts, slots]])

    def book(self, start: int, end: int) -> dict[str, Any] | None:
        """Book a lease; return None if it is refused."""
        body = {'name': 'l', 'start_date': self.hour(start), 'end_date': self.hour(end)}
        answer = self.send('POST', 'leases', {**body, 'reservations': self.reservations()})
        return answer.json.get('lease')

    def clear(self) -> None:
        """Delete all leases."""
        for lease in self.send('GET', 'leases').json['leases']:
            self.send('DELETE', f'leases/{lease["id"]}')
        self.service.work()

    def dry(self, method: str, path: str, body: dict[str, Any]) -> int:
        """Return the status of a rehearsal."""
        return int(self.send(method, path, {**body, 'dry_run': True}).status_int)

    def rows(self, lease: dict[str, Any]) -> set[tuple[Any, ...]]:
        """Return the resources of a lease."""
        ids = [one['id'] for one in lease['reservations']]
        found = fetch(self.service.store, lambda tx: tx.allocations.live_of(ids))
        return {(item.resource_id, item.resource_class, item.amount) for item in found}


def written(time: datetime.datetime) -> str:
    """Return a time as the API writes it."""
    return time.isoformat().replace('+00:00', 'Z')


def after(text: str) -> str:
    """Return the time a minute later."""
    return written(datetime.datetime.fromisoformat(text) + MINUTE)


class TestRunning(ExtensionsCase):
    """A lease that has begun keeps its resources; a lease of the same can follow."""

    def test_a_lease_that_follows(self) -> None:
        hosts = {'resource_type': 'physical:host', 'min': 2, 'max': 2}
        body = {'name': 'l', 'start_date': self.hour(0), 'end_date': self.hour(3)}
        lease = self.send('POST', 'leases', {**body, 'reservations': [hosts]}).json['lease']
        # The same hosts: a booking leaves holes that are as small as possible.
        body = {'name': 'l', 'start_date': self.hour(5), 'end_date': self.hour(7)}
        self.send('POST', 'leases', {**body, 'reservations': [hosts]})
        path = f'leases/{lease["id"]}'
        found = self.send('GET', f'{path}/extension?latest={self.hour(24)}').json['extension']
        self.assertEqual(['extended', 'replaced'], [one['reason'] for one in found['offers']])
        self.service.clock.move_to(datetime.datetime(2030, 2, 1, 1, tzinfo=datetime.UTC))
        self.service.work()
        found = self.send('GET', f'{path}/extension?latest={self.hour(24)}').json['extension']
        self.assertEqual(self.hour(5), found['end_date'])
        self.assertEqual(['extended', 'following'], [one['reason'] for one in found['offers']])
        following = found['offers'][1]
        self.assert_has(following, start_date=self.hour(5), end_date=self.hour(24))
        self.assertEqual(200, self.dry('PUT', path, {'end_date': self.hour(5)}))
        self.assertEqual(409, self.dry('PUT', path, {'end_date': after(self.hour(5))}))
        new = {key: following[key] for key in ('start_date', 'end_date')}
        actual = self.send('POST', 'leases', {**body, **new, 'reservations': [hosts]}).status_int
        self.assertEqual(201, actual)

    def test_alternatives_to_more(self) -> None:
        """A running lease grows as far as it can, and for as long as it can."""
        slots = bodies.instances(amount=1, vcpus=4, memory_mb=512, disk_gb=1, affinity=None)
        body = {'name': 'l', 'start_date': self.hour(0), 'end_date': self.hour(3)}
        lease = self.send('POST', 'leases', {**body, 'reservations': [slots]}).json['lease']
        self.service.clock.move_to(datetime.datetime(2030, 2, 1, 1, tzinfo=datetime.UTC))
        self.service.work()
        path, reservation = f'leases/{lease["id"]}', lease['reservations'][0]['id']
        more = {'id': reservation, 'amount': 1000}
        answer = http.expect(409, self.send('PUT', path, {'reservations': [more]}))
        [most] = answer.json['alternatives']
        self.assertEqual('most', most['reason'])
        self.assertEqual((self.hour(0), self.hour(3)), (most['start_date'], most['end_date']))
        amount = most['reservations'][0]['amount']
        change = {'reservations': [{**more, 'amount': amount + 1}]}
        self.assertEqual(409, self.dry('PUT', path, change))
        change = {'reservations': [{**more, 'amount': amount}]}
        self.assertEqual(200, self.dry('PUT', path, change))
