# SPDX-License-Identifier: Apache-2.0

"""Options of traces."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'tracing'

OPTS: list[cfg.Opt] = [
    cfg.BoolOpt(
        'enabled',
        default=False,
        help='Whether the API and managers record traces with OpenTelemetry. Requires the '
        'libraries of openstack-climate[tracing].',
    ),
    cfg.URIOpt(
        'endpoint',
        default='http://127.0.0.1:4318/v1/traces',
        schemes=['http', 'https'],
        help='URL of the collector, which takes OTLP over HTTP. The environment variables of '
        'OpenTelemetry, such as OTEL_EXPORTER_OTLP_HEADERS, apply as well.',
    ),
    cfg.FloatOpt(
        'sample_ratio',
        default=1.0,
        min=0.0,
        max=1.0,
        help='Share of new traces that is recorded. A trace that a client has begun is recorded '
        'if the client records it.',
    ),
]
