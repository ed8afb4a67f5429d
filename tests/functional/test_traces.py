# SPDX-License-Identifier: Apache-2.0

"""One trace leads from a request to the calls of the cloud that follow from it."""

from __future__ import annotations

import types
from typing import Any

import webob
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from climate.cmd import config
from climate.cmd import tracing
from climate.enforcement.filters import Filters
from climate.testing.deployment import Bus
from climate.testing.deployment import SETTINGS
from climate.testing.managers import SteppedManager
from climate.tracing import spans
from climate.tracing.recorder import SpanRecorder
from tests import base
from tests.functional import bodies
from tests.functional import http
from tests.functional.fixtures import Service

TRACE = '0af7651916cd43dd8448eb211c80319c'
CLIENT = f'00-{TRACE}-b7ad6b7169203331-01'
GLOBAL = 'req-00000000-1111-4222-8333-444444444444'
TOKEN = 'alice:blue:member'


class TraceCase(base.TestCase):
    """An API and a manager, which record spans."""

    def setUp(self) -> None:
        super().setUp()
        self.exporter = InMemorySpanExporter()
        recorder = SpanRecorder(SimpleSpanProcessor(self.exporter), 'climate-test')
        self.addCleanup(recorder.close)
        spans.use(recorder)
        self.addCleanup(spans.use, None)
        self.service = self.useFixture(Service())
        self.bus = Bus()
        facts: Any = types.SimpleNamespace(
            store=self.service.store,
            clock=self.service.clock,
            plugins=self.service.plugins,
            managed=self.service.cloud,
            settings=SETTINGS,
            filters=Filters(),
            bus=self.bus,
        )
        self.manager = SteppedManager(facts, 'manager', 100)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> webob.Response:
        """Send a request of a user."""
        request = webob.Request.blank(path, method=method)
        request.headers['X-Auth-Token'] = TOKEN
        request.headers['OpenStack-API-Version'] = 'reservation 1.3'
        request.headers.update({name.replace('_', '-'): text for name, text in headers.items()})
        if body is not None:
            request.json = body
        return request.get_response(self.service.app)

    def book(self, **headers: str) -> dict[str, Any]:
        """Book a host from now on, and have the manager start the lease."""
        body = bodies.lease('hunter2', 'now', '2030-01-02 12:00', bodies.hosts())
        answer = http.expect(201, self.ask('POST', '/v1/leases', body, **headers))
        self.work()
        return dict(answer.json['lease'])

    def work(self) -> None:
        """Do everything that is due."""
        while self.manager.look():
            continue
        self.manager.send()

    def found(self) -> list[ReadableSpan]:
        """Return all spans that have ended, the first to begin first."""
        return sorted(self.exporter.get_finished_spans(), key=lambda span: span.start_time or 0)


class TestTraces(TraceCase):
    """Spans across the API, the database, a manager and the cloud."""

    def test_from_a_request_to_nova(self) -> None:
        lease = self.book(traceparent=CLIENT, X_Openstack_Request_Id=GLOBAL)
        found = self.found()
        names = [span.name for span in found]
        for name in (
            'POST /v1/leases',
            'start_lease',
            'physical:host start',
            'compute.add_host',
            'publish lease.create',
            'publish lease.event.start_lease',
        ):
            self.assertIn(name, names)
        self.assertEqual({TRACE}, {format(span.context.trace_id, '032x') for span in found})
        parents = {span.context.span_id: span.name for span in found}
        by_name = {span.name: span for span in found}

        def parent(name: str) -> str | None:
            above = by_name[name].parent
            return parents.get(above.span_id) if above is not None else None

        self.assertIsNone(parent('POST /v1/leases'))
        self.assertEqual('POST /v1/leases', parent('start_lease'))
        self.assertEqual('start_lease', parent('physical:host start'))
        self.assertEqual('physical:host start', parent('compute.add_host'))
        self.assertEqual('POST /v1/leases', parent('publish lease.create'))
        attributes = dict(by_name['start_lease'].attributes or {})
        self.assertEqual(lease['id'], attributes['climate.lease_id'])
        self.assertEqual(GLOBAL, attributes['openstack.global_request_id'])
        message = self.bus.taken[-1]
        self.assertEqual(GLOBAL, message.context['global_request_id'])
        self.assertIn(TRACE, message.context['traceparent'])
        self.assertNotIn('_origin', message.payload)

    def test_no_secrets(self) -> None:
        self.book()
        text = ' '.join(span.to_json() for span in self.found())
        for secret in ('hunter2', TOKEN, 'alice'):
            self.assertNotIn(secret, text)

    def test_failures(self) -> None:
        self.service.cloud.fail('compute.add_host', times=1)
        self.book()
        failed = {span.name for span in self.found() if span.status.status_code.name == 'ERROR'}
        self.assertLessEqual({'start_lease', 'compute.add_host'}, failed)
        self.assertNotIn('POST /v1/leases', failed)

    def test_a_change_has_a_trace_of_its_own(self) -> None:
        lease = self.book(traceparent=CLIENT)
        self.exporter.clear()
        self.ask('DELETE', f'/v1/leases/{lease["id"]}')
        self.work()
        found = {span.name: span for span in self.found()}
        actual = found['delete_lease'].context.trace_id
        self.assertEqual(found['DELETE /v1/leases/{id}'].context.trace_id, actual)
        self.assertNotEqual(int(TRACE, 16), found['delete_lease'].context.trace_id)


class TestOff(base.TestCase):
    """Without a tracer, nothing is recorded, and nothing wrapped."""

    def test_nothing(self) -> None:
        self.assertFalse(spans.enabled())
        self.assertIs(spans.span('a'), spans.span('b'))
        self.assertIsNone(spans.traceparent())
        self.assertIs(len, spans.traced('len', len))
        with spans.span('a') as span:
            span.note({'x': 1})
            span.fail('no')

    def test_options(self) -> None:
        conf = config.new_conf()
        conf([], project='climate')
        tracing.set_up(conf, 'x')
        self.assertFalse(spans.enabled())
        conf.set_override('enabled', True, group='tracing')
        self.addCleanup(spans.use, None)
        tracing.set_up(conf, 'x')
        self.assertTrue(spans.enabled())
