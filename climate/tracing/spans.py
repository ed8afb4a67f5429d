# SPDX-License-Identifier: Apache-2.0

"""Records spans, for all threads of the process; without a tracer, nothing.

Spans belong to the process, as metrics and logs do, so callers need no object. While
tracing is off, a span is one comparison and one shared object that does nothing.
Attributes are ids, kinds and numbers, never arguments of calls: these may hold secrets.
"""

from __future__ import annotations

import contextlib
import enum
import functools
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any
from typing import Final
from typing import Protocol

Attributes = Mapping[str, str | int | float | None]

TRACEPARENT: Final = 'climate.traceparent'
"""Where a request keeps the context of its span."""


class SpanKind(enum.Enum):
    """The part that a process has in an exchange, in the terms of OpenTelemetry."""

    INTERNAL = 'INTERNAL'
    SERVER = 'SERVER'
    CLIENT = 'CLIENT'
    PRODUCER = 'PRODUCER'
    CONSUMER = 'CONSUMER'


class Span(Protocol):
    """A span under way."""

    def note(self, attributes: Attributes) -> None:
        """Add attributes; those that are None are left out."""

    def fail(self, why: str) -> None:
        """Mark the span as failed."""


class Tracer(Protocol):
    """Records spans. Thread-safe, and never raises."""

    def span(
        self, name: str, kind: SpanKind, parent: str | None, attributes: Attributes
    ) -> contextlib.AbstractContextManager[Span]:
        """Return a span that lasts as long as the context manager.

        :param parent: W3C ``traceparent``; None for the span that the thread is in
        """

    def traceparent(self) -> str | None:
        """Return the span that the thread is in, as W3C ``traceparent``."""


class NoSpan(contextlib.nullcontext['NoSpan']):
    """A span that nothing records."""

    def __enter__(self) -> NoSpan:
        """Return itself."""
        return self

    def note(self, attributes: Attributes) -> None:
        """Do nothing."""

    def fail(self, why: str) -> None:
        """Do nothing."""


_NO_SPAN: Final = NoSpan()
_tracer: Tracer | None = None


def use(tracer: Tracer | None) -> None:
    """Replace the tracer of the process; None records nothing."""
    global _tracer  # noqa: PLW0603 - traces belong to the process, as logs do
    _tracer = tracer


def enabled() -> bool:
    """Whether anything is recorded."""
    return _tracer is not None


def span(
    name: str,
    kind: SpanKind = SpanKind.INTERNAL,
    parent: str | None = None,
    attributes: Attributes | None = None,
) -> contextlib.AbstractContextManager[Span]:
    """Return a span that lasts as long as the context manager.

    An exception that leaves it marks it as failed.

    :param name: of the operation, without ids
    :param parent: W3C ``traceparent``; None for the span that the thread is in
    """
    if _tracer is None:
        return _NO_SPAN
    return _tracer.span(name, kind, parent, attributes or {})


def traceparent() -> str | None:
    """Return the span that the thread is in, as W3C ``traceparent``; None for none."""
    return None if _tracer is None else _tracer.traceparent()


def traced(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """Return *call* within a span of a client; *call* itself while tracing is off."""
    return call if _tracer is None else functools.partial(_traced, name, call)


def _traced(name: str, call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    with span(name, SpanKind.CLIENT):
        return call(*arguments, **named)
