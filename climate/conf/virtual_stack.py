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

"""Options of the resource type ``virtual:stack``."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'virtual:stack'

OPTS: list[cfg.Opt] = [
    cfg.ListOpt(
        'guarantee',
        default=['servers'],
        item_type=cfg.types.String(choices=['servers', 'volumes', 'floating_ips']),
        help='What room is booked for, of what the template of a stack contains, unless its '
        'owner does without: servers, on reservable hosts, which wants the resource type '
        'flavor:instance; volumes, in reservable storage pools, which wants virtual:volume; '
        'floating_ips, of the addresses that are registered, which wants virtual:floatingip. '
        'Volumes are to be named here where the pools of all volume types that users may put '
        'into templates are registered, floating IPs where addresses of all external networks '
        'are.',
    ),
    cfg.IntOpt(
        'max_template_bytes',
        default=524288,
        min=1024,
        help='The longest template of a stack, in bytes, with its environment, its parameters '
        'and the files that it names; all of it is kept in the database. To be lowered where '
        "users may not store as much; more than Heat's max_template_size is of no use. Bodies "
        'of requests have a limit of their own, [api] max_request_body_size, which has to be '
        'raised for long templates.',
    ),
    cfg.FloatOpt(
        'create_timeout',
        default=3600.0,
        min=1.0,
        help='How long, in seconds, the making of a stack may take before the start of its lease '
        'counts as failed and the stack is deleted again. To be raised where stacks take longer.',
    ),
    cfg.FloatOpt(
        'snapshot_timeout',
        default=3600.0,
        min=1.0,
        help='How long, in seconds, the snapshot of a stack may take before its owner is told '
        'that something is wrong. It is waited for all the same; until it is complete nothing '
        'else is done with the stack.',
    ),
    cfg.FloatOpt(
        'action_timeout',
        default=1800.0,
        min=1.0,
        help='How long, in seconds, a stack may take to be suspended, resumed or deleted, or be '
        'busy with what its owner does with it, before that counts as a failure.',
    ),
    cfg.FloatOpt(
        'poll',
        default=10.0,
        min=0.05,
        help='The longest time, in seconds, between two looks at a stack that is being worked '
        'on. The first looks come sooner. To be raised if that is too much for Heat.',
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on *conf*."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts() -> dict[str, list[cfg.Opt]]:
    """Return the options by group."""
    return {GROUP: OPTS}
