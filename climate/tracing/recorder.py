# SPDX-License-Identifier: Apache-2.0

"""Records spans with OpenTelemetry. Imported only while tracing is on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased
from opentelemetry.sdk.trace.sampling import TraceIdRatioBased
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from climate.tracing.spans import Attributes
from climate.tracing.spans import SpanKind

_HEADER = 'traceparent'


class RecordedSpan:
    """Implements :class:`climate.tracing.spans.Span`."""

    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def note(self, attributes: Attributes) -> None:
        """Add attributes; those that are None are left out."""
        self._span.set_attributes(_known(attributes))

    def fail(self, why: str) -> None:
        """Mark the span as failed."""
        self._span.set_status(trace.Status(trace.StatusCode.ERROR, why))


class SpanRecorder:
    """Implements :class:`climate.tracing.spans.Tracer`.

    :param processor: receives spans that have ended
    :param service: the name of the process
    :param ratio: the share of new traces that is recorded; a trace that another service
        has begun is recorded if that service records it
    """

    def __init__(self, processor: SpanProcessor, service: str, ratio: float = 1.0) -> None:
        self._provider = TracerProvider(
            resource=Resource.create({'service.name': service}),
            sampler=ParentBased(TraceIdRatioBased(ratio)),
        )
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer('climate')
        self._format = TraceContextTextMapPropagator()

    @contextlib.contextmanager
    def span(
        self, name: str, kind: SpanKind, parent: str | None, attributes: Attributes
    ) -> Iterator[RecordedSpan]:
        """Yield a span, which ends when the block does."""
        before = self._context(parent)
        started = self._tracer.start_span(
            name, before, kind=trace.SpanKind[kind.value], attributes=_known(attributes)
        )
        recorded = RecordedSpan(started)
        token = otel_context.attach(trace.set_span_in_context(started, before))
        try:
            yield recorded
        except BaseException as error:
            # Not its text, which may quote what a user sent.
            recorded.fail(type(error).__name__)
            raise
        finally:
            otel_context.detach(token)
            started.end()

    def traceparent(self) -> str | None:
        """Return the span that the thread is in, as W3C ``traceparent``."""
        carrier: dict[str, str] = {}
        self._format.inject(carrier)
        return carrier.get(_HEADER)

    def close(self) -> None:
        """Send what is left, and stop."""
        self._provider.shutdown()

    def _context(self, parent: str | None) -> Any:
        if parent is None:
            return otel_context.get_current()
        return self._format.extract({_HEADER: parent})


def exporting(service: str, endpoint: str, ratio: float) -> SpanRecorder:
    """Return a recorder that sends spans over OTLP, in a thread of its own.

    Spans are dropped if the collector does not take them: traces never delay work.

    :param endpoint: the URL of the collector for traces
    """
    return SpanRecorder(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)), service, ratio)


def _known(attributes: Attributes) -> Mapping[str, str | int | float]:
    return {name: value for name, value in attributes.items() if value is not None}
