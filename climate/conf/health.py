# SPDX-License-Identifier: Apache-2.0

"""Options of host health."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'health'

OPTS: list[cfg.Opt] = [
    cfg.BoolOpt(
        'notifications',
        default=True,
        help='Whether managers listen to the notifications of Nova, so that a host that an '
        'administrator disables or forces down leaves the pool at once. Each manager has its own '
        'queue, deleted when it stops, so other readers lose nothing. Nova sends the '
        'notifications if its [notifications] notification_format is versioned or both.',
    ),
    cfg.ListOpt(
        'notification_topics',
        default=['notifications', 'versioned_notifications'],
        help="Topics to listen on: Nova's [notifications] versioned_notifications_topics.",
    ),
    cfg.StrOpt(
        'notification_exchange',
        default='nova',
        help="Exchange of the topics: Nova's [DEFAULT] control_exchange.",
    ),
    cfg.StrOpt(
        'notification_transport_url',
        secret=True,
        help='Message bus of Nova, if it has its own. By default that of '
        '[oslo_messaging_notifications], or of [DEFAULT].',
    ),
    cfg.FloatOpt(
        'polling_interval',
        default=60.0,
        min=0.0,
        help='Interval, in seconds, at which each manager asks Nova for the state of its '
        'nova-compute services. This finds services that died, which send no notification, and '
        'changes missed while the message bus was unavailable. 0 asks only when the manager '
        'starts and when a notification calls for it.',
    ),
    cfg.StrOpt(
        'heal_active',
        default='empty',
        choices=[
            ('never', 'None; their owners are notified.'),
            ('empty', 'Those with nothing running there; the owners of others are notified.'),
            ('always', 'All. Everything that runs there is deleted.'),
        ],
        help='Which reservations in use are moved off a resource that has failed or is in '
        'maintenance. Reservations that have not started are always moved.',
    ),
    cfg.FloatOpt(
        'heal_interval',
        default=60.0,
        min=0.1,
        help='Interval, in seconds, at which each manager looks for reservations on unavailable '
        'resources and tries again to move those that could not be moved.',
    ),
    cfg.FloatOpt(
        'heal_horizon',
        default=86400.0,
        min=0.0,
        help='Reservations on a failed host are moved if they start within this many seconds; the '
        'host may be back before later ones start. 0 moves all at once. Maintenance is known in '
        'advance: reservations that start during it are moved at once, and those in use when it '
        'is this near.',
    ),
]
