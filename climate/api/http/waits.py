# SPDX-License-Identifier: Apache-2.0

"""Requests that wait until a lease is settled: the preference ``wait`` of RFC 7240.

A waiting request takes a thread of the server, so only a few may wait at once, and not all of
them of one project. It has no transaction open, and reads one row after growing pauses. It
does not count among the requests of its project that are carried out at once.
"""

from __future__ import annotations

import collections
import re
import threading
import time
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any
from typing import Final

from climate import exceptions
from climate.api.http.microversions import V1_4

ENVIRON_KEY: Final = 'HTTP_PREFER'

_WAIT = re.compile(r'\s*wait\s*=\s*(?:"([0-9]+)"|([0-9]+))\s*(?:;.*)?', re.ASCII | re.IGNORECASE)
_MOST_DIGITS: Final = 9
_FIRST_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 1.0
_GROWTH: Final = 1.5


def seconds(header: str) -> int:
    """Return the seconds of the first preference ``wait`` in a header; 0 if there is none.

    What cannot be read is ignored, as RFC 7240 demands.
    """
    for preference in header.split(','):
        match = _WAIT.fullmatch(preference)
        if match is not None:
            digits = (match[1] or match[2]).lstrip('0') or '0'
            return int(digits) if len(digits) <= _MOST_DIGITS else 10**_MOST_DIGITS
    return 0


class Waits:
    """The requests of a process that wait for leases.

    :param longest: seconds that one waits at most; 0 for never
    :param most: how many wait at once; one project may have half of them, but at least one
    :param pause: sleeps for seconds
    :param ticks: returns the seconds since a fixed instant
    """

    def __init__(
        self,
        longest: int = 0,
        most: int = 0,
        pause: Callable[[float], None] = time.sleep,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self._longest = longest
        self._most = most
        self._lock = threading.Lock()
        self._waiting: dict[str, int] = collections.Counter()
        self._pause = pause
        self._ticks = ticks

    @classmethod
    def from_conf(cls, conf: Any) -> Waits:
        """Return those that *conf* (an oslo.config ConfigOpts) allows."""
        return cls(conf.api.max_wait, conf.api.max_waiting_requests)

    def wanted(self, environ: Mapping[str, Any]) -> int:
        """Return how many seconds a request wants to wait, and may; 0 for none."""
        header = environ.get(ENVIRON_KEY)
        if header is None or environ['climate.microversion'] < V1_4:
            return 0
        return min(seconds(header), self._longest)

    def wait(self, wanted: int, settled: Callable[[], bool], project_id: str = '') -> bool | None:
        """Wait until *settled* is true, for at most *wanted* seconds.

        :param project_id: of the caller
        :returns: whether it is; None, at once, if too many others wait, or if the database
            does not answer: what the request has done is done
        """
        if not self._enter(project_id):
            return None
        try:
            return self._watch(wanted, settled)
        except exceptions.ServiceUnavailable:
            return None
        finally:
            self._leave(project_id)

    def _enter(self, project_id: str) -> bool:
        """Whether a request of a project may wait; count it if so."""
        with self._lock:
            own = self._waiting[project_id]
            if sum(self._waiting.values()) >= self._most or own >= max(1, self._most // 2):
                return False
            self._waiting[project_id] += 1
            return True

    def _leave(self, project_id: str) -> None:
        with self._lock:
            self._waiting[project_id] -= 1
            if not self._waiting[project_id]:
                del self._waiting[project_id]

    def _watch(self, wanted: int, settled: Callable[[], bool]) -> bool:
        deadline, pause = self._ticks() + wanted, _FIRST_PAUSE
        while not settled():
            left = deadline - self._ticks()
            if left <= 0:
                return False
            self._pause(min(pause, left))
            pause = min(pause * _GROWTH, _LONGEST_PAUSE)
        return True
