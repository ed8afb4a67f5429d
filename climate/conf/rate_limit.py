# SPDX-License-Identifier: Apache-2.0

"""Options of rate limits."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'rate_limit'

OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'per_project',
        default='100/second;3000/minute',
        help='Maximum number of requests with tokens of one project, such as "600/minute", or '
        '"50/second;600/minute" for both. No limit if empty. Further requests get status 429 and '
        'a Retry-After header. By default, it counts in each process, see storage.',
    ),
    cfg.StrOpt(
        'per_address',
        default='200/second;6000/minute',
        help='Maximum number of requests from one address, counted before authentication; for '
        'IPv6, from one network of 64 bits. The format is that of per_project. No limit if empty. '
        'Behind a proxy, set [api] trusted_proxies, or all clients count as one.',
    ),
    cfg.StrOpt(
        'sign_ins',
        default='10/minute',
        help='Maximum number of sign-ins from one address through the web page. The format is '
        'that of per_project. No limit if empty.',
    ),
    cfg.StrOpt(
        'storage',
        default='memory://',
        secret=True,
        help='Where requests are counted: memory:// in each process; memcached://HOST:PORT or '
        'redis://HOST:PORT/DATABASE for all processes together. While that server is unavailable, '
        'requests are not limited, which is logged.',
    ),
    cfg.ListOpt(
        'exempt_projects',
        default=[],
        help='Ids of projects without a limit, such as the project of services.',
    ),
    cfg.ListOpt(
        'exempt_addresses',
        default=[],
        help='Addresses and networks without the limits for an address: per_address, and how '
        'many tokens of one are checked and links of feeds looked up at once. List those that '
        'many users share, such as that of the dashboard, and those of other services.',
    ),
]
