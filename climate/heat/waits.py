# SPDX-License-Identifier: Apache-2.0

"""What the status of a lease means for a stack, and when to look at it."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any
from typing import Final

from keystoneauth1 import exceptions as auth_exceptions
from openstack import exceptions

from climate.client import times
from climate.clock import Clock
from climate.heat import bodies

BOOKED: Final = 'BOOKED'
ACTIVE: Final = 'ACTIVE'
WAITING: Final = 'WAITING'
"""Of a lease without a booking."""
CHANGING: Final = frozenset({'STARTING', 'UPDATING'})
"""In these states the service is at work, and refuses changes."""
OVER: Final = frozenset({'TERMINATED', 'ERROR', 'DELETING'})
"""Of such a lease nothing can be used any more."""

# A lease far ahead can still be changed or deleted, so that it is read now and then.
LONG: Final = 15.0
"""The longest pause between two looks at a lease, in seconds."""
SHORT: Final = 1.0
"""The shortest one."""

# The service answers like this while it starts or restarts, or asks for fewer requests.
_PASSING: Final = frozenset({429, 500, 502, 503, 504})


def reached(status: str, wait_for: str) -> bool:
    """Return whether a lease is as far as the template wants.

    :param wait_for: BOOKED or ACTIVE
    """
    return status == ACTIVE or (wait_for == BOOKED and status in (bodies.PENDING, 'STARTING'))


def passes(error: Exception) -> bool:
    """Return whether a request that failed may succeed if it is sent again."""
    if isinstance(error, exceptions.HttpException):
        return error.status_code in _PASSING
    return isinstance(error, auth_exceptions.ConnectionError)


def pause(lease: Mapping[str, Any], now: datetime.datetime) -> float:
    """Return the seconds until the next look at a lease.

    :param now: aware UTC
    """
    if lease.get('status') == WAITING:
        # Its dates are those of a booking that it does not have.
        return LONG
    left = (times.read(lease['start_date']) - now).total_seconds()
    return min(LONG, max(SHORT, left))


class Pace:
    """Says when to look at a lease again: Heat asks every second.

    :param clock: measures the pauses
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._next = clock.ticks()

    def is_due(self) -> bool:
        """Return whether the pause is over."""
        return self._clock.ticks() >= self._next

    def rest(self, seconds: float) -> None:
        """Begin a pause."""
        self._next = self._clock.ticks() + seconds
