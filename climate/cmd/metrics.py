# SPDX-License-Identifier: Apache-2.0

"""Exposes the metrics of a process over HTTP, if they are enabled."""

from __future__ import annotations

import functools
import importlib
import logging
import pathlib
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any
from typing import Final
from typing import TYPE_CHECKING

from oslo_config import cfg

from climate import exceptions
from climate.api.http.wsgi import Environ
from climate.api.http.wsgi import StartResponse
from climate.api.http.wsgi import WSGIApp
from climate.api.middleware import health
from climate.api.middleware.middleware import PathSwitch
from climate.cmd import serving
from climate.db.reports.figures import Figures
from climate.db.transactions.store import Store
from climate.metrics import catalogue
from climate.metrics import recording
from climate.metrics.catalogue import Exporter
from climate.metrics.reading import CachedReadings
from climate.metrics.reading import Reading
from climate.threads import RepeatingThread

if TYPE_CHECKING:
    # Processes of the API have none.
    from climate.manager.service import Manager

LOG = logging.getLogger(__name__)

PATH: Final = '/metrics'
HEALTHZ: Final = '/healthz'

# How long to wait for the port, in seconds: another process of the service may stop.
_PAUSE: Final = 2.0
# A scrape and a health check at once, and one more of each that is slow.
_THREADS: Final = 4
_CONNECTIONS: Final = 100


class MetricsEndpoint:
    """Listens for Prometheus in a thread.

    If another process has the port, it waits until that one stops: one process at a time
    exposes the metrics of all that share a directory.

    :param recorder: a :class:`climate.metrics.exposition.PrometheusRecorder`
    """

    def __init__(self, conf: cfg.ConfigOpts, port: int, recorder: Any, *, alone: bool) -> None:
        self._conf = conf
        self._port = port
        self._recorder = recorder
        self._alone = alone
        self._waits = False
        self._app: WSGIApp = PathSwitch(PATH, recorder.app(), _no_page)
        self._thread = RepeatingThread(
            'metrics', self._serve, failure='Metrics cannot be exposed', retry=_PAUSE
        )

    def serve_manager(self, store: Store, manager: Manager) -> None:
        """Expose what only a manager knows, and the health of the process."""
        seconds = self._conf.metrics.cache_seconds
        figures = CachedReadings(functools.partial(database_readings, store), seconds)
        planned = CachedReadings(manager.planned_yields, seconds)
        clock = functools.partial(_of_clock, manager)
        self._recorder.read([manager.readings, clock, figures, planned])
        checks = {'database': store.ping, 'clock': manager.clocks.check, 'loop': manager.check}
        answers = health.Health(self._conf, checks)
        self._app = PathSwitch(health.PATH, answers, self._app)
        self._app = PathSwitch(HEALTHZ, _Probe(answers), self._app)

    def app(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request for the metrics that arrived at another port."""
        return self._app(environ, start_response)

    def start(self) -> None:
        """Start listening; does not block."""
        self._thread.start()

    def _serve(self) -> float:
        host = self._conf.metrics.host
        try:
            server = serving.HttpServer(
                self._app,
                host=host,
                port=self._port,
                threads=_THREADS,
                largest_body=0,
                connections=_CONNECTIONS,
            )
        except OSError as error:
            if not self._waits and self._alone:
                LOG.warning(
                    'Metrics cannot be exposed on %s port %d yet: %s', host, self._port, error
                )
            self._waits = True
            return _PAUSE
        LOG.info('Metrics are exposed on %s port %d', host, self._port)
        server.run()
        return _PAUSE


class _Probe:
    """Answers probes without parameters, such as those of Kubernetes, by all checks."""

    def __init__(self, answers: WSGIApp) -> None:
        self._answers = answers

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Pass the request on."""
        checks = environ.get('QUERY_STRING') or 'checks=all'
        return self._answers({**environ, 'QUERY_STRING': checks}, start_response)


def endpoint(conf: cfg.ConfigOpts, exporter: Exporter) -> MetricsEndpoint | None:
    """Begin to record; return what exposes the metrics, or None if they are disabled.

    Call it before anything that is recorded is set up, and after a WSGI server has forked.

    :param exporter: the kind of this process
    :raises climate.exceptions.ConfigurationError: if the directory cannot be used
    """
    options = conf.metrics
    if not options.enabled:
        return None
    shares = exporter is Exporter.API and options.directory
    folder = pathlib.Path(options.directory) if shares else None
    # Loaded only here: it takes as long as several other libraries.
    exposition: Any = importlib.import_module('climate.metrics.exposition')
    try:
        recorder = exposition.PrometheusRecorder(exporter, folder)
    except OSError as error:
        raise exceptions.ConfigurationError(f'[metrics] directory: {error}') from None
    recording.use(recorder)
    database = conf.database
    recording.assign(
        catalogue.MOST_CONNECTIONS, database.max_pool_size + max(database.max_overflow or 0, 0)
    )
    port = options.manager_port if exporter is Exporter.MANAGER else options.api_port
    return MetricsEndpoint(conf, port, recorder, alone=folder is None)


def _no_page(_environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
    start_response('404 Not Found', [('Content-Type', 'text/plain')])
    return [b'See /metrics\n']


def _of_clock(manager: Manager) -> Iterator[Reading]:
    seconds = manager.clocks.offset().total_seconds()
    yield Reading(metric=catalogue.CLOCK, value=seconds)


def database_readings(store: Store) -> Iterator[Reading]:
    """Yield the figures of the database; without it, only that it does not answer."""
    try:
        readings = list(_figures(store))
    except exceptions.DatabaseUnavailable:
        yield Reading(metric=catalogue.DATABASE_UP, value=0)
        return
    yield Reading(metric=catalogue.DATABASE_UP, value=1)
    yield from readings


def _figures(store: Store) -> Iterator[Reading]:
    with store.reading() as tx:
        figures = Figures(tx.session, tx.now)
        for status, number in figures.leases().items():
            yield Reading(metric=catalogue.LEASES, value=number, labels=(status,))
        overdue, outbox, charges = figures.overdue(), figures.outbox(), figures.charges()
        yield Reading(metric=catalogue.OVERDUE, value=overdue.number)
        yield Reading(metric=catalogue.LAG, value=overdue.seconds)
        yield Reading(metric=catalogue.WAITING, value=figures.waiting().seconds)
        yield Reading(metric=catalogue.OUTBOX, value=outbox.number, labels=('waiting',))
        yield Reading(metric=catalogue.OUTBOX, value=outbox.set_aside, labels=('set_aside',))
        yield Reading(metric=catalogue.OUTBOX_LAG, value=outbox.seconds)
        yield from _of_webhooks(figures)
        yield Reading(metric=catalogue.CHARGES, value=charges.number)
        yield Reading(metric=catalogue.CHARGES_LAG, value=charges.seconds)
        yield from _of_resources(figures)


def _of_webhooks(figures: Figures) -> Iterator[Reading]:
    backlog = figures.webhooks()
    yield Reading(metric=catalogue.WEBHOOK_EVENTS, value=backlog.number, labels=('waiting',))
    yield Reading(metric=catalogue.WEBHOOK_EVENTS, value=backlog.set_aside, labels=('dead',))
    yield Reading(metric=catalogue.WEBHOOK_LAG, value=backlog.seconds)


def _of_resources(figures: Figures) -> Iterator[Reading]:
    types = set()
    for resource_type, state, number in figures.resources():
        types.add(resource_type)
        labels = (resource_type, state)
        yield Reading(metric=catalogue.RESOURCES, value=number, labels=labels)
    reserved, degraded = figures.reserved(), figures.degraded()
    for name in sorted(types):
        yield Reading(metric=catalogue.DEGRADED, value=degraded.get(name, 0), labels=(name,))
        yield Reading(metric=catalogue.RESERVED, value=reserved.get(name, 0), labels=(name,))
    allocated = {(one.resource_type, one.resource_class): one for one in figures.allocated()}
    for each in figures.capacity():
        key = (each.resource_type, each.resource_class)
        used = allocated[key].amount if key in allocated else 0
        yield Reading(metric=catalogue.CAPACITY, value=each.amount, labels=key)
        yield Reading(metric=catalogue.ALLOCATED, value=used, labels=key)
