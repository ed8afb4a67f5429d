# SPDX-License-Identifier: Apache-2.0

"""Options of the trusts with which Climate acts as users."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'trusts'

OPTS: list[cfg.Opt] = [
    cfg.ListOpt(
        'roles',
        default=['member', 'reader'],
        help='Roles that a user delegates to Climate with the trust of a lease, if the lease '
        'creates objects as this user. The user must have each of them in the project of the '
        'lease. Change it if servers or stacks need another role, or if roles have other names.',
    ),
    cfg.IntOpt(
        'margin',
        default=2592000,
        min=3600,
        max=315360000,
        help='Number of seconds from the end of a lease until its trust expires in Keystone. '
        'Climate deletes the trust when the lease is over; this applies if it cannot. When the '
        'owner of a lease prolongs it so far that less than half of this would be left, a new '
        'trust of the owner replaces the old one. If another user prolongs the lease, it keeps '
        'its trust: this must be long enough for the extensions that administrators make.',
    ),
]
