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

"""Options of the audit trail."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'audit'

OPTS: list[cfg.Opt] = [
    cfg.BoolOpt(
        'enabled',
        default=False,
        help='Whether the API sends a CADF event for each request that can change something: the '
        'initiator, its address, the target, the outcome, and the object before and after.',
    ),
    cfg.ListOpt(
        'topics',
        default=[],
        help='Topics to which events are sent. Those of [oslo_messaging_notifications] if empty.',
    ),
    cfg.IntOpt(
        'max_waiting',
        default=1000,
        min=1,
        max=1_000_000,
        help='Number of events that a process keeps while they wait for the message bus. Further '
        'events, and those that the bus refuses, are written to the log.',
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on *conf*."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts() -> dict[str, list[cfg.Opt]]:
    """Return the options by group."""
    return {GROUP: OPTS}
