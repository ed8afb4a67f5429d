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
"""Options of the resource type ``virtual:server``."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'virtual:server'

OPTS: list[cfg.Opt] = [
    cfg.FloatOpt(
        'image_timeout',
        default=3600.0,
        min=1.0,
        help='How long, in seconds, the image of a server may take until Glance has all of it, and '
        'a shelved server until it is off its host. After that its owner is told; a server whose '
        'image is not there is never deleted. To be raised where disks are large or the image '
        'store is slow.',
    ),
    cfg.FloatOpt(
        'poll',
        default=2.0,
        min=0.05,
        help='The longest time, in seconds, between two looks at a server that is being shelved, '
        'started, deleted or made an image of. The first looks come sooner.',
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on *conf*."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts() -> dict[str, list[cfg.Opt]]:
    """Return the options by group."""
    return {GROUP: OPTS}
