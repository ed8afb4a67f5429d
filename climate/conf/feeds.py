# SPDX-License-Identifier: Apache-2.0

"""Options of calendar feeds."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'feeds'

_DAY = 86400

OPTS: list[cfg.Opt] = [
    cfg.IntOpt(
        'lifetime',
        default=180 * _DAY,
        min=60,
        help='How long the link of a calendar feed works if its user does not choose, in seconds.',
    ),
    cfg.IntOpt(
        'longest_lifetime',
        default=366 * _DAY,
        min=60,
        help='The longest time that users can choose, in seconds.',
    ),
    cfg.IntOpt(
        'past',
        default=30 * _DAY,
        min=0,
        help='How long a feed shows leases after their end, in seconds.',
    ),
    cfg.IntOpt(
        'max_entries',
        default=500,
        min=1,
        max=5000,
        help='Maximum number of leases in a feed; those that start last are shown.',
    ),
    cfg.StrOpt(
        'rate',
        default='60/minute',
        help='Maximum number of requests for one link, in the format of [rate_limit] per_project. '
        'They are counted in [rate_limit] storage. No limit if empty. Requests for links that do '
        'not exist count by address.',
    ),
    cfg.IntOpt(
        'refresh',
        default=3600,
        min=60,
        help='How often calendars are asked to read a feed again, in seconds.',
    ),
    cfg.URIOpt(
        'page_url',
        schemes=['http', 'https'],
        help='Public URL of the page, such as https://reservation.example.org/ui. With it, the '
        'entries of a feed link to their leases.',
    ),
]
