# SPDX-License-Identifier: Apache-2.0

"""The resource types to serve."""

from __future__ import annotations

from oslo_config import cfg

OPTS: list[cfg.Opt] = [
    cfg.ListOpt(
        'resource_types',
        default=['physical:host'],
        help='Resource types to serve, by the names of their entry points in '
        'climate.resource_types. A type that is unknown or cannot be loaded stops the process.',
    )
]
