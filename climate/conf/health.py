# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Options of watching hosts."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'health'

OPTS: list[cfg.Opt] = [
    cfg.BoolOpt(
        'notifications',
        default=True,
        help='Whether managers listen to the notifications of Nova, so that a host that an '
        'administrator disables or forces down leaves the pool at once. Each manager has a '
        'queue of its own, which is deleted when it goes, so nothing is taken from other '
        'readers. Nova sends them if its [notifications] notification_format is versioned or '
        'both.',
    ),
    cfg.ListOpt(
        'notification_topics',
        default=['notifications', 'versioned_notifications'],
        help='The topics to listen on: [notifications] versioned_notifications_topics of Nova.',
    ),
    cfg.StrOpt(
        'notification_exchange',
        default='nova',
        help='The exchange of the topics: [DEFAULT] control_exchange of Nova.',
    ),
    cfg.StrOpt(
        'notification_transport_url',
        secret=True,
        help='The message bus of Nova, if it has one of its own. Unless set, that of '
        '[oslo_messaging_notifications], or of [DEFAULT].',
    ),
    cfg.FloatOpt(
        'polling_interval',
        default=60.0,
        min=0.0,
        help='Every so many seconds each manager asks Nova for the state of its nova-computes. '
        'This finds those that died, which send nothing, and what was missed while the message '
        'bus was away. 0 asks only at the start and when a notification gives reason to.',
    ),
    cfg.StrOpt(
        'heal_active',
        default='empty',
        choices=[
            ('never', 'None; their owners are told.'),
            ('empty', 'Those that have nothing running there; the owners of others are told.'),
            ('always', 'All. What runs there is deleted.'),
        ],
        help='Which reservations that are in use are moved off a resource that has failed or is '
        'in maintenance. Those that have not begun are always moved.',
    ),
    cfg.FloatOpt(
        'heal_interval',
        default=60.0,
        min=0.1,
        help='Every so many seconds each manager looks for reservations on resources that are '
        'out, and tries again to move those that could not be moved.',
    ),
    cfg.FloatOpt(
        'heal_horizon',
        default=86400.0,
        min=0.0,
        help='Reservations on a host that has failed are moved if they begin within so many '
        'seconds; by then, later ones may have their host back. 0 moves all at once. '
        'Maintenance is known to come: what begins in it is moved at once, and what is in use '
        'when it is so near.',
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on *conf*."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts() -> dict[str, list[cfg.Opt]]:
    """Return the options by group."""
    return {GROUP: OPTS}
