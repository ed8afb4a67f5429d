# SPDX-License-Identifier: Apache-2.0

"""Options of flexible leases, which begin as soon as there is room."""

from __future__ import annotations

import enum

from oslo_config import cfg

GROUP = 'planner'


class Displace(enum.StrEnum):
    """Whether leases without another place may take that of flexible ones."""

    WINDOW = 'window'
    NEVER = 'never'


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
    cfg.IntOpt(
        'min_duration',
        default=600,
        min=60,
        max=7 * 86400,
        help='Shortest time slice of a preemptible lease that can be suspended, in seconds, if the '
        'lease has none of its own.',
    ),
    cfg.IntOpt(
        'yield_notice',
        default=300,
        min=0,
        max=86400,
        help='How many seconds before it has to yield a preemptible lease is notified, and so are '
        'users of servers without a lease on hosts of a lease that starts, which deletes them.',
    ),
    cfg.ListOpt(
        'yield_seconds',
        item_type=cfg.types.String(regex=r'^[^=]+=[0-9]{1,5}$'),
        default=[],
        help='How many seconds it takes until a preemptible lease has given up a reservation, by '
        'resource type, instead of what is learnt: it yields so long before others begin. For '
        'example: TYPE=300,OTHER=60.',
    ),
    cfg.IntOpt(
        'yield_samples',
        default=50,
        min=0,
        max=1000,
        help='From how many of the last leases that have yielded it is learnt how long yielding '
        'takes, for each resource type. Until 5 have yielded, and with 0, it takes as long as '
        'the type says.',
    ),
    cfg.FloatOpt(
        'yield_quantile',
        default=0.95,
        min=0.5,
        max=1.0,
        help='Which part of the leases that have yielded must not have taken longer than what is '
        'learnt from them; 1 is the longest of their times.',
    ),
    cfg.StrOpt(
        'displace',
        default=Displace.WINDOW.value,
        choices=[
            (
                Displace.WINDOW.value,
                'if each of them finds another place within its window at once',
            ),
            (Displace.NEVER.value, 'never: it is refused instead'),
        ],
        help='Whether a lease with a fixed start, or one that finds no room in its window, may '
        'take the place of flexible leases that are not firm.',
    ),
    cfg.BoolOpt(
        'rebind',
        default=True,
        help='Whether a lease that is not firm may get other resources of the same kind, if '
        'another one finds too little only because of how the bookings lie. Those that name '
        'their resources, and those that are being prepared, keep them.',
    ),
]
