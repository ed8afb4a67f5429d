# SPDX-License-Identifier: Apache-2.0

"""Options of the resource type ``virtual:stack``."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'virtual:stack'

OPTS: list[cfg.Opt] = [
    cfg.ListOpt(
        'guarantee',
        default=['servers'],
        item_type=cfg.types.String(choices=['servers', 'volumes', 'floating_ips']),
        help='For which contents of the template of a stack room is booked, unless its owner opts '
        'out: servers, on reservable hosts, which requires the resource type flavor:instance; '
        'volumes, in reservable storage pools, which requires virtual:volume; floating_ips, from '
        'the registered addresses, which requires virtual:floatingip. Add volumes if the pools of '
        'all volume types that templates may use are registered, and floating IPs if addresses of '
        'all external networks are.',
    ),
    cfg.IntOpt(
        'max_template_bytes',
        default=524288,
        min=1024,
        help='Maximum size of the template of a stack, in bytes, with its environment, its '
        'parameters and its files, all of which are stored in the database. Lower it to store '
        "less; a value above Heat's max_template_size has no effect. Long templates also need a "
        'higher [api] max_request_body_size.',
    ),
    cfg.FloatOpt(
        'create_timeout',
        default=3600.0,
        min=1.0,
        help='How long, in seconds, the creation of a stack may take before the start of its '
        'lease has failed and the stack is deleted. Raise it where stacks take longer.',
    ),
    cfg.FloatOpt(
        'snapshot_timeout',
        default=3600.0,
        min=1.0,
        help='How long, in seconds, the snapshot of a stack may take before the owner is notified '
        'of a problem. Climate keeps waiting; until the snapshot is complete the stack is not '
        'changed.',
    ),
    cfg.FloatOpt(
        'action_timeout',
        default=1800.0,
        min=1.0,
        help='How long, in seconds, the suspension, resumption or deletion of a stack, or an '
        'operation of its owner, may take before it has failed.',
    ),
    cfg.FloatOpt(
        'poll',
        default=10.0,
        min=0.05,
        help='Longest interval, in seconds, between two checks of a stack in progress. The first '
        'checks come sooner. Raise it to reduce the load on Heat.',
    ),
]
