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
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on *conf*."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts() -> dict[str, list[cfg.Opt]]:
    """Return the options by group."""
    return {GROUP: OPTS}
