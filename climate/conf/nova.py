# SPDX-License-Identifier: Apache-2.0

"""Options of Nova: the freepool, images of servers, and microversions."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'nova'

OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'aggregate_freepool_name',
        default='freepool',
        help='Name of the aggregate that holds the reservable hosts while they are not leased. '
        "Nova's scheduler filter must be configured with the same name.",
    ),
    cfg.StrOpt(
        'image_prefix',
        default='reserved_',
        help='Prefix of the names of the images that Climate makes of servers before a lease '
        'ends; the name of the server follows.',
    ),
    cfg.BoolOpt(
        'az_aware',
        default=True,
        help='Whether to read the availability zone of a host when it is registered.',
    ),
    cfg.StrOpt(
        'compute_api_microversion',
        default='2.53',
        regex=r'^2\.\d+$',
        help='Microversion of the compute API for hypervisors, services and aggregates, from 2.53 '
        'to 2.87: older versions lack unique ids of hypervisors, newer ones lack their sizes. '
        'Other requests use fixed microversions.',
    ),
]
