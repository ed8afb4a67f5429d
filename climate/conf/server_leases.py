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

"""Options of leases that are asked for by booting a server."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'virtual:server'

OPTS: list[cfg.Opt] = [
    cfg.BoolOpt(
        'leases_by_booting',
        default=False,
        help='Whether a server that is booted with metadata such as climate:lease_end, or with the '
        'scheduler hint lease_params, gets a lease. Managers hear of servers by the '
        'notifications of Nova, as [health] says where, and by asking Nova. The resource type '
        'virtual:server has to be served.',
    ),
    cfg.StrOpt(
        'default_lease',
        default='',
        help='How long the lease lasts that each new server of some projects gets if it asks for '
        'none, such as 30d, 12h or PT90M. Unless set, none does. Needs leases_by_booting. '
        'Servers that were booted before this was set are left alone.',
    ),
    cfg.ListOpt(
        'default_lease_projects',
        default=[],
        help='The ids of the projects whose servers get a lease by default; * for all.',
    ),
    cfg.ListOpt(
        'default_lease_exempt_projects',
        default=[],
        help='The ids of projects whose servers never get a lease by default, such as those of '
        'services that boot servers for users.',
    ),
    cfg.ListOpt(
        'default_lease_on_end',
        default=['snapshot', 'delete'],
        help='What is done with the server at the end of a lease that it got by default: some of '
        'snapshot, shelve, suspend, stop and delete, in this order.',
    ),
    cfg.FloatOpt(
        'poll_interval',
        default=300.0,
        min=1.0,
        help='Every so many seconds each manager asks Nova which servers are new. This finds what '
        'was missed while the message bus or all managers were away.',
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on *conf*."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts() -> dict[str, list[cfg.Opt]]:
    """Return the options by group."""
    return {GROUP: OPTS}
