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

"""Which cloud managers work with."""

from __future__ import annotations

from oslo_config import cfg

REAL = 'real'
TWIN = 'twin'

OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'cloud',
        default=REAL,
        choices=[
            (REAL, 'Nova and Placement, as [nova] and [placement] say.'),
            (
                TWIN,
                'A simulated cloud that keeps its state in [twin] state_dir, for rehearsals: '
                'of an upgrade, of an outage, of what subscribers do. Nothing real is touched.',
            ),
        ],
        help='The cloud that managers start and end leases in.',
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on *conf*."""
    conf.register_opts(OPTS)


def list_opts() -> dict[str, list[cfg.Opt]]:
    """Return the options by group."""
    return {'DEFAULT': OPTS}
