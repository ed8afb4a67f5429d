# SPDX-License-Identifier: Apache-2.0

"""Lists without a limit are answered a part at a time, and are whole all the same."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
import webob

from climate import exceptions
from climate.booking import leases
from climate.domain.requests import LeaseQuery
from climate.resources import resources
from tests import base
from tests import services
from tests.databases import fetch
from tests.functional import bulk
from tests.functional import http
from tests.functional import whole_leases
from tests.functional.db import plans
from tests.functional.fixtures import Service


@services.on_each_engine(base.TestCase)
class Lists:
    """What has more than a few rows, on one engine."""

    def setUp(self) -> None:
        super().setUp()
        self.patch(leases, '_BATCH', 7)
        self.patch(resources, '_BATCH', 7)
        self.service = self.useFixture(Service(hosts=0, database=self.kind))
        now = self.service.clock.now()
        # Leases of a slot were made at one instant: ids alone put them in order.
        load = bulk.Load(hosts=20, allocations=60, group=1, now=now, projects=1)
        load.fill(self.service.store.engine)
        with self.service.store.engine.begin() as connection:
            connection.execute(sa.text('UPDATE leases SET created_at = start_date'))
            connection.execute(
                sa.text(
                    "UPDATE leases SET created_at = '2029-01-01 00:00:00.000000' WHERE id < '8'"
                )
            )

    def all_leases(self) -> list[str]:
        """Return the ids of all leases, in order, read at once."""
        return fetch(self.service.store, whole_leases.ids)

    def test_leases(self) -> None:
        answer = http.send(self.service.app, 'GET', '/v1/leases')
        self.assertNotIn('Content-Length', answer.headers)
        self.assertEqual(self.all_leases(), [one['id'] for one in answer.json['leases']])
        self.assertEqual(60, len(answer.json['leases']))
        self.assertEqual('application/json', answer.content_type)

    def test_head(self) -> None:
        """It has a length: a server would end a body without one with a mark of its own."""
        for path in ('/v1/leases', '/v1/os-hosts/allocations'):
            whole = http.send(self.service.app, 'GET', path).body
            answer = http.send(self.service.app, 'HEAD', path)
            self.assertEqual(b'', answer.body)
            self.assertEqual(str(len(whole)), answer.headers['Content-Length'])

    def test_conditions(self) -> None:
        """A list in parts has no tag, so only ``*`` matches it; unsent parts are not read."""
        path = '/v1/os-hosts/allocations'
        for method in ('GET', 'HEAD'):
            for header, text, status in (
                ('If-None-Match', '*', 304),
                ('If-None-Match', '"x"', 200),
                ('If-Match', '"x"', 412),
                ('If-Match', '*', 200),
                ('If-Match', 'x', 400),
            ):
                answer = http.send(
                    self.service.app, method, path, version='1.4', headers={header: text}
                )
                self.assertEqual(status, answer.status_int, (method, header, text))
                self.assertNotIn('ETag', answer.headers)
                if status == 304:
                    self.assertEqual(b'', answer.body)
                    self.assertNotIn('Content-Type', answer.headers)
        pool = self.service.store.engine.pool
        if isinstance(pool, sa.QueuePool):
            self.assertEqual(0, pool.checkedout())

    def test_a_lease_is_as_in_a_short_list(self) -> None:
        whole = http.send(self.service.app, 'GET', '/v1/leases').json
        self.patch(leases, '_BATCH', 1000)
        answer = http.send(self.service.app, 'GET', '/v1/leases')
        self.assertEqual(whole, answer.json)
        self.assertEqual(len(answer.body), int(answer.headers['Content-Length']))

    def test_leases_that_go_and_come_meanwhile(self) -> None:
        ids = self.all_leases()
        found = self.service.services.leases.batches(LeaseQuery(project_id=None))
        first = [one.id for one in next(found)]
        with self.service.store.engine.begin() as connection:
            for table, column in (('events', 'lease_id'), ('leases', 'id')):
                gone = f"DELETE FROM {table} WHERE {column} = '{first[-1]}'"
                if table == 'leases':
                    gone = f"UPDATE leases SET deleted_at = created_at WHERE id = '{first[-1]}'"
                connection.execute(sa.text(gone))
        self.assertEqual(ids, first + [one.id for batch in found for one in batch])

    def test_calendars(self) -> None:
        for path in ('/v1/os-hosts/allocations', '/v1/resources/allocations?type=physical:host'):
            answer = http.expect(200, http.send(self.service.app, 'GET', path, version='1.3'))
            shown = answer.json['allocations']
            self.assertEqual([str(n) for n in range(1, 21)], [one['resource_id'] for one in shown])
            self.patch(resources, '_BATCH', 1000)
            found = http.send(self.service.app, 'GET', path, version='1.3').json
            self.assertEqual(answer.json, found)
            self.patch(resources, '_BATCH', 7)

    def test_no_more_is_read_than_is_sent(self) -> None:
        for path, at_first in (('/v1/leases', 6), ('/v1/os-hosts/allocations', 4)):
            with plans.captured(self.service.store.engine) as statements:
                answer = self.begun(path)
                self.assertLessEqual(len(statements), at_first)
                before = len(statements)
                parts = iter(answer.app_iter)
                next(parts)
                next(parts)
                next(parts)
                self.assertEqual(before, len(statements))
                next(parts)
                self.assertGreater(len(statements), before)

    def begun(self, path: str) -> Any:
        """Return an answer of which nothing was read yet."""
        request = webob.Request.blank(path, headers={'X-Auth-Token': http.ADMIN})
        return request.get_response(self.service.app)

    def test_a_fault_at_first_is_an_error(self) -> None:
        def broken(*_arguments: Any, **_options: Any) -> Any:
            raise exceptions.DatabaseUnavailable

        self.patch(self.service.store, 'reading', broken)
        for path in ('/v1/leases', '/v1/os-hosts/allocations'):
            self.assertEqual(503, http.send(self.service.app, 'GET', path).status_int)
