# SPDX-License-Identifier: Apache-2.0
"""What it costs to list the properties that requirements can compare.

Ten thousand hosts with a hundred properties each have a million rows, and any user can ask.
"""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa

from climate.db.schema.tables import PROPERTIES
from tests import base
from tests import services
from tests.functional import bodies
from tests.functional import http
from tests.functional.db import plans
from tests.functional.fixtures import Service

CHOICES = '/v1/resources/properties?type=physical:host&values=true'
OTHER = 'bob:red:member'


@services.on_each_engine(base.TestCase)
class ChoiceCosts:
    """One service on one engine."""

    def setUp(self) -> None:
        super().setUp()
        self.service = self.useFixture(Service(hosts=2, database=self.kind))
        self.set(1, gpu='a100', secret='x')

    def send(self, method: str, path: str, body: Any = None, token: str = http.MEMBER) -> Any:
        answer = http.send(self.service.app, method, path, body, token=token, version='1.7')
        return answer.status_int, answer.json

    def set(self, host: int, **values: str | None) -> None:
        # No two changes are at the same instant.
        self.service.clock.advance(0.001)
        status, answer = self.send('PUT', f'/v1/os-hosts/{host}', values, http.ADMIN)
        self.assertEqual(200, status, answer)

    def choices(self, token: str = http.MEMBER) -> dict[str, Any]:
        status, answer = self.send('GET', CHOICES, token=token)
        self.assertEqual(200, status, answer)
        return {
            one['property']: [(each['value'], each['resources']) for each in one['values']]
            for one in answer['resource_properties']
        }

    def statements(self, work: Any) -> list[str]:
        """Return the statements that read all properties."""
        with plans.captured(self.service.store.engine) as found:
            work()
        return [one.text for one in found if 'GROUP BY properties.name' in one.text]

    def test_one_request_reads_them_for_all(self) -> None:
        self.assertEqual(3, len(self.statements(self.choices)))
        for token in (http.MEMBER, OTHER):
            self.assertEqual([], self.statements(lambda token=token: self.choices(token)))
        # What operators see, they see alone.
        path = f'{CHOICES}&all=true'
        self.assertEqual(3, len(self.statements(lambda: self.send('GET', path, token=http.ADMIN))))
        self.assertIn('secret', json.dumps(self.send('GET', path, token=http.ADMIN)))

    def test_changes_are_seen_at_once(self) -> None:
        self.assertEqual([('a100', 1)], self.choices()['gpu'])
        self.set(2, gpu='a100')
        self.assertEqual([('a100', 2)], self.choices()['gpu'])
        self.set(1, gpu=None)
        self.assertEqual([('a100', 1)], self.choices()['gpu'])
        self.set(1, gpu='h100')
        self.assertEqual([('a100', 1), ('h100', 1)], self.choices()['gpu'])
        self.send('PATCH', '/v1/os-hosts/properties/secret', {'private': True}, http.ADMIN)
        self.assertNotIn('secret', self.choices())
        http.expect(204, http.send(self.service.app, 'DELETE', '/v1/os-hosts/1'))
        self.assertEqual([('a100', 1)], self.choices()['gpu'])

    def test_they_are_read_again_after_a_while(self) -> None:
        """Of two transactions at once, the state shows only the one with the later time."""
        self.choices()
        with self.service.store.engine.begin() as connection:
            connection.execute(
                sa.update(PROPERTIES).where(PROPERTIES.c.name == 'gpu').values(value='h100')
            )
        self.assertEqual([('a100', 1)], self.choices()['gpu'])
        self.service.clock.advance(61)
        self.assertEqual([('h100', 1)], self.choices()['gpu'])

    def refused(self, name: str) -> tuple[list[plans.Statement], str]:
        """Return the statements for a refused lease, and why it is refused."""
        body = {
            **http.LEASE,
            'start_date': '2030-02-01T00:00:00Z',
            'end_date': '2030-02-02T00:00:00Z',
            'events': [],
            'reservations': [
                bodies.hosts(1, resource_properties=json.dumps(['==', f'${name}', 'none']))
            ],
        }
        with plans.captured(self.service.store.engine) as found:
            status, answer = self.send('POST', '/v1/leases', body)
        self.assertEqual(409, status, answer)
        return found, answer['reasons'][0].get('detail') or ''

    def test_a_refusal_does_not_read_all_properties(self) -> None:
        self.set(2, old='x')
        self.set(2, old=None)
        self.set(1, **{f'name{number:03d}': 'x' for number in range(100)})
        found, why = self.refused('gpu')
        self.assertEqual('', why)
        self.assertEqual([], self.unbounded(found))
        found, why = self.refused('gpus')
        self.assertIn('No host has the property gpus; there are ', why)
        self.assertTrue(why.endswith(', …'), why)
        self.assertNotIn(' old', why)
        self.assertEqual([], self.unbounded(found))

    def unbounded(self, statements: list[plans.Statement]) -> list[str]:
        """Return the statements that read names of properties of all resources."""
        return [
            one.text
            for one in statements
            if one.text.startswith(('SELECT DISTINCT properties.name', 'SELECT properties.name'))
            and 'LIMIT' not in one.text
            and 'properties.resource_id IN' not in one.text
        ]
