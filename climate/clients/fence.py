# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""A fence around a cloud: changes require a valid claim.

A manager works on a lease under a claim. The claim expires unless it is renewed, so
that another manager can continue. The database refuses the results of a lost claim,
but the cloud does not know about claims. Therefore each method that changes the cloud
first checks the age of the claim: the time since its last renewal was *sent*, on a
monotonic clock, see :meth:`climate.clock.Clock.ticks`.
"""

from __future__ import annotations

import copy
import functools
import threading
from collections.abc import Callable
from typing import Any
from typing import Final

from climate import exceptions
from climate.clients import deletions
from climate.clients import sending
from climate.clients.base import Cloud
from climate.clients.deletions import Record
from climate.clients.deletions import Recorded
from climate.clients.rehearsal import looks
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

    error_name = 'CLAIM_LOST'
    template = 'The claim on %(what)s was not renewed in time'


class Hold:
    """A claim, while it is valid. Thread-safe.

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
        if not self.sure():
            raise ClaimLost(what=self.what)

    def sure(self) -> bool:
        """Whether the claim is valid; once it is not, it never is again."""
        with self._lock:
            self._lost = self._lost or self._ticks() - self._since >= self._seconds
            return not self._lost

    def renewed(self, since: float) -> None:
        """Extend the claim from *since*, when the renewal was sent.

        An expired claim stays lost: another manager may have had it and released it
        meanwhile.
        """
        if self.sure():
            with self._lock:
                self._since = max(self._since, since)

    def kept(self, since: float) -> None:
        """Extend the claim from *since*, when a transaction wrote its new end.

        The transaction had locked the claim, so that no other manager could have it
        meanwhile: it is extended even if it would have expired, unless a check has failed.
        """
        with self._lock:
            if not self._lost:
                self._since = max(self._since, since)

    def lose(self) -> None:
        """Invalidate the claim."""
        with self._lock:
            self._lost = True

    def age(self) -> float:
        """Return the seconds since the last renewal was sent."""
        with self._lock:
            return self._ticks() - self._since


class Fenced:
    """Implements :class:`climate.clients.base.Cloud`.

    Each method that changes the cloud calls the guard first, and in a real cloud again
    before each request. Read-only methods are passed through.

    :param guard: raises :class:`ClaimLost`
    :param record: called before each deletion, see :mod:`climate.clients.deletions`
    """

    def __init__(self, cloud: Cloud, guard: Guard, record: Record) -> None:
        self._cloud: Cloud = Recorded(cloud, record)
        self._guard = guard

    def acting_for(self, trust_id: str) -> Fenced:
        """Return the cloud as another user sees it, within the same fence."""
        return self._of(self._cloud.acting_for(trust_id))

    def of_caller(self, token: str) -> Fenced:
        """Return the cloud as a caller sees it, within the same fence."""
        return self._of(self._cloud.of_caller(token))

    def as_service(self) -> Fenced:
        """Return the cloud as the service user sees it, within the same fence."""
        return self._of(self._cloud.as_service())

    def _of(self, cloud: Cloud) -> Fenced:
        found = copy.copy(self)
        found._cloud = cloud
        return found

    @property
    def compute(self) -> Any:
        """Nova."""
        return _FencedService('compute', self._cloud.compute, self._guard)

    @property
    def placement(self) -> Any:
        """Placement."""
        return _FencedService('placement', self._cloud.placement, self._guard)

    @property
    def network(self) -> Any:
        """Neutron."""
        return _FencedService('network', self._cloud.network, self._guard)

    @property
    def volume(self) -> Any:
        """Cinder."""
        return _FencedService('volume', self._cloud.volume, self._guard)

    @property
    def image(self) -> Any:
        """Glance."""
        return _FencedService('image', self._cloud.image, self._guard)

    @property
    def orchestration(self) -> Any:
        """Heat."""
        return _FencedService('orchestration', self._cloud.orchestration, self._guard)

    @property
    def identity(self) -> Any:
        """Keystone."""
        return _FencedService('identity', self._cloud.identity, self._guard)


class _FencedService:
    def __init__(self, name: str, real: Any, guard: Guard) -> None:
        self._name = name
        self._real = real
        self._guard = guard

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        name = f'{self._name}.{verb}'
        found: Callable[..., Any] = spans.traced(name, getattr(self._real, verb))
        return found if looks(name) else functools.partial(self._call, found)

    def _call(self, verb: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        self._guard()
        with sending.guarded(self._guard):
            return verb(*arguments, **named)


def watching(cloud: Cloud) -> Fenced:
    """Return a read-only cloud, whose other methods raise :class:`ClaimLost`."""

    def refuse() -> None:
        raise ClaimLost('A read-only cloud has no claim to change anything')

    return Fenced(cloud, refuse, deletions.log)
