# SPDX-License-Identifier: Apache-2.0

"""Options of ``climate-power``."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'power'

OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'hosts_file',
        default='/etc/climate/power-hosts.yaml',
        help='File that defines how each host is switched on and off; see the administration '
        'guide. Other hosts are never switched.',
    ),
    cfg.StrOpt(
        'state_path',
        default='/var/lib/climate/power.json',
        help='File in which climate-power keeps its measurements and its current tasks. Only one '
        'process can use it at a time.',
    ),
    cfg.FloatOpt(
        'idle_after',
        default=0.0,
        min=0.0,
        help='A host in the freepool is switched off after this many seconds without use, if no '
        'lease needs it for at least as long. 0 switches no host off.',
    ),
    cfg.IntOpt(
        'keep_awake',
        default=0,
        min=0,
        help='Number of unused hosts that stay on, for leases that start at once and require the '
        'property awake.',
    ),
    cfg.FloatOpt(
        'interval',
        default=30.0,
        min=0.1,
        help='Interval, in seconds, at which all hosts are checked. They are also checked when '
        'Climate sends a notification of a lease.',
    ),
    cfg.FloatOpt(
        'waking_interval',
        default=5.0,
        min=0.1,
        help='The same interval while a host is being switched on or off.',
    ),
    cfg.FloatOpt(
        'boot_time',
        default=600.0,
        min=0.0,
        help='Assumed boot time of a host, in seconds, until one has been measured.',
    ),
    cfg.FloatOpt(
        'margin',
        default=60.0,
        min=0.0,
        help='Time, in seconds, added to the boot time of a host to switch it on before a lease '
        'starts.',
    ),
    cfg.FloatOpt(
        'wake_timeout',
        default=1800.0,
        min=1.0,
        help='A host that is not up this many seconds after it was switched on has failed: its '
        'reservations move to other hosts. Climate continues to try.',
    ),
    cfg.FloatOpt(
        'shutdown_timeout',
        default=300.0,
        min=0.0,
        help='Time a host has for an orderly shutdown, in seconds, before it is switched off.',
    ),
    cfg.FloatOpt(
        'service_down_time',
        default=75.0,
        min=0.0,
        help='Time after which Nova notices that a nova-compute service is gone, in seconds: '
        "Nova's own service_down_time and a little more. Nova's report of a host that has been "
        'off for less time is ignored.',
    ),
    cfg.FloatOpt(
        'controller_timeout',
        default=10.0,
        min=0.1,
        help='Time limit for a response of the management controller of a host, in seconds. The '
        'library tries three times.',
    ),
    cfg.FloatOpt(
        'retry_after',
        default=10.0,
        min=0.1,
        help='Pause before a request is sent again to a management controller that did not answer '
        'or switch the power, in seconds. The pause doubles each time, up to five minutes.',
    ),
    cfg.IntOpt('workers', default=16, min=1, help='Number of hosts handled at once.'),
]
