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

"""Options of offers."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'offers'

OPTS: list[cfg.Opt] = [
    cfg.MultiStrOpt(
        'price',
        default=[],
        metavar='RESOURCE_TYPE[/RESOURCE_CLASS]=PRICE',
        help='Price of an hour, for requests that prefer the cheapest offer: of a slot of a '
        'resource type, such as "custom:licence=4", or of a unit of one of its resource classes, '
        'such as "custom:licence/CUSTOM_SEAT=0.05". What has no price costs nothing. May be '
        'repeated, once for each price. Nothing is charged.',
    ),
    cfg.ListOpt(
        'price_factors',
        default=[],
        help='Factors by which prices change with the hour of the day in UTC, as FROM-TO=FACTOR, '
        'such as "0-6=0.5,20-24=0.8". The factor of all other hours is 1.',
    ),
]


def list_opts() -> dict[str, list[cfg.Opt]]:
    """Return the options by group."""
    return {GROUP: OPTS}


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on *conf*."""
    conf.register_opts(OPTS, group=GROUP)
