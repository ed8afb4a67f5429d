# SPDX-License-Identifier: Apache-2.0

"""Options of webhooks."""

from __future__ import annotations

from oslo_config import cfg

from climate.conf.api import CidrType

GROUP = 'webhooks'

OPTS: list[cfg.Opt] = [
    cfg.ListOpt(
        'allowed_networks',
        item_type=CidrType(),
        default=[],
        help='Networks, in CIDR notation, that webhooks can reach although their addresses are '
        'not public, such as a network of project services. By default managers connect to '
        'public addresses only: users choose the URL, so they could otherwise reach services '
        'inside the cloud.',
    ),
    cfg.ListOpt(
        'refused_networks',
        item_type=CidrType(),
        default=[],
        help='Networks that webhooks cannot reach although their addresses are public, such as '
        'those of the API endpoints of the cloud. They take precedence over allowed_networks.',
    ),
    cfg.BoolOpt(
        'allow_http',
        default=False,
        help='Whether URLs can begin with http. Events are then sent in clear text, although '
        'signed.',
    ),
    cfg.StrOpt(
        'cafile',
        help='File with the CA certificates that verify receivers. Those of the system by default.',
    ),
    cfg.StrOpt(
        'source',
        default='/reservation',
        help='Source of the events: a URI, or a part of one, that names this service, such as '
        'https://reservation.example.org/v1.',
    ),
    cfg.FloatOpt(
        'timeout',
        default=10.0,
        min=0.1,
        max=60.0,
        help='Time limit for a connection and its response together, in seconds.',
    ),
    cfg.IntOpt(
        'workers',
        default=16,
        min=1,
        max=64,
        help='Number of events that a manager sends at the same time, at most two of them to one '
        'webhook, and a quarter of them for one project or to one receiver. Webhooks whose last '
        'event failed or took long get fewer, and half of the workers together.',
    ),
    cfg.IntOpt(
        'attempts',
        default=15,
        min=1,
        max=100,
        help='Attempts before an event that a receiver does not accept is added to the dead '
        'letters of its webhook.',
    ),
    cfg.FloatOpt(
        'retry_first_pause',
        default=5.0,
        min=0.1,
        help='Pause before the second attempt, in seconds. Each further pause is twice as long.',
    ),
    cfg.FloatOpt(
        'retry_longest_pause',
        default=14400.0,
        min=0.1,
        help='Longest pause between two attempts, in seconds.',
    ),
    cfg.IntOpt(
        'keep_delivered',
        default=86400,
        min=0,
        help='How long the record of a delivered event is kept, in seconds.',
    ),
    cfg.IntOpt(
        'keep_dead', default=14 * 86400, min=0, help='How long dead letters are kept, in seconds.'
    ),
    cfg.IntOpt(
        'longest_overlap',
        default=7 * 86400,
        min=0,
        max=366 * 86400,
        help='The longest time for which the previous secret of a webhook signs after a '
        'rotation, in seconds.',
    ),
]
