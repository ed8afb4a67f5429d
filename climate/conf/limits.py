# SPDX-License-Identifier: Apache-2.0

"""Options of the limits of one project."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'limits'
_MOST = 1_000_000

OPTS: list[cfg.Opt] = [
    cfg.IntOpt(
        'leases',
        default=100,
        min=0,
        max=_MOST,
        help='Maximum number of leases of a project that are not over: waiting, running or '
        'failed. 0 sets no limit.',
    ),
    cfg.IntOpt(
        'reservations_per_lease',
        default=20,
        min=0,
        max=_MOST,
        help='Maximum number of reservations in a lease of a project. 0 sets no limit. [api] '
        'max_reservations_per_lease limits each request as well.',
    ),
    cfg.IntOpt(
        'days_per_lease',
        default=366,
        min=0,
        max=_MOST,
        help='Maximum duration of a lease of a project, in days. 0 sets no limit.',
    ),
    cfg.IntOpt(
        'days_ahead',
        default=0,
        min=0,
        max=_MOST,
        help='How far in the future a lease of a project can start, in days. 0 sets no limit.',
    ),
    cfg.IntOpt(
        'resources',
        default=0,
        min=0,
        max=_MOST,
        help='Maximum number of resources of the leases of a project at any instant, including '
        'what is held for its offers. A host, an address, a network or a server counts as one; '
        'instances and volumes count as one for each host or pool that a reservation uses. 0 '
        'sets no limit.',
    ),
    cfg.IntOpt(
        'idempotency_keys',
        default=10000,
        min=0,
        max=_MOST,
        help='Maximum number of idempotency keys that a project can use within 24 hours. Each is '
        'stored for that time with the answer to its request, usually a few kilobytes. 0 sets no '
        'limit.',
    ),
    cfg.IntOpt(
        'holds',
        default=5,
        min=0,
        max=_MOST,
        help='Maximum number of offers whose resources are held for a project at the same time. 0 '
        'sets no limit.',
    ),
    cfg.IntOpt(
        'offers',
        default=1000,
        min=0,
        max=_MOST,
        help='Maximum number of offers that are stored for a project, which is until about an '
        'hour after they expire. Each takes a few kilobytes. 0 sets no limit.',
    ),
    cfg.IntOpt(
        'webhooks',
        default=10,
        min=0,
        max=_MOST,
        help='Maximum number of webhooks of a project. 0 sets no limit.',
    ),
    cfg.IntOpt(
        'feeds',
        default=50,
        min=0,
        max=_MOST,
        help='Maximum number of calendar feeds of a project that have not expired. 0 sets no '
        'limit.',
    ),
    cfg.MultiStrOpt(
        'override',
        default=[],
        metavar='PROJECT_ID: LIMIT=VALUE, ...',
        help='Limits of one project, such as "2f0c1be8ad0a4b3e9d6c2f5b9f7d1e11: leases=500, '
        'days_per_lease=0". Limits that are not named stay the same. May be repeated, once for '
        'each project.',
    ),
]

NAMES = tuple(option.dest for option in OPTS if isinstance(option, cfg.IntOpt))
