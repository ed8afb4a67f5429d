# SPDX-License-Identifier: Apache-2.0

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
