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


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on *conf*."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts() -> dict[str, list[cfg.Opt]]:
    """Return the options by group."""
    return {GROUP: OPTS}
