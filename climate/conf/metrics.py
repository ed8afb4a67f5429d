# SPDX-License-Identifier: Apache-2.0

"""Options of metrics."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'metrics'

OPTS: list[cfg.Opt] = [
    cfg.BoolOpt(
        'enabled',
        default=False,
        help='Whether the API and managers expose metrics for Prometheus, at /metrics of their '
        'own addresses.',
    ),
    cfg.HostAddressOpt(
        'host',
        default='127.0.0.1',
        help='Address to listen on. Callers are not authenticated: choose one that only '
        'Prometheus reaches.',
    ),
    cfg.PortOpt(
        'api_port',
        default=9791,
        help='Port of the metrics of the API. Of several processes that share it, one listens '
        'for all of them, see "directory".',
    ),
    cfg.PortOpt(
        'manager_port',
        default=9792,
        help='Port of the metrics of a manager, and of its /healthcheck. Several managers on one '
        'machine need different ports.',
    ),
    cfg.StrOpt(
        'directory',
        help='Directory in which the API processes of one machine keep their counters, so that '
        'one of them can expose the metrics of all. Required if a WSGI server starts several '
        'processes; best below /run, for the same user only. Managers do not use it.',
    ),
    cfg.FloatOpt(
        'cache_seconds',
        default=15.0,
        min=1.0,
        max=3600.0,
        help='How long the results of the queries of a manager are exposed before it asks the '
        'database again, in seconds. A query that takes long is repeated after twenty times its '
        'duration at the earliest.',
    ),
]
