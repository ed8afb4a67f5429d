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

from climate import exceptions
from climate.clock import Clock
from climate.manager.repair import Repair
from climate.threads import RepeatingThread

LOG = logging.getLogger(__name__)

# By up to this share of the interval managers look later than they could, so
# that not all of them ask at the same instant.
_JITTER = 0.1
_AWAY_PAUSE = 10.0
# So long after a claim was lost a repair is tried again while another is under way.
_SOON = 10.0


class RepairThread:
    """Repairs every so many seconds, unless another manager did.

    The first time is one interval after any manager was first started.

    :param interval: seconds between two repairs; 0 for never
    """

    def __init__(self, repair: Repair, clock: Clock, interval: float) -> None:
        self._repair = repair
        self._clock = clock
        self._interval = datetime.timedelta(seconds=interval)
        # Since when a repair has been wanted at once.
        self._wanted: datetime.datetime | None = None
        self._thread = RepeatingThread(
            'repair',
            self._step,
            failure='The repair failed; trying again at its next time',
            retry=interval,
        )

    def start(self) -> None:
        """Begin to wait for the first time."""
        if self._interval:
            self._thread.start()

    def stop(self) -> None:
        """Begin nothing more; what is under way is safe to be broken off."""
        self._thread.stop(0.0)

    def hasten(self) -> None:
        """Repair as soon as no other manager does.

        A manager that lost a claim within a call cannot say whether the call
        reached the cloud when another manager had the lease already. What it
        left is not to wait for the next time; without an interval it does.
        """
        self._wanted = self._clock.now()
        self._thread.wake()

    def _step(self) -> float:
        try:
            self.look()
            return self.pause()
        except exceptions.DatabaseUnavailable:
            return _AWAY_PAUSE

    def pause(self) -> float:
        """Return how long to sleep until it is time again, in seconds."""
        if self._wanted is not None:
            return _SOON
        begun_at = self._repair.begun_at() or self._clock.now()
        left = (begun_at + self._interval - self._clock.now()).total_seconds()
        jitter = random.random() * _JITTER * self._interval.total_seconds()
        return max(left, 0.0) + jitter

    def look(self) -> int:
        """Repair if it is time; return how many things were found."""
        found, wanted = 0, self._wanted
        try:
            since = self._clock.now() - self._interval if wanted is None else wanted
            for finding in self._repair.run(not_since=since):
                found += 1
                LOG.warning('Repair: %s: %s', finding.what, finding.done or 'left as it is')
                if self._thread.stopping:
                    break
        except exceptions.Conflict:
            LOG.debug('It is not time to repair, or another manager does')
        self._grant(wanted)
        return found

    def _grant(self, wanted: datetime.datetime | None) -> None:
        """Want nothing more if a repair was begun since, by any manager."""
        begun_at = self._repair.begun_at()
        if wanted is not None and begun_at is not None and begun_at >= wanted:
            self._wanted = None if self._wanted == wanted else self._wanted
