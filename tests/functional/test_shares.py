# SPDX-License-Identifier: Apache-2.0
"""Requests of one project do not take the threads of all others."""

from __future__ import annotations

import threading
from concurrent import futures
from typing import Any

import fixtures
import webob

from climate.booking.leases import Leases
from tests import base
from tests.functional import http
from tests.functional.db import plans
from tests.functional.fixtures import Service
from tests.functional.processes import until

GREEN = 'alice:green:member'
ADMIN = 'root:red:admin'
SERVICE = 'nova:red:service'
LEASE = {
    'start_date': 'now',
    'duration': '1h',
    'reservations': [{'resource_type': 'physical:host', 'min': 1, 'max': 1}],
}


class SharesCase(base.TestCase):
    """A process with eight threads, in which the lists of one project take long."""

    def setUp(self) -> None:
        super().setUp()
        self.service = self.useFixture(Service())
        self.service.conf.set_override('project_share', 0.25, group='api')
        self.service.conf.set_override('share_wait', 0.0, group='api')
        self.app = self.service.made()
        self.inside: list[str] = []
        self.ends = threading.Event()
        self.addCleanup(self.ends.set)
        self.pool = futures.ThreadPoolExecutor(8)
        self.addCleanup(self.pool.shutdown)
        self.addCleanup(self.ends.set)
        self.useFixture(fixtures.MonkeyPatch('climate.booking.leases.Leases.page', self.slow()))

    def slow(self) -> Any:
        real = Leases.page

        def page(leases: Leases, query: Any) -> Any:
            if query.project_id == 'blue':
                self.inside.append(query.project_id)
                self.ends.wait(60)
            return real(leases, query)

        return page

    def get(self, token: str = http.MEMBER, path: str = '/v1/leases', **facts: Any) -> Any:
        return http.send(self.app, 'GET', path, token=token, version='1.5', **facts)

    def occupy(self) -> list[futures.Future[webob.Response]]:
        """Use all threads of a project."""
        found = [self.pool.submit(self.get) for _ in range(2)]
        until('they are in progress', lambda: len(self.inside) == 2)
        return found


class TestProjects(SharesCase):
    """A project whose requests take long."""

    def test_only_the_busy_project_is_refused(self) -> None:
        running = self.occupy()
        with plans.captured(self.service.store.engine) as statements:
            answer = self.get()
        self.assertEqual(
            (429, 'TOO_MANY_AT_ONCE', '1'),
            (answer.status_int, answer.json['error_name'], answer.headers['Retry-After']),
        )
        self.assertEqual([], list(statements))
        self.assertEqual(200, self.get(GREEN).status_int)
        self.assertEqual(404, self.get(path='/feeds/nothing.ics').status_int)
        self.assertEqual(200, self.get(path='/healthcheck').status_int)
        self.ends.set()
        self.assertEqual([200, 200], [each.result(60).status_int for each in running])
        self.assertEqual(200, self.get().status_int)

    def test_operators_and_services_of_the_project(self) -> None:
        self.occupy()
        for token in (ADMIN.replace('red', 'blue'), SERVICE.replace('red', 'blue')):
            self.assertNotEqual(429, self.get(token, '/v1/resource-types').status_int)

    def test_a_change_that_is_refused_is_audited(self) -> None:
        audited: list[dict[str, Any]] = []
        self.service.audit = audited.append
        self.app = self.service.made()
        self.occupy()
        for _ in range(2):
            http.expect(429, http.send(self.app, 'POST', '/v1/leases', LEASE, token=http.MEMBER))
        (event,) = audited
        self.assertEqual('429', event['reason']['reasonCode'])
        initiator = event['initiator']
        self.assertEqual(('alice', 'blue'), (initiator['id'], initiator['project_id']))

    def test_no_body_is_read(self) -> None:
        self.occupy()

        class Untouched:
            def read(self, *_: Any) -> bytes:
                raise AssertionError('the body was read')

        request = webob.Request.blank('/v1/leases', method='POST')
        request.headers['X-Auth-Token'] = http.MEMBER
        request.environ['wsgi.input'] = Untouched()
        request.environ['CONTENT_LENGTH'] = '1000'
        self.assertEqual(429, request.get_response(self.app).status_int)

    def test_a_line_for_each_project_and_minute(self) -> None:
        self.occupy()
        with self.assertLogs('climate.api.limits.refused_projects') as logged:
            for _ in range(3):
                self.get()
            self.service.clock.advance(61)
            self.get()
            self.get()
        self.assertEqual(2, len(logged.output))
        self.assertIn('Project blue: 1 requests were refused', logged.output[0])
        self.assertIn('Project blue: 3 requests were refused', logged.output[1])


class TestWaiting(SharesCase):
    """Requests that wait for a lease."""

    def test_they_do_not_count(self) -> None:
        self.service.conf.set_override('max_waiting_requests', 4, group='api')
        self.app = self.service.made()
        asked: list[str] = []
        real = Leases.status

        def status(leases: Leases, lease_id: str) -> Any:
            asked.append(lease_id)
            self.ends.wait(60)
            return real(leases, lease_id)

        self.useFixture(fixtures.MonkeyPatch('climate.booking.leases.Leases.status', status))
        waiting = []
        for number in range(2):
            facts = {'token': http.MEMBER, 'version': '1.5', 'headers': {'Prefer': 'wait=1'}}
            what = ('POST', '/v1/leases', {**LEASE, 'name': str(number)})
            waiting.append(self.pool.submit(http.send, self.app, *what, **facts))
        until('they wait', lambda: len(set(asked)) == 2, 60)
        # Their project can still use all of its threads.
        self.occupy()
        self.assertEqual(429, self.get().status_int)
        self.ends.set()
        self.assertEqual([201, 201], [each.result(60).status_int for each in waiting])
