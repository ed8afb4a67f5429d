# SPDX-License-Identifier: Apache-2.0

"""openstacksdk's ``conn.reservation``, as programs use it."""

from __future__ import annotations

import datetime

from climate.api.http import microversions
from tests.cloud.base import smoke
from tests.cloud.field import connect
from tests.cloud.field import FieldTest
from tests.cloud.field import shown
from tests.cloud.people import time
from tests.functional.clients import minute

LINE = {'resource_type': 'physical:host', 'min': 1, 'max': 1}


class TestSdk(FieldTest):
    """With a password, the catalogue and the library's own discovery."""

    def setUp(self) -> None:
        super().setUp()
        self.proxy = connect(self.cloud, 'alice').reservation

    def test_discovery(self) -> None:
        found = self.proxy.get_endpoint_data()
        self.assertEqual(self.cloud.reservation_url, found.url.rstrip('/'))
        self.assertEqual(
            (microversions.MIN, microversions.MAX), (found.min_microversion, found.max_microversion)
        )

    @smoke
    def test_a_lease(self) -> None:
        start, end, longer = minute(10), minute(20), minute(30)
        body = {'name': self.name('sdk'), 'start_date': start, 'end_date': end}
        created = self.proxy.post('/leases', json={**body, 'reservations': [LINE]})
        self.assertEqual(201, created.status_code, created.text)
        lease = created.json()['lease']
        path = f'/leases/{lease["id"]}'
        self.assertEqual((self.alice.project_id, 'PENDING'), (lease['project_id'], lease['status']))
        self.assertEqual({'lease': lease}, self.proxy.get(path).json())
        changed = self.proxy.put(path, json={'end_date': longer})
        self.assertEqual(
            (200, shown(longer)), (changed.status_code, changed.json()['lease']['end_date'])
        )
        self.assertEqual(404, connect(self.cloud, 'bob').reservation.get(path).status_code)
        gone = self.proxy.delete(path)
        self.assertEqual((204, b''), (gone.status_code, gone.content))
        self.assertEqual({'leases': []}, self.proxy.get('/leases').json())

    def test_microversion(self) -> None:
        """Asked for by the library's own argument, it gives seconds and durations."""
        start = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=90.5)
        body = {'name': self.name('new'), 'start_date': start.isoformat(), 'duration': '75s'}
        body['reservations'] = [LINE]
        old = self.proxy.post('/leases', json=body)
        self.assertEqual(400, old.status_code, old.text)
        created = self.proxy.post('/leases', json=body, microversion='1.1')
        self.assertEqual(201, created.status_code, created.text)
        self.assertEqual('reservation 1.1', created.headers['OpenStack-API-Version'])
        lease = created.json()['lease']
        self.assertEqual(75.0, (time(lease['end_date']) - start).total_seconds())
        many = self.proxy.get('/leases', params={'name': 'no such', 'limit': 1}, microversion='1.1')
        self.assertEqual([], many.json()['leases'])
        unknown = self.proxy.get('/leases', microversion='1.99')
        self.assertEqual(406, unknown.status_code, unknown.text)
