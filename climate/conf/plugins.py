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

"""The resource types to serve."""

from __future__ import annotations

from oslo_config import cfg

OPTS: list[cfg.Opt] = [
    cfg.ListOpt(
        'resource_types',
        default=['physical:host'],
        help='Resource types to serve, by the names of their entry points in '
        'climate.resource_types. A type that is unknown or cannot be loaded stops the process.',
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on *conf*."""
    conf.register_opts(OPTS)


def list_opts() -> dict[str, list[cfg.Opt]]:
    """Return the options by group."""
    return {'DEFAULT': OPTS}
