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

"""Options of the simulated cloud, for rehearsals."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'simulator'

OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'state_dir',
        default='/var/lib/climate/simulator',
        deprecated_group='twin',
        help='Directory of the state of the simulated cloud, used if [DEFAULT] cloud is '
        '"simulated". All managers on the machine share it. '
        '"python -m climate.simulator --state-dir DIR furnish" adds hosts, networks and '
        'a catalogue to try; other subcommands make the cloud fail, respond slowly and recover.',
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on *conf*."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts() -> dict[str, list[cfg.Opt]]:
    """Return the options by group."""
    return {GROUP: OPTS}
