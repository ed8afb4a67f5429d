# SPDX-License-Identifier: Apache-2.0

"""Options of the audit trail."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'audit'

OPTS: list[cfg.Opt] = [
    cfg.BoolOpt(
        'enabled',
        default=False,
        help='Whether the API sends a CADF event for each request that can change something: the '
        'initiator, its address, the target, the outcome, and the object before and after.',
    ),
    cfg.ListOpt(
        'topics',
        default=[],
        help='Topics to which events are sent. Those of [oslo_messaging_notifications] if empty.',
    ),
    cfg.IntOpt(
        'max_waiting',
        default=1000,
        min=1,
        max=1_000_000,
        help='Number of events that a process keeps while they wait for the message bus. Further '
        'events, and those that the bus refuses, are written to the log.',
    ),
]
