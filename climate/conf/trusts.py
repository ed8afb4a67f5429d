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

"""Options of the trusts with which effects act for users."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'trusts'

OPTS: list[cfg.Opt] = [
    cfg.ListOpt(
        'roles',
        default=['member', 'reader'],
        help='Roles that a user delegates with the trust of a lease, where something is created '
        "in the user's own name. The user must have each of them in the project of the lease. "
        'Change it where servers or stacks need another role, or where roles have other names.',
    ),
    cfg.IntOpt(
        'margin',
        default=2592000,
        min=3600,
        max=315360000,
        help='How many seconds after the end of a lease its trust expires in Keystone. The trust '
        'is deleted when the lease is over; this applies if it could not be deleted. When the '
        'owner of a lease prolongs it so far that less than half of this would be left, a new '
        'trust of the owner replaces it. Other users who prolong a lease have no trust of its '
        'owner: this must be long enough for what administrators prolong.',
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on *conf*."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts() -> dict[str, list[cfg.Opt]]:
    """Return the options by group."""
    return {GROUP: OPTS}
