# SPDX-License-Identifier: Apache-2.0

"""Options of the managers, and of the events the API writes for them."""

from __future__ import annotations

from oslo_config import cfg
from oslo_config import types

GROUP = 'manager'

OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'rpc_topic',
        default='climate.manager',
        help='Topic on which managers listen. It must be the same for the API and managers.',
    ),
    cfg.IntOpt(
        'workers',
        default=64,
        min=1,
        max=256,
        help='Number of leases on which one manager works at once, and the size of its largest '
        'batch. Each takes a thread.',
    ),
    cfg.FloatOpt(
        'max_sleep',
        default=5.0,
        min=0.05,
        max=60.0,
        help='Longest time a manager sleeps before it looks for due leases again, in seconds. It '
        'wakes up at the next due time, and over RPC when an earlier one is added; this bounds '
        'the delay while the broker is down.',
    ),
    cfg.FloatOpt(
        'claim_seconds',
        default=10.0,
        min=0.5,
        max=600.0,
        help='Duration of a claim on a lease, in seconds. A manager renews its claims five times '
        'in this period; if it dies, another manager continues after at most this time. A manager '
        'that cannot renew a claim stops changing the cloud once only a third of it is left: '
        'raise this where machines or the database hang for seconds. The clocks of a manager and '
        'the database must agree to half of this.',
    ),
    cfg.FloatOpt(
        'effect_deadline',
        default=600.0,
        min=0.0,
        help='How long a failing start or change is retried, in seconds, before it is undone and '
        'the lease goes to ERROR. Ends and deletions are retried indefinitely; after this time '
        'they are reported as failing. Time without a running manager does not count.',
    ),
    cfg.FloatOpt(
        'retry_first_pause',
        default=1.0,
        min=0.01,
        help='Pause after the first failure of an effect, in seconds; it doubles with each '
        'further one.',
    ),
    cfg.FloatOpt(
        'retry_longest_pause',
        default=10.0,
        min=0.01,
        help='Longest pause between two tries of an effect, in seconds. A lease that could not '
        'start while Nova was down starts at most this long after Nova is back.',
    ),
    cfg.FloatOpt(
        'handover_pause',
        default=0.25,
        min=0.01,
        help='Pause before a waiting start checks again whether the previous lease has returned '
        'its resources, in seconds. The pause grows to eight times this.',
    ),
    cfg.FloatOpt(
        'handover_patience',
        default=60.0,
        min=0.0,
        help='How long a start waits for a previous lease that does not end, in seconds, before '
        'it gets another free resource instead. Raise it where deleting servers usually takes '
        'longer.',
    ),
    cfg.FloatOpt(
        'prepare_lead_time',
        default=60.0,
        min=0.0,
        help='How long before its start a lease is prepared, in seconds, for resource types that '
        'support it. 0 prepares at the start.',
    ),
    cfg.FloatOpt(
        'check_interval',
        default=300.0,
        min=0.0,
        help='Interval, in seconds, at which the resources of an active lease are compared with '
        'the cloud and repaired. 0 disables the check.',
    ),
    cfg.FloatOpt(
        'repair_interval',
        default=3600.0,
        min=0.0,
        help='Interval, in seconds, at which managers remove leftovers of ended leases from the '
        'cloud, as "climate-manage lease repair" does; one manager at a time. Findings are '
        'logged. 0 disables it.',
    ),
    cfg.FloatOpt(
        'owner_check_interval',
        default=3600.0,
        min=0.0,
        help='Interval, in seconds, at which managers ask Keystone whether the users of webhooks '
        'and feeds still have the right to create them, one manager at a time. Webhooks and feeds '
        'of those who have not are stopped. Owners of leases whose trusts are of no use, since '
        'their users have lost a role, are notified. While Keystone does not answer, nothing '
        'stops. 0 disables the check; then webhooks and feeds go on until they are deleted or '
        'expire, and a lease finds out when it needs its trust.',
    ),
    cfg.Opt(
        'notify_before_start',
        type=types.List(item_type=types.Integer(min=1)),
        default=[3600, 300, 60],
        help='How long before the start of a lease notifications are sent, in seconds, one for '
        'each number. From microversion 1.1 on a lease can have its own.',
    ),
    cfg.IntOpt(
        'minutes_before_end_lease',
        default=60,
        min=0,
        help='How many minutes before the end of a lease its notification is sent and its '
        'before_end action runs, unless the lease sets its own time. 0 disables both.',
    ),
    cfg.IntOpt(
        'outbox_batch', default=100, min=1, max=10000, help='Number of notifications in one batch.'
    ),
    cfg.IntOpt(
        'outbox_attempts',
        default=10,
        min=1,
        help='Number of times a notification that cannot be sent is tried while the message bus '
        'is available, before it is set aside with an error in the log. Until then it delays '
        'later ones of its lease, but no others. "climate-manage outbox list" shows those set '
        'aside; tries while the bus is unavailable do not count.',
    ),
]
