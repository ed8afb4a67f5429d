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

"""Looks at what a process depends on, seldom and never at the same thing twice at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from collections.abc import Mapping

from oslo_log import log as logging

from climate import exceptions

LOG = logging.getLogger(__name__)

SECONDS = 1.0
PATIENCE = 10.0

Checks = Mapping[str, Callable[[], None]]


class Probes:
    """Makes checks for anybody who asks, with or without a token.

    A result serves for a second, and while the next one is being found out,
    however many ask meanwhile. What takes longer than ten seconds is not well.

    :param checks: by name; each raises if what it looks at does not work
    :param ticks: the seconds that have passed since some instant
    """

    def __init__(self, checks: Checks, ticks: Callable[[], float] = time.monotonic) -> None:
        self._checks = checks
        self._ticks = ticks
        # One that hangs keeps no other from being made.
        self._locks = {name: threading.Lock() for name in checks}
        self._begun: dict[str, float] = {}
        self._found: dict[str, tuple[bool, float]] = {}

    def well(self, name: str) -> bool:
        """Whether a check passed when it was made last.

        :raises KeyError: if there is no such check
        """
        lock, before = self._locks[name], self._found.get(name)
        if before is not None and self._ticks() - before[1] < SECONDS:
            return before[0]
        # Only who has nothing to go by waits for those who look.
        if not lock.acquire(timeout=PATIENCE if before is None else 0):
            # What hangs fails, though nobody knows yet how.
            since = self._begun.get(name, self._ticks())
            return before is not None and before[0] and self._ticks() - since < PATIENCE
        try:
            self._begun[name] = self._ticks()
            found = self._found.get(name)
            if found is None or self._ticks() - found[1] >= SECONDS:
                found = self._passes(name), self._ticks()
                self._found[name] = found
            return found[0]
        finally:
            lock.release()

    def _passes(self, name: str) -> bool:
        try:
            self._checks[name]()
        except Exception as error:
            # Texts of drivers hold addresses, sometimes passwords; ours hold no secrets.
            ours = isinstance(error, exceptions.ClimateError)
            reason = str(error) if ours else type(error).__name__
            LOG.warning('Health check %s failed: %s', name, reason)
            return False
        return True
