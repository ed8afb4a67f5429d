# SPDX-License-Identifier: Apache-2.0

"""Calls of the cloud carry the ids of the request that they go back to."""

from __future__ import annotations

import types
from typing import Any

import requests
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from climate.cloud import sending
from climate.context import WorkContext
from climate.context import Working
from climate.domain.origins import RequestOrigin
from climate.tracing import spans
from climate.tracing.recorder import SpanRecorder
from tests import base

ID = 'X-OpenStack-Request-ID'


class TestSentIds(base.TestCase):
    """The headers of requests, as the adapter of a session sends them."""

    def setUp(self) -> None:
        super().setUp()
        self.sent: list[Any] = []
        session: Any = requests.Session()
        real = types.SimpleNamespace(send=lambda request, **_: self.sent.append(request))
        session.adapters.clear()
        session.adapters['https://'] = real
        sending.fence(types.SimpleNamespace(session=session))
        self.adapter = session.adapters['https://']

    def send(self, **headers: str) -> Any:
        """Send a request, and return its headers as they were sent."""
        request = requests.Request('POST', 'https://nova/servers', headers=headers).prepare()
        self.adapter.send(request)
        return self.sent[-1].headers

    def test_without_work(self) -> None:
        self.assertNotIn(ID, self.send())
        with Working(WorkContext('lease')):
            self.assertNotIn(ID, self.send())

    def test_ids(self) -> None:
        for origin, sent in (
            (RequestOrigin(request_id='req-1'), 'req-1'),
            (RequestOrigin(request_id='req-1', global_request_id='req-2'), 'req-2'),
        ):
            with Working(WorkContext('lease', origin=origin)):
                self.assertEqual(sent, self.send()[ID])
                # Libraries may have set it.
                self.assertEqual('req-3', self.send(**{ID: 'req-3'})[ID])

    def test_spans(self) -> None:
        self.assertNotIn('traceparent', self.send())
        recorder = self.closing(SpanRecorder(SimpleSpanProcessor(InMemorySpanExporter()), 'test'))
        self.addCleanup(spans.use, None)
        spans.use(recorder)
        with spans.span('compute.add_host'):
            sent = self.send()['traceparent']
            self.assertEqual(spans.traceparent(), sent)
