# SPDX-License-Identifier: Apache-2.0

"""Options of the resource types ``physical:storage`` and ``virtual:volume``."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'storage'

OPTS: list[cfg.Opt] = [
    cfg.FloatOpt(
        'poll',
        default=3.0,
        min=0.05,
        help='Interval, in seconds, between two checks of a volume, snapshot or backup on which '
        'Cinder is working. Raise it where many large volumes are copied.',
    ),
    cfg.IntOpt(
        'patience',
        default=14400,
        min=1,
        help='How long, in seconds, the volumes of an ending lease may take to be copied, '
        'detached and deleted before the delay is reported. Climate keeps checking after that. '
        'Raise it where backups of large volumes take hours.',
    ),
]
