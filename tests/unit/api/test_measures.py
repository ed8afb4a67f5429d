# SPDX-License-Identifier: Apache-2.0

"""Requests are measured by the template of their path."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import webob

from climate.api import errors
from climate.api.middleware.measures import MeasuredRequests
from climate.metrics import catalogue
from tests import base
from tests import metrics

PATHS = ('/', '/v1', '/v1/leases', '/v1/leases/{lease_id}', '/v1/leases/{lease_id}/history')


class MeasuresCase(base.TestCase):
    """An application behind the middleware."""

    def setUp(self) -> None:
        super().setUp()
        self.recorded = self.useFixture(metrics.RecordedMetrics())
        self.answer: Any = webob.Response('fine')
        self.app = MeasuredRequests(self.inner, PATHS)

    def inner(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if self.answer is None:
            environ[errors.NAME] = 'NOT_ENOUGH_RESOURCES'
            return webob.Response(status=409)(environ, start_response)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer(environ, start_response)

    def ask(self, path: str, method: str = 'GET') -> tuple[str, ...]:
        """Send a request; return the labels of what was recorded."""
        webob.Request.blank(path, method=method).get_response(self.app)
        return self.recorded.labels(catalogue.REQUESTS)[-1]


class TestRoutes(MeasuresCase):
    """Which template a path has."""

    def test_routes(self) -> None:
        for path, route in (
            ('/', '/'),
            ('/v1', '/v1'),
            ('/v1/', '/v1'),
            ('/v1/leases', '/v1/leases'),
            ('/v1/leases/4f5e', '/v1/leases/{id}'),
            ('/v1/leases/4f5e/history', '/v1/leases/{id}/history'),
            # Whatever it is, a route takes it for an id.
            ('/v1/leases/leases', '/v1/leases/{id}'),
        ):
            self.assertEqual(('GET', route, '200'), self.ask(path), path)

    def test_what_clients_invent_is_one_label(self) -> None:
        for path in ('/v2', '/v1/leases/a/b', '/history', '/v1/%E2%98%83'):
            self.assertEqual('other', self.ask(path)[1], path)
        self.assertEqual('other', self.ask('/v1', 'BREW')[0])


class TestOutcomes(MeasuresCase):
    """What is recorded of failures."""

    def test_refused(self) -> None:
        self.answer = None
        self.assertEqual('409', self.ask('/v1/leases', 'POST')[2])
        self.assertEqual([('NOT_ENOUGH_RESOURCES', 1)], self.recorded.of(catalogue.REFUSALS))

    def test_raised(self) -> None:
        self.answer = RuntimeError('a bug')
        self.assertRaises(RuntimeError, self.ask, '/v1')
        self.assertEqual([('GET', '/v1', '500')], self.recorded.labels(catalogue.REQUESTS))

    def test_duration(self) -> None:
        self.ask('/v1')
        (recorded,) = self.recorded.of(catalogue.REQUESTS)
        self.assertTrue(0 <= recorded[-1] < 5, recorded)
