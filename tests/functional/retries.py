# SPDX-License-Identifier: Apache-2.0

"""Sends requests with an idempotency key."""

from __future__ import annotations

from typing import Any

import fixtures
import webob

from climate.enforcement.idempotency_keys import KeyedAnswers
from climate.enforcement.limits import Limits
from climate.enforcement.limits import ProjectLimits
from tests import services
from tests.functional import bodies
from tests.functional import http
from tests.functional.fixtures import Service

LEASE = bodies.lease('tuesday', '2031-05-01T12:00:00Z', '2031-05-02T12:00:00Z', bodies.hosts())
MAINTENANCE = bodies.maintenance('compute-1', '2031-05-01T12:00:00Z', '2031-05-02T12:00:00Z')
DAY = 24 * 3600


class RetryCase:
    """A service on each engine."""

    kind = services.SQLITE

    def setUp(self) -> None:
        super().setUp()
        limits = ProjectLimits(usual=Limits(idempotency_keys=3))
        self.service = self.useFixture(Service(database=self.kind, limits=limits))

    def post(
        self, path: str, body: Any, key: str | None = 'k', *, version: str = '1.4', **facts: Any
    ) -> webob.Response:
        """Send a POST with a key."""
        headers = {} if key is None else {'Idempotency-Key': key}
        facts = {'token': http.MEMBER, **facts}
        return http.send(
            self.service.app, 'POST', f'/v1{path}', body, version=version, headers=headers, **facts
        )

    def booked(self, key: str | None = 'k', **facts: Any) -> webob.Response:
        """Book a lease with a key."""
        return http.expect(201, self.post('/leases', LEASE, key, **facts))

    def assert_replayed(self, first: webob.Response, again: webob.Response) -> None:
        """Check that an answer is the stored one."""
        self.assertEqual('true', again.headers.get('Idempotency-Replayed'), again.text)
        self.assertNotIn('Idempotency-Replayed', first.headers)
        self.assertEqual((first.status, first.body), (again.status, again.body))
        for name in ('Content-Type', 'Content-Location', 'ETag', 'OpenStack-API-Version', 'Vary'):
            self.assertEqual(first.headers.get(name), again.headers.get(name), name)

    def refused(self, answer: webob.Response, status: int, name: str) -> None:
        """Check that an answer is an error, and not a stored one."""
        self.assertEqual((status, name), (answer.status_int, answer.json['error_name']))
        self.assertNotIn('Idempotency-Replayed', answer.headers)

    def leases(self) -> list[str]:
        answer = http.send(self.service.app, 'GET', '/v1/leases?limit=5', version='1.1')
        return [lease['id'] for lease in answer.json['leases']]

    def dead(self) -> fixtures.MonkeyPatch:
        """Return a fixture with which requests die after their work is done."""
        name = 'climate.enforcement.idempotency_keys.KeyedAnswers.end'
        return fixtures.MonkeyPatch(name, _do_nothing)


def _do_nothing(self: KeyedAnswers, *_: Any) -> None:
    """Store nothing."""
