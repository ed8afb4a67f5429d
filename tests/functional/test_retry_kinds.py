# SPDX-License-Identifier: Apache-2.0

"""Every POST can be sent again with an idempotency key."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from climate.db.schema.tables import IDEMPOTENCY_KEYS
from tests import base
from tests.functional import http
from tests.functional.fixtures import Service
from tests.functional.retries import MAINTENANCE
from tests.functional.retries import RetryCase


class _Kinds(RetryCase):
    """Every POST there is."""

    def setUp(self) -> None:
        super().setUp()
        self.lease = self.booked(None, token=http.ADMIN).json['lease']

    def check(self, path: str, body: Any, status: int = 201) -> None:
        first = http.expect(status, self.post(path, body, token=http.ADMIN))
        rows = self.service.rows()
        self.assert_replayed(first, self.post(path, body, token=http.ADMIN))
        self.assertEqual(rows, self.service.rows())

    def test_maintenances(self) -> None:
        self.check('/maintenances', MAINTENANCE)

    def test_resource_types(self) -> None:
        self.check('/resource-types', {'name': 'custom:microscope', 'noun': 'microscopes'})

    def test_resources(self) -> None:
        self.check('/resources', {'resource_type': 'custom:rack', 'name': 'r1'})

    def test_hosts(self) -> None:
        http.send(self.service.app, 'DELETE', '/v1/os-hosts/4')
        self.check('/os-hosts', {'name': 'compute-4'})

    def test_reallocations(self) -> None:
        (reservation,) = self.lease['reservations']
        found = http.send(self.service.app, 'GET', '/v1/os-hosts/allocations').json
        (host,) = (item for item in found['allocations'] if item['reservations'])
        body = {'reservation_id': reservation['id'], 'resource_id': int(host['resource_id'])}
        self.check(f'/leases/{self.lease["id"]}/reallocate', body, 200)

    def test_readiness(self) -> None:
        body = {'ready': ['compute-1'], 'waiting': [], 'by': 'power'}
        self.check(f'/leases/{self.lease["id"]}/readiness', body, 200)

    def test_secrets_are_replaced(self) -> None:
        """An answer with a secret is stored nowhere: a repetition gets a new secret."""
        bodies = {'webhook': {'url': 'https://example.org/'}, 'feed': {'name': 'ours'}}
        for noun, field in (('webhook', 'secret'), ('feed', 'url')):
            what = ('POST', f'/v1/{noun}s', bodies[noun])
            facts = {'version': '1.5', 'headers': {'Idempotency-Key': noun}}
            answers = (http.send(self.service.app, *what, **facts) for _ in range(2))
            first, again = (answer.json[noun] for answer in answers)
            self.assertEqual(first['id'], again['id'])
            self.assertNotEqual(first[field], again[field])
            listed = http.send(self.service.app, 'GET', f'/v1/{noun}s', version='1.5').json
            self.assertEqual([first['id']], [one['id'] for one in listed[f'{noun}s']])
            if noun == 'feed':
                for link, status in ((first, 404), (again, 200)):
                    path = link['url'].removeprefix('http://localhost')
                    self.assertEqual(
                        status, http.send(self.service.app, 'GET', path).status_int, path
                    )
        with self.service.store.reading() as tx:
            rows = tx.session.execute(sa.select(IDEMPOTENCY_KEYS)).all()
        self.assertEqual([None, None], [row.body for row in rows[-2:]])

    def test_other_methods_ignore_it(self) -> None:
        path = f'/v1/leases/{self.lease["id"]}'
        for name in ('a', 'b'):
            answer = http.send(
                self.service.app,
                'PUT',
                path,
                {'name': name},
                version='1.4',
                headers={'Idempotency-Key': 'k'},
            )
            self.assertEqual((200, name), (answer.status_int, answer.json['lease']['name']))


class TestKinds(_Kinds, base.TestCase):
    """On SQLite."""


class TestAudit(RetryCase, base.TestCase):
    """What the audit trail has of a repetition."""

    def test_it_is_marked(self) -> None:
        audited: list[dict[str, Any]] = []
        service = Service()
        service.audit = audited.append
        self.service = self.useFixture(service)
        self.assert_replayed(self.booked(), self.booked())
        self.assertEqual(['201', '201'], [event['reason']['reasonCode'] for event in audited])
        self.assertEqual([1, 2], [len(event['tags']) for event in audited])
        self.assertIn('idempotency_replayed', audited[1]['tags'][1])
