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

"""Options of the resource types that operators declare."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'custom'

OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'types_file',
        default='',
        help='YAML file that declares resource types; see the administration guide. It is read '
        'when a process starts; any error in it stops the process. All processes need the same '
        'file. Types can also be declared through the API.',
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on *conf*."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts() -> dict[str, list[cfg.Opt]]:
    """Return the options by group."""
    return {GROUP: OPTS}
