# SPDX-License-Identifier: Apache-2.0

"""Measures what traces cost a manager, on and off, in processor time.

``python -m tools.tracing_cost`` books leases on SQLite, has a manager start them in batches
in the simulated cloud, and prints the processor time of a start without a tracer, the share
of it that the calls for traces and log fields take then, and the ratio with a tracer.
"""

from __future__ import annotations

import contextlib
import gc
import statistics
import time
import timeit
from collections.abc import Callable
from typing import Any
from typing import Final

from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from climate import context
from climate.context import WorkContext
from climate.context import Working
from climate.testing.deployment import Deployment
from climate.tracing import spans
from climate.tracing.recorder import SpanRecorder

_LEASES: Final = 60
_ROUNDS: Final = 7
_CALLS: Final = 200_000


def start(recorded: bool) -> float:
    """Return the processor time of the start of a lease, in seconds."""
    with Deployment(hosts=_LEASES) as site:
        for _ in range(_LEASES):
            site.create(0, 3600)
        recorder = SpanRecorder(BatchSpanProcessor(InMemorySpanExporter()), 'cost')
        spans.use(recorder if recorded else None)
        gc.collect()
        begun = time.process_time()
        while site.manager.look(limit=_LEASES):
            continue
        took = time.process_time() - begun
        spans.use(None)
        recorder.close()
        assert {site.status(lease) for lease in _leases(site)} == {'ACTIVE'}
    return took / _LEASES


def _leases(site: Deployment) -> Any:
    with site.store.reading() as tx:
        return [tx.leases.get(line.id) for line in tx.operator_lists.lines(limit=_LEASES)]


def calls() -> dict[str, float]:
    """Return how often a start makes each call for traces and log fields."""
    counts = {'span': 0, 'traced': 0, 'working': 0}
    with contextlib.ExitStack() as stack:
        _count(stack, counts, 'span', spans, 'span')
        _count(stack, counts, 'traced', spans, 'traced')
        _count(stack, counts, 'working', Working, '__enter__')
        start(recorded=False)
    return {name: count / _LEASES for name, count in counts.items()}


def _count(
    stack: contextlib.ExitStack, counts: dict[str, int], name: str, place: Any, verb: str
) -> None:
    real: Callable[..., Any] = getattr(place, verb)

    def counted(*arguments: Any, **named: Any) -> Any:
        counts[name] += 1
        return real(*arguments, **named)

    setattr(place, verb, counted)
    stack.callback(setattr, place, verb, real)


def _work() -> None:
    with Working(WorkContext('lease', 'event', 'start_lease')):
        context.work()


def _span() -> None:
    with spans.span('start_lease'):
        return


def seconds() -> dict[str, float]:
    """Return the time of each call while there is no tracer."""
    found: dict[str, Callable[[], Any]] = {
        'span': _span,
        'traced': lambda: spans.traced('compute.add_host', _span),
        'working': _work,
    }
    return {name: min(timeit.repeat(call, number=_CALLS)) / _CALLS for name, call in found.items()}


def main() -> None:
    """Measure, and print."""
    start(recorded=False)
    rounds = [(start(recorded=False), start(recorded=True)) for _ in range(_ROUNDS)]
    off = statistics.median(before for before, _ in rounds)
    ratio = statistics.median(after / before for before, after in rounds)
    often, each = calls(), seconds()
    cost = sum(often[name] * each[name] for name in often)
    print(f'a start takes {off * 1000:.3f} ms of processor time without a tracer')
    for name in often:
        print(f'  {name}: {often[name]:.1f} calls of {each[name] * 1e6:.2f} us')
    print(f'  together {cost * 1e6:.1f} us, {100 * cost / off:.2f} % of the start')
    print(f'with a tracer, a start takes {ratio:.3f} times as long')


if __name__ == '__main__':
    main()
