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

"""Options of the managers, and of the events the API writes for them."""

from __future__ import annotations

from oslo_config import cfg
from oslo_config import types

GROUP = 'manager'

OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'rpc_topic',
        default='climate.manager',
        help='The topic managers listen on. API and managers must agree.',
    ),
    cfg.IntOpt(
        'workers',
        default=8,
        min=1,
        max=256,
        help='How many leases one manager works on at once. Each takes a thread and, '
        'while it writes, a database connection.',
    ),
    cfg.FloatOpt(
        'max_sleep',
        default=5.0,
        min=0.05,
        max=60.0,
        help='The longest a manager sleeps, in seconds, before it looks for due leases '
        'again. It wakes at the next due time by itself and is woken over RPC when '
        'something nearer comes in; this bounds the delay when the broker is away.',
    ),
    cfg.FloatOpt(
        'claim_seconds',
        default=10.0,
        min=0.5,
        max=600.0,
        help='How long a claim on a lease lasts, in seconds. A manager renews its claims '
        'five times in that time; when it dies, another one goes on after at most this '
        'long. One that could not renew a claim changes nothing in the cloud any more '
        'once only a third of it is left: raise this where machines or the database '
        'hang for seconds. The clock of a manager must agree with that of the database '
        'to half of this.',
    ),
    cfg.FloatOpt(
        'effect_deadline',
        default=600.0,
        min=0.0,
        help='How long, in seconds, a failing start or change is tried again before it is '
        'undone and the lease goes to ERROR. Ends and deletions are tried for ever; '
        'after this long they are reported as failing. Time in which no manager was '
        'there to try does not count.',
    ),
    cfg.FloatOpt(
        'retry_first_pause',
        default=1.0,
        min=0.01,
        help='The pause after the first failure of an effect, in seconds; doubled with each '
        'further one.',
    ),
    cfg.FloatOpt(
        'retry_longest_pause',
        default=10.0,
        min=0.01,
        help='The longest pause between two tries of an effect, in seconds. A lease that '
        'should have started while Nova was away starts at most this long after Nova is back.',
    ),
    cfg.FloatOpt(
        'handover_pause',
        default=0.25,
        min=0.01,
        help='How long, in seconds, a start waits before it looks again whether the lease '
        'before has given its resources back. The pause grows to eight times this.',
    ),
    cfg.FloatOpt(
        'handover_patience',
        default=60.0,
        min=0.0,
        help='How long, in seconds, a start waits for a lease before that does not end, '
        'before it is given another free resource in place of the one it waits for. '
        'Raise it where deleting servers takes longer than this as a rule.',
    ),
    cfg.FloatOpt(
        'prepare_lead_time',
        default=60.0,
        min=0.0,
        help='How many seconds before its start a lease is prepared, for resource types '
        'that can be. 0 prepares at the start.',
    ),
    cfg.FloatOpt(
        'check_interval',
        default=300.0,
        min=0.0,
        help='Every so many seconds the resources of an active lease are compared with the '
        'cloud and repaired. 0 never checks.',
    ),
    cfg.FloatOpt(
        'repair_interval',
        default=3600.0,
        min=0.0,
        help='Every so many seconds the managers look for what leases that are over left in '
        'the cloud, and remove it, as "climate-manage lease repair" does; one manager at a '
        'time. What is found is logged. 0 never looks.',
    ),
    cfg.Opt(
        'notify_before_start',
        type=types.List(item_type=types.Integer(min=1)),
        default=[3600, 300, 60],
        help='How many seconds before its start subscribers are told of a lease, one '
        'notification for each number. At microversion 1.1 a lease may bring its own.',
    ),
    cfg.IntOpt(
        'minutes_before_end_lease',
        default=60,
        min=0,
        help='How many minutes before its end subscribers are told, and the before_end '
        'action is run, unless the lease says otherwise. 0 disables it.',
    ),
    cfg.IntOpt(
        'outbox_batch',
        default=100,
        min=1,
        max=10000,
        help='How many notifications are sent at one go.',
    ),
    cfg.IntOpt(
        'outbox_attempts',
        default=10,
        min=1,
        help='How often a notification is tried that cannot be sent although the message bus '
        'is there, before it is set aside with an error in the log. Until then it keeps '
        'back those of its lease that come after it, and no others. "climate-manage outbox '
        'list" shows what was set aside; a bus that is away counts as no try.',
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on *conf*."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts() -> dict[str, list[cfg.Opt]]:
    """Return the options by group."""
    return {GROUP: OPTS}
