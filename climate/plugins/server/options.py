# SPDX-License-Identifier: Apache-2.0
"""Options of the resource type ``virtual:server``."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'virtual:server'

# Options of the leases that servers get when they are booted.
_BY_BOOTING: list[cfg.Opt] = [
    cfg.BoolOpt(
        'leases_by_booting',
        default=False,
        help='Whether a server that is booted with metadata such as climate:lease_end, or with '
        'the scheduler hint lease_params, gets a lease. Managers learn of new servers from the '
        'notifications of Nova, as configured in [health], and by polling Nova. Requires the '
        'resource type virtual:server.',
    ),
    cfg.StrOpt(
        'default_lease',
        default='',
        help='Duration of the lease of new servers that ask for none, such as 30d, 12h or PT90M, '
        'in the projects of default_lease_projects. Empty for no lease. Requires '
        'leases_by_booting. Servers booted before this was set are left alone.',
    ),
    cfg.ListOpt(
        'default_lease_projects',
        default=[],
        help='Ids of the projects whose servers get a lease by default; * for all.',
    ),
    cfg.ListOpt(
        'default_lease_exempt_projects',
        default=[],
        help='Ids of projects whose servers never get a lease by default, such as those of '
        'services that boot servers for users.',
    ),
    cfg.ListOpt(
        'default_lease_on_end',
        default=['snapshot', 'delete'],
        help='Actions on the server at the end of a default lease: some of snapshot, shelve, '
        'suspend, stop and delete, in this order.',
    ),
    cfg.FloatOpt(
        'poll_interval',
        default=300.0,
        min=1.0,
        help='Interval, in seconds, at which each manager asks Nova for new servers. This finds '
        'servers missed while the message bus or all managers were down.',
    ),
]

OPTS: list[cfg.Opt] = [
    *_BY_BOOTING,
    cfg.FloatOpt(
        'image_timeout',
        default=3600.0,
        min=1.0,
        help='How long, in seconds, the image of a server may take to be complete in Glance, and '
        'a shelved server to leave its host, before the owner is notified. A server without its '
        'image is never deleted. Raise it where disks are large or the image store is slow.',
    ),
    cfg.FloatOpt(
        'poll',
        default=2.0,
        min=0.05,
        help='Longest interval, in seconds, between two checks of a server that is being shelved, '
        'started, deleted or made an image of. The first checks come sooner.',
    ),
]
