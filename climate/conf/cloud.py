# SPDX-License-Identifier: Apache-2.0

"""The cloud that managers use."""

from __future__ import annotations

from oslo_config import cfg

REAL = 'real'
SIMULATED = 'simulated'

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
        ],
        help='The cloud in which managers start and end leases.',
    )
]
