# SPDX-License-Identifier: Apache-2.0

"""The options for emails about a lease, and for notifications before it starts."""

from __future__ import annotations

import argparse
import datetime
from typing import Any

from climate.client.osc import options

# Those of the API; the client does not load the service.
_KINDS = ('moved', 'before_start', 'started', 'yielding', 'before_end', 'degraded', 'error')
_NONE = 'none'
FIELDS = ('notices', 'notify_before_start')
"""The fields of a lease."""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        '--notice', dest='notices', action='append', choices=(*_KINDS, _NONE),
        help='Email notice for you (repeat for several; none for no notices)',
    )  # fmt: skip
    parser.add_argument(
        '--notify-before', dest='notify_before', action='append', metavar='DURATION',
        type=_before,
        help='Send a notification so long before the start, such as 15m (repeat for several; '
        'none for no notifications). Times that are past are skipped',
    )  # fmt: skip


def fields(parsed: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of the lease that the options describe."""
    wanted: dict[str, Any] = {}
    if parsed.notices:
        wanted['notices'] = [kind for kind in parsed.notices if kind != _NONE]
    if parsed.notify_before:
        times = (one for one in parsed.notify_before if one is not None)
        wanted['notify_before_start'] = [int(one.total_seconds()) for one in times]
    return wanted


def _before(text: str) -> datetime.timedelta | None:
    """Return the duration of an option, or None for no notification, for argparse."""
    return None if text == _NONE else options.duration(text)
