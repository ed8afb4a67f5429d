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

"""The cloud that managers use."""

from __future__ import annotations

from oslo_config import cfg

REAL = 'real'
SIMULATED = 'simulated'
# The former name of SIMULATED, which stays valid in configuration files.
TWIN = 'twin'

OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'cloud',
        default=REAL,
        choices=[
            (REAL, 'Nova and Placement, as configured in [nova] and [placement].'),
            (
                SIMULATED,
                'A simulated cloud with its state in [simulator] state_dir, to rehearse upgrades, '
                'outages and the reactions of subscribers. No real cloud is changed.',
            ),
            (TWIN, 'The former name of "simulated".'),
        ],
        help='The cloud in which managers start and end leases.',
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on *conf*."""
    conf.register_opts(OPTS)


def list_opts() -> dict[str, list[cfg.Opt]]:
    """Return the options by group."""
    return {'DEFAULT': OPTS}
