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

"""Options of how many requests may come in a time."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'rate_limit'

OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'per_project',
        default='',
        help='How many requests may come with tokens of one project, such as "600/minute", or '
        '"50/second;600/minute" for both. No limit if empty. What is beyond is answered with '
        '429 and a Retry-After.',
    ),
    cfg.StrOpt(
        'per_address',
        default='',
        help='How many requests may come from one address, before a token is looked at; of IPv6 '
        'from one network of 64 bits. Written as per_project. No limit if empty. Behind a proxy '
        'set [api] trusted_proxies, or all clients count as one.',
    ),
    cfg.StrOpt(
        'storage',
        default='memory://',
        secret=True,
        help='Where requests are counted: memory:// in each process by itself; '
        'memcached://HOST:PORT or redis://HOST:PORT/DATABASE for all processes together. While '
        'that is away requests are not limited, with a line in the log.',
    ),
    cfg.ListOpt(
        'exempt_projects',
        default=[],
        help='Ids of projects whose requests are not limited, such as the one of services.',
    ),
    cfg.ListOpt(
        'exempt_addresses',
        default=[],
        help='Addresses and networks that per_address does not hold for: those from which many '
        'people come, such as the dashboard, and other services.',
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on *conf*."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts() -> dict[str, list[cfg.Opt]]:
    """Return the options by group."""
    return {GROUP: OPTS}
