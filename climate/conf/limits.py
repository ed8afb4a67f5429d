# SPDX-License-Identifier: Apache-2.0

"""Options of the limits of one project."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'limits'
_MOST = 1_000_000


def _limit(name: str, default: int, text: str, more: str = '') -> cfg.Opt:
    help_text = ' '.join(filter(None, (text, '0 sets no limit.', more)))
    return cfg.IntOpt(name, default=default, min=0, max=_MOST, help=help_text)


OPTS: list[cfg.Opt] = [
    _limit(
        'leases',
        100,
        'Maximum number of leases of a project that are not over: waiting, running or failed.',
    ),
    _limit(
        'reservations_per_lease',
        20,
        'Maximum number of reservations in a lease of a project.',
        '[api] max_reservations_per_lease limits each request as well.',
    ),
    _limit('days_per_lease', 366, 'Maximum duration of a lease of a project, in days.'),
    _limit('days_ahead', 0, 'How far in the future a lease of a project can start, in days.'),
    _limit(
        'resources',
        0,
        'Maximum number of resources of the leases of a project at any instant, including what '
        'is held for its offers. A host, an address, a network or a server counts as one; '
        'instances and volumes count as one for each host or pool that a reservation uses.',
    ),
    _limit(
        'idempotency_keys',
        10000,
        'Maximum number of idempotency keys that a project can use within 24 hours. Each is '
        'stored for that time with the answer to its request, usually a few kilobytes.',
    ),
    _limit(
        'holds',
        5,
        'Maximum number of offers whose resources are held for a project at the same time.',
    ),
    _limit(
        'offers',
        1000,
        'Maximum number of offers that are stored for a project, which is until about an hour '
        'after they expire. Each takes a few kilobytes.',
    ),
    _limit('webhooks', 10, 'Maximum number of webhooks of a project.'),
    _limit('feeds', 50, 'Maximum number of calendar feeds of a project that have not expired.'),
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
