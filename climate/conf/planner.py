# SPDX-License-Identifier: Apache-2.0

"""Options of flexible leases, which begin as soon as there is room."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'planner'

OPTS: list[cfg.Opt] = [
    cfg.IntOpt(
        'firm_before',
        default=3600,
        min=0,
        max=31 * 86400,
        help='How long before its start a flexible lease stops moving, in seconds: from then on '
        'it is firm. A lease can request to be firm earlier, and is so if one of its resources '
        'takes longer to get ready.',
    ),
    cfg.IntOpt(
        'horizon',
        default=400,
        min=1,
        max=400,
        help='How many days ahead a flexible lease without a latest end can be booked. If there is '
        'no room until then, it is refused.',
    ),
    cfg.FloatOpt(
        'interval',
        default=5.0,
        min=0.1,
        max=3600.0,
        help='Shortest pause between two plans, in seconds. A plan moves flexible leases forward '
        'into what has become free.',
    ),
]
