# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on *conf*."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts() -> dict[str, list[cfg.Opt]]:
    """Return the options by group."""
    return {GROUP: OPTS}
