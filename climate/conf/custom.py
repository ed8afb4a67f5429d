# SPDX-License-Identifier: Apache-2.0

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
    )
]
