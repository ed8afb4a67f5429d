# SPDX-License-Identifier: Apache-2.0

"""Requests to one service that searches in SQL, and then in memory: the same answers.

It takes about ten seconds.
"""

from __future__ import annotations

import random
from typing import Any

from climate.db.timelines.timelines import Timelines
from climate.db.transactions.store import Store
from climate.leases.settings import LeasingSettings
from tests import base
from tests.functional import fixtures
from tests.functional import http

REQUESTS = 120
MOST_LEASES = 6


class TestTimelines(base.TestCase):
    """Whole hosts and slots on four hosts, until they are nearly full."""

    def setUp(self) -> None:
        super().setUp()
        self.service = self.useFixture(fixtures.Service())
        self.timelines = Timelines(LeasingSettings().cleaning_time)
        self.rng = random.Random(13)
        self.leases: list[str] = []

    def post(self, body: dict[str, Any], timelines: Timelines | None) -> Any:
        """Book a lease by one kind of search."""
        store: Store = self.service.store
        store._timelines = timelines
        return http.send(self.service.app, 'POST', '/v1/leases', body, version='1.3')

    def delete(self, lease_id: str) -> None:
        """Delete a lease."""
        answer = http.send(self.service.app, 'DELETE', f'/v1/leases/{lease_id}')
        self.assertLess(answer.status_int, 300, answer.text)

    def body(self) -> dict[str, Any]:
        """Return a request for a random day, of one reservation or two."""
        day = self.rng.randrange(1, 8)
        return {
            'name': 'l',
            'start_date': f'2030-02-{day:02} 00:00',
            'end_date': f'2030-02-{day + self.rng.randrange(1, 4):02} 00:00',
            'reservations': [self.reservation() for _ in range(self.rng.choice([1, 1, 2]))],
        }

    def reservation(self) -> dict[str, Any]:
        """Return whole hosts or slots, some of them with a requirement."""
        few = self.rng.randrange(1, 3)
        wanted = self.rng.choice(['', '[">=", "$vcpus", "1"]', '[">=", "$vcpus", "1000"]'])
        if self.rng.random() < 0.4:
            return {
                'resource_type': 'physical:host',
                'min': few,
                'max': few + self.rng.randrange(2),
                'hypervisor_properties': wanted,
                'resource_properties': '',
            }
        return {
            'resource_type': 'virtual:instance',
            'amount': self.rng.choice([1, 2, 5, 20]),
            'vcpus': self.rng.choice([1, 2, 64]),
            'memory_mb': 1024,
            'disk_gb': 1,
            # With affinity there is a server group, which only a manager deletes.
            'affinity': None,
            'resource_properties': wanted,
        }

    def change(self) -> int:
        """Change the dates or the amount of a lease; what one search refuses, both refuse."""
        if not self.leases:
            return 0
        lease_id = self.rng.choice(self.leases)
        path = f'/v1/leases/{lease_id}'
        lease = http.send(self.service.app, 'GET', path).json['lease']
        day = self.rng.randrange(1, 8)
        body: dict[str, Any] = {
            'start_date': f'2030-02-{day:02} 00:00',
            'end_date': f'2030-02-{day + self.rng.randrange(1, 6):02} 00:00',
        }
        reservation = lease['reservations'][0]
        if 'amount' in reservation and self.rng.random() < 0.5:
            body['reservations'] = [{'id': reservation['id'], 'amount': self.rng.randrange(1, 60)}]
        answers = []
        for timelines in self.rng.sample([None, self.timelines], 2):
            self.service.store._timelines = timelines
            answers.append(http.send(self.service.app, 'PUT', path, body, version='1.3'))
            if answers[0].status_int < 400:
                return 0
        refused, again = answers
        self.assertEqual(refused.status_int, again.status_int, (body, again.text))
        self.assertEqual(refused.json, again.json, body)
        return 1

    def test_same_answers_to_changes(self) -> None:
        refused = 0
        for _ in range(REQUESTS):
            answer = self.post(self.body(), self.timelines)
            if answer.status_int == 201:
                self.leases.append(answer.json['lease']['id'])
            refused += self.change()
            if len(self.leases) > MOST_LEASES:
                self.delete(self.leases.pop(self.rng.randrange(len(self.leases))))
        self.assertGreater(refused, REQUESTS // 10)
        self.assertGreater(REQUESTS - refused, REQUESTS // 10)
        self.assertGreater(self.timelines.counts.found['won'], REQUESTS // 10)

    def test_same_answers(self) -> None:
        statuses = {201: 0, 400: 0, 409: 0}
        for _ in range(REQUESTS):
            body = self.body()
            by_sql = self.post(body, None)
            if by_sql.status_int == 201:
                self.delete(by_sql.json['lease']['id'])
            in_memory = self.post(body, self.timelines)
            self.assertEqual(by_sql.status_int, in_memory.status_int, (body, in_memory.text))
            statuses[in_memory.status_int] += 1
            if in_memory.status_int == 201:
                self.leases.append(in_memory.json['lease']['id'])
                self.assertEqual(_amounts(by_sql), _amounts(in_memory))
            else:
                self.assertEqual(by_sql.json, in_memory.json, body)
            if self.leases and self.rng.random() < 0.2:
                self.delete(self.leases.pop(self.rng.randrange(len(self.leases))))
        # Each way out was taken often.
        self.assertGreater(statuses[201], REQUESTS // 5, statuses)
        self.assertGreater(REQUESTS - statuses[201], REQUESTS // 5, statuses)


def _amounts(answer: Any) -> list[tuple[Any, ...]]:
    return [
        (item['resource_type'], item['status'], item.get('amount'))
        for item in answer.json['lease']['reservations']
    ]
