# SPDX-License-Identifier: Apache-2.0

"""Options of the notifications that Climate sends."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'notifications'

OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'publisher_id',
        default='climate.lease',
        help='Publisher id of the notifications. [oslo_messaging_notifications] defines where and '
        'how they are sent; the default driver is messagingv2.',
    )
]
