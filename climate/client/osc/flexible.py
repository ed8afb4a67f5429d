# SPDX-License-Identifier: Apache-2.0

"""Options with which ``openstack lease set`` changes when a flexible lease may be."""

from __future__ import annotations

import argparse
import datetime
from typing import Any
from typing import Final

from osc_lib import exceptions

from climate.client.osc import options
from climate.domain import periods

_ANY: Final = 'none'


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        '--soon', action='store_true', help='Make it flexible: start as soon as there are resources'
    )
    which.add_argument(
        '--not-before', metavar='TIME', type=options.start, help='Likewise, but not before'
    )
    which.add_argument(
        '--fixed', action='store_true', help='Fix the start of a flexible lease where it is'
    )
    parser.add_argument(
        '--by',
        metavar='TIME',
        type=_instant,
        help=f'New latest end of a flexible lease; {_ANY} for any',
    )
    parser.add_argument(
        '--wait-until',
        metavar='TIME',
        type=_instant,
        help='Until when a lease that waits for room does so at most; '
        f'{_ANY} for as long as it can begin',
    )
    parser.add_argument(
        '--firm-before',
        metavar='DURATION',
        type=_firm,
        help='How long before its start a flexible lease stops moving, if operators have not set '
        f'more; {_ANY} for what they have set',
    )


def fields(parsed: argparse.Namespace, microversion: str) -> dict[str, Any]:
    """Return the fields of a change.

    :raises osc_lib.exceptions.CommandError: if they do not fit together
    """
    window: dict[str, Any] = {}
    if parsed.soon:
        window['earliest'] = periods.NOW
    if parsed.not_before:
        window['earliest'] = options.written(parsed.not_before, microversion)
    if parsed.fixed:
        window['earliest'] = None
    if parsed.by:
        window['latest'] = _written(parsed.by, microversion)
    if parsed.wait_until:
        window['wait_until'] = _written(parsed.wait_until, microversion)
    if parsed.firm_before:
        window['firm_before'] = _seconds(parsed.firm_before)
    if window and (parsed.at or parsed.until):
        raise exceptions.CommandError(
            '--soon, --not-before, --by, --wait-until, --firm-before and --fixed exclude --at and '
            '--until, which fix the start'
        )
    return window


def _instant(text: str) -> datetime.datetime | str:
    return _ANY if text.strip() == _ANY else options.instant(text)


def _written(time: datetime.datetime | str, microversion: str) -> str | None:
    return None if isinstance(time, str) else options.written(time, microversion)


def _firm(text: str) -> datetime.timedelta | str:
    return _ANY if text.strip() == _ANY else options.duration(text)


def _seconds(length: datetime.timedelta | str) -> int:
    # Operators' notice is the shortest, so that no time at all requests that.
    return 0 if isinstance(length, str) else int(length.total_seconds())
