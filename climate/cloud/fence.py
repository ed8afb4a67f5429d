# SPDX-License-Identifier: Apache-2.0

"""A fence around a cloud: changes require a valid claim.

A manager works on a lease under a claim. The claim expires unless it is renewed, so
that another manager can continue. The database refuses the results of a lost claim,
but the cloud does not know about claims. Therefore each method that changes the cloud
first checks the age of the claim: the time since its last renewal was *sent*, on a
monotonic clock, see :meth:`climate.clock.Clock.ticks`.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any
from typing import Final

from climate import exceptions
from climate.cloud import deletions
from climate.cloud import sending
from climate.cloud.base import Cloud
from climate.cloud.deletions import Record
from climate.cloud.deletions import Recorded
from climate.cloud.read_only import is_read_only
from climate.cloud.wrapped import WrappedCloud
from climate.tracing import spans

Guard = Callable[[], None]

# The last part of a claim's duration, in which no request is started. A request that
# was sent earlier has this much time to arrive.
MARGIN: Final = 1 / 3


class ClaimLost(exceptions.ClimateError):
    """The claim has expired, and another manager may have it by now.

    The work stops without a result: no event is settled, no notification sent, no
    attempt counted. The manager that takes over finds out what was done.
    """

    template = 'The claim on %(what)s was not renewed in time'


class ClaimGuard:
    """Tells whether a claim is still valid. Thread-safe.

    :param what: the claimed object, for messages
    :param seconds: how long the claim is valid after a renewal was sent
    :param ticks: the monotonic clock
    :param since: when the claim was sent, on that clock
    """

    def __init__(self, what: str, seconds: float, ticks: Callable[[], float], since: float) -> None:
        self.what = what
        self._seconds = seconds
        self._ticks = ticks
        self._since = since
        self._lost = False
        self._lock = threading.Lock()

    def check(self) -> None:
        """Check that the claim is valid.

        :raises ClaimLost: if it is not, and at every call from then on
        """
        if not self.is_valid():
            raise ClaimLost(what=self.what)

    def is_valid(self) -> bool:
        """Whether the claim is valid; once it is not, it never is again."""
        with self._lock:
            self._lost = self._lost or self._ticks() - self._since >= self._seconds
            return not self._lost

    def renewed(self, since: float) -> None:
        """Extend the claim from *since*, when the renewal was sent.

        An expired claim stays lost: another manager may have had it and released it
        meanwhile.
        """
        if self.is_valid():
            with self._lock:
                self._since = max(self._since, since)

    def extended(self, since: float) -> None:
        """Extend the claim from *since*, when a transaction wrote its new end.

        The transaction had locked the claim, so that no other manager could have it
        meanwhile: it is extended even if it would have expired, unless a check has failed.
        """
        with self._lock:
            if not self._lost:
                self._since = max(self._since, since)

    def invalidate(self) -> None:
        """Invalidate the claim."""
        with self._lock:
            self._lost = True

    def age(self) -> float:
        """Return the seconds since the last renewal was sent."""
        with self._lock:
            return self._ticks() - self._since


class Fenced(WrappedCloud):
    """A cloud in a fence.

    Each method that changes the cloud calls the guard first, and in a real cloud again
    before each request. Read-only methods are passed through.

    :param guard: raises :class:`ClaimLost`
    :param record: called before each deletion, see :mod:`climate.cloud.deletions`
    """

    def __init__(self, cloud: Cloud, guard: Guard, record: Record) -> None:
        super().__init__(Recorded(cloud, record))
        self._guard = guard

    def _method(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        method: Callable[..., Any] = spans.traced(name, real)
        return method if is_read_only(name) else functools.partial(self._call, method)

    def _call(self, verb: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        self._guard()
        with sending.guarded(self._guard):
            return verb(*arguments, **named)


def watching(cloud: Cloud) -> Fenced:
    """Return a read-only cloud, whose other methods raise :class:`ClaimLost`."""

    def refuse() -> None:
        raise ClaimLost('A read-only cloud has no claim to change anything')

    return Fenced(cloud, refuse, deletions.log)
