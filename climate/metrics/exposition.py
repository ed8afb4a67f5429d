# SPDX-License-Identifier: Apache-2.0

"""Keeps metrics in the objects of ``prometheus_client``, and writes them for Prometheus."""

from __future__ import annotations

import functools
import logging
import os
import pathlib
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Any
from typing import Final

import prometheus_client
from prometheus_client import multiprocess
from prometheus_client import registry
from prometheus_client import values
from prometheus_client.metrics_core import GaugeMetricFamily

from climate.metrics import catalogue
from climate.metrics import slots
from climate.metrics.catalogue import Exporter
from climate.metrics.catalogue import MetricSpec
from climate.metrics.catalogue import MetricType
from climate.metrics.reading import attempted
from climate.metrics.reading import Read

LOG = logging.getLogger(__name__)

# Instants at which counters were made, a series for each; no query of Climate uses them.
prometheus_client.disable_created_metrics()

_DIRECTORY: Final = 'PROMETHEUS_MULTIPROC_DIR'
_RECORDED: Final = {
    MetricType.COUNTER: prometheus_client.Counter,
    MetricType.HISTOGRAM: prometheus_client.Histogram,
    MetricType.GAUGE: prometheus_client.Gauge,
}
_OTHERS: Final = {Exporter.API: Exporter.MANAGER, Exporter.MANAGER: Exporter.API}


class PrometheusRecorder:
    """Records the metrics of one kind of process.

    :param exporter: the kind of this process; ``BOTH`` for a process that is both
    :param folder: the directory that the processes of a service share; None if this
        process exposes its metrics alone
    :raises OSError: if the directory cannot be used
    """

    def __init__(self, exporter: Exporter, folder: pathlib.Path | None = None) -> None:
        self._folder = folder
        self.registry = prometheus_client.CollectorRegistry()
        if folder is not None:
            _share(folder)
        # The collector of all processes has the values of this one, too.
        own = self.registry if folder is None else None
        self._metrics: dict[str, Any] = {
            metric.name: _made(metric, own)
            for metric in catalogue.ALL
            if not metric.read and metric.exporter is not _OTHERS.get(exporter)
        }
        if folder is not None:
            multiprocess.MultiProcessCollector(self.registry, str(folder))

    def count(self, metric: MetricSpec, labels: Sequence[str], number: float) -> None:
        """Add to a counter."""
        self._change(metric, labels, 'inc', number)

    def observe(self, metric: MetricSpec, labels: Sequence[str], value: float) -> None:
        """Add a value to a histogram."""
        self._change(metric, labels, 'observe', value)

    def set(self, metric: MetricSpec, labels: Sequence[str], value: float) -> None:
        """Set a gauge."""
        self._change(metric, labels, 'set', value)

    def _change(self, metric: MetricSpec, labels: Sequence[str], verb: str, value: float) -> None:
        known = self._metrics.get(metric.name)
        if known is None:
            # Only the other kind of process exposes it.
            return
        try:
            getattr(known.labels(*labels) if metric.labels else known, verb)(value)
        except Exception:
            # A full disk must not fail the request that is counted.
            LOG.exception('The metric %s cannot be recorded', metric.name)

    def read(self, reads: Iterable[Read]) -> None:
        """Expose what *reads* return, too."""
        self.registry.register(_Readings(reads))

    def app(self) -> Callable[..., Iterable[bytes]]:
        """Return a WSGI application that writes all metrics, whatever the path."""
        written = prometheus_client.make_wsgi_app(self.registry)
        folder = self._folder
        if folder is None:
            return written

        def cleaned(environ: Any, start_response: Any) -> Iterable[bytes]:
            slots.forget_dead(folder)
            answer: Iterable[bytes] = written(environ, start_response)
            return answer

        return cleaned


def _share(folder: pathlib.Path) -> None:
    """Have the metrics that are made from now on use files of a directory."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.environ[_DIRECTORY] = str(folder)
    # The way to name processes that prometheus_client documents.
    values.ValueClass = _shared_value(folder)


@functools.cache
def _shared_value(folder: pathlib.Path) -> Any:
    # Once for each directory: an application that could not be built is built again at the
    # next request, and must not take another slot.
    return values.MultiProcessValue(slots.SlotTaker(folder).number)


def _made(metric: MetricSpec, own: registry.CollectorRegistry | None) -> Any:
    options: dict[str, Any] = {'labelnames': metric.labels, 'registry': own}
    if metric.type is MetricType.HISTOGRAM:
        options['buckets'] = metric.buckets
    if metric.type is MetricType.GAUGE:
        options['multiprocess_mode'] = 'livesum'
    return _RECORDED[metric.type](metric.name, metric.text, **options)


class _Readings(registry.Collector):
    """Reads values at each scrape."""

    def __init__(self, reads: Iterable[Read]) -> None:
        self._reads = tuple(reads)

    def describe(self) -> Iterable[Any]:
        """Return nothing, so that nothing is read when the collector is registered."""
        return ()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the metrics, each with all of its values."""
        families: dict[str, GaugeMetricFamily] = {}
        for read in self._reads:
            for each in attempted(read):
                metric = each.metric
                if metric.name not in families:
                    families[metric.name] = GaugeMetricFamily(
                        metric.name, metric.text, labels=metric.labels
                    )
                families[metric.name].add_metric(each.labels, each.value)
        yield from families.values()
