# SPDX-License-Identifier: Apache-2.0

"""Options of the simulated cloud, for rehearsals."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'simulator'

OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'state_dir',
        default='/var/lib/climate/simulator',
        help='Directory of the state of the simulated cloud, used if [DEFAULT] cloud is '
        '"simulated". All managers on the machine share it. '
        '"python -m climate.simulator --state-dir DIR furnish" adds hosts, networks and '
        'a catalogue to try; other subcommands make the cloud fail, respond slowly and recover.',
    )
]
