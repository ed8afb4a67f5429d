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

"""Repairs now and then, one manager at a time."""

from __future__ import annotations

import datetime
import logging
import random
import threading

from climate import exceptions
from climate.clock import Clock
from climate.manager.repair import Repair

LOG = logging.getLogger(__name__)

# By up to this share of the interval managers look later than they could, so
# that not all of them ask at the same instant.
_JITTER = 0.1
_AWAY_PAUSE = 10.0


class RepairThread:
    """Repairs every so many seconds, unless another manager did.

    The first time is one interval after any manager was first started.

    :param interval: seconds between two repairs; 0 for never
    """

    def __init__(self, repair: Repair, clock: Clock, interval: float) -> None:
        self._repair = repair
        self._clock = clock
        self._interval = datetime.timedelta(seconds=interval)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name='repair', daemon=True)

    def start(self) -> None:
        """Begin to wait for the first time."""
        if self._interval:
            self._thread.start()

    def stop(self) -> None:
        """Begin nothing more; what is under way is safe to be broken off."""
        self._stopping.set()

    def _run(self) -> None:
        pause = 0.0
        while not self._stopping.wait(pause):
            try:
                self.look()
                pause = self.pause()
            except exceptions.DatabaseUnavailable:
                pause = _AWAY_PAUSE
            except Exception:
                LOG.exception('The repair failed; trying again at its next time')
                pause = self._interval.total_seconds()

    def pause(self) -> float:
        """Return how long to sleep until it is time again, in seconds."""
        begun_at = self._repair.begun_at() or self._clock.now()
        left = (begun_at + self._interval - self._clock.now()).total_seconds()
        jitter = random.random() * _JITTER * self._interval.total_seconds()
        return max(left, 0.0) + jitter

    def look(self) -> int:
        """Repair if it is time; return how many things were found."""
        found = 0
        try:
            for finding in self._repair.run(not_since=self._clock.now() - self._interval):
                found += 1
                LOG.warning('Repair: %s: %s', finding.what, finding.done or 'left as it is')
                if self._stopping.is_set():
                    break
        except exceptions.Conflict:
            LOG.debug('It is not time to repair, or another manager does')
        return found
