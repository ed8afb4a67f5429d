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


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on *conf*."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts() -> dict[str, list[cfg.Opt]]:
    """Return the options by group."""
    return {GROUP: OPTS}
