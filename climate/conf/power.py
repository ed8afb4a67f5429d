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

"""Options of ``climate-power``."""

from __future__ import annotations

from keystoneauth1 import loading as ks_loading
from oslo_config import cfg

from climate.conf import nova

GROUP = 'power'
SERVICE_TYPE = 'reservation'

OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'hosts_file',
        default='/etc/climate/power-hosts.yaml',
        help='File that says how each host is switched on and off; see the administrator guide. '
        'Hosts that are not in it are left alone.',
    ),
    cfg.StrOpt(
        'state_path',
        default='/var/lib/climate/power.json',
        help='File in which climate-power keeps what it has learned and what it is about. One '
        'process at a time.',
    ),
    cfg.FloatOpt(
        'idle_after',
        default=0.0,
        min=0.0,
        help='A host of the freepool that nobody has used for so many seconds, and nobody needs '
        'for as long again, is switched off. 0 switches none off.',
    ),
    cfg.IntOpt(
        'keep_awake',
        default=0,
        min=0,
        help='So many hosts that nobody uses are left on, for leases that start at once and '
        'require the property awake.',
    ),
    cfg.FloatOpt(
        'interval',
        default=30.0,
        min=0.1,
        help='Every so many seconds all hosts are looked at, and also when Climate tells of a '
        'lease.',
    ),
    cfg.FloatOpt(
        'waking_interval',
        default=5.0,
        min=0.1,
        help='The same while a host is on its way up or down.',
    ),
    cfg.FloatOpt(
        'boot_time',
        default=600.0,
        min=0.0,
        help='Seconds that a host is taken to need to come up as long as none have been measured.',
    ),
    cfg.FloatOpt(
        'margin',
        default=60.0,
        min=0.0,
        help='So many seconds more than it needs, a host is switched on before a lease starts.',
    ),
    cfg.FloatOpt(
        'wake_timeout',
        default=1800.0,
        min=1.0,
        help='A host that is not up so many seconds after it was switched on counts as failed: '
        'what is reserved on it moves to others. It is tried again all the same.',
    ),
    cfg.FloatOpt(
        'shutdown_timeout',
        default=300.0,
        min=0.0,
        help='Seconds that a host has to shut down in order. Then it is cut off.',
    ),
    cfg.FloatOpt(
        'service_down_time',
        default=75.0,
        min=0.0,
        help='Seconds after which Nova has noticed that a nova-compute is gone: its own '
        'service_down_time and a bit more. What it says of a host that was off for less is not '
        'believed.',
    ),
    cfg.FloatOpt(
        'controller_timeout',
        default=10.0,
        min=0.1,
        help='Seconds that the management controller of a host has for an answer. The library '
        'asks three times.',
    ),
    cfg.FloatOpt(
        'retry_after',
        default=10.0,
        min=0.1,
        help='Seconds after which a management controller that gave no answer, or no power, is '
        'asked again. The pause doubles each time, up to five minutes.',
    ),
    cfg.IntOpt(
        'workers',
        default=16,
        min=1,
        help='So many hosts are dealt with at once.',
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on *conf*."""
    conf.register_opts(OPTS, group=GROUP)
    conf.register_opts(nova.service_opts(GROUP, SERVICE_TYPE), group=GROUP)
    ks_loading.register_auth_conf_options(conf, GROUP)


def list_opts() -> dict[str, list[cfg.Opt]]:
    """Return the options by group."""
    return {GROUP: [*OPTS, *nova.auth_opts(), *nova.service_opts(GROUP, SERVICE_TYPE)]}
