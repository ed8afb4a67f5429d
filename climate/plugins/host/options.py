# SPDX-License-Identifier: Apache-2.0

"""Options of the resource type ``physical:host``."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'physical:host'

OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'before_end',
        default='',
        choices=[
            ('', 'do nothing'),
            ('snapshot', 'make an image of each server on the leased hosts'),
        ],
        help="Action shortly before the end of a reservation whose own before_end is 'default'.",
    ),
    cfg.StrOpt(
        'isolation',
        default='filter',
        choices=[
            ('filter', 'the scheduler filter of blazar-nova; servers name their reservation'),
            ('placement', 'features of Nova and Placement; servers name the zone of their lease'),
            ('both', 'either of them, such as during a migration'),
        ],
        help='Mechanism in Nova that keeps other servers off reservable and leased hosts. It '
        'defines how the aggregates are marked; Nova must be configured accordingly, see the '
        'administration guide. Existing aggregates follow a change when Climate uses or checks '
        'them.',
    ),
    cfg.StrOpt(
        'blazar_az_prefix',
        default='blazar_',
        help='Prefix of the availability zone of leased hosts, by which the scheduler filter of '
        'blazar-nova recognises them.',
    ),
    cfg.StrOpt(
        'blazar_owner',
        default='blazar:owner',
        help='Key of the aggregate metadata with the project of a leased host, which the '
        'scheduler filter of blazar-nova reads.',
    ),
    cfg.FloatOpt(
        'server_deletion_poll',
        default=2.0,
        min=0.05,
        help='Longest interval, in seconds, between two checks whether the servers of an ending '
        'lease are gone. The first checks come sooner.',
    ),
]
