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

"""Sleeps until something is due, claims it and passes it to the workers."""

from __future__ import annotations

import datetime
import logging
import math
import threading
import time
from concurrent import futures

from climate import exceptions
from climate.clock import Clock
from climate.manager.claims import ClaimKeeper
from climate.manager.pauses import AWAY_PAUSE
from climate.manager.pauses import LockedPauses
from climate.manager.worker import Worker

LOG = logging.getLogger(__name__)

# A lease may be due again soon after a worker has settled an event. The loop looks for
# it after these pauses, in seconds, so that one query serves many leases that are
# settled at the same time: the first if all workers were busy, the second otherwise.
_SHORT_PAUSE = 0.005
_PAUSE = 0.05


class Loop:
    """The claim loop of one manager.

    Workers and wake-ups schedule its next query for different instants, of which it keeps
    the earliest.

    :param workers: the number of leases that are processed concurrently
    :param max_sleep: the longest interval between two queries, in seconds
    """

    def __init__(
        self,
        clock: Clock,
        claims: ClaimKeeper,
        worker: Worker,
        *,
        workers: int,
        max_sleep: float,
    ) -> None:
        self._clock = clock
        self._claims = claims
        self._worker = worker
        self._max_sleep = max_sleep
        self._workers = workers
        self._free = workers
        self._lock = threading.Lock()
        self._idle = threading.Condition(self._lock)
        self._changed = threading.Condition()
        # The time of the next query, on the monotonic clock.
        self._look_at = 0.0
        self._pauses = LockedPauses()
        self._stopping = False
        self._pool = futures.ThreadPoolExecutor(workers, thread_name_prefix='lease')
        self._thread = threading.Thread(target=self._run, name='loop', daemon=True)

    def start(self) -> None:
        """Start claiming leases; does not block."""
        self._thread.start()

    def is_alive(self) -> bool:
        """Whether the thread runs that claims leases."""
        return self._thread.is_alive()

    def stop(self, timeout: float) -> None:
        """Stop claiming, and wait at most *timeout* seconds for work in progress."""
        self._stopping = True
        self.wake()
        if self._thread.is_alive():
            self._thread.join(timeout=timeout)
        # Waiting for the pool itself could take as long as an effect.
        self._pool.shutdown(wait=False)
        with self._idle:
            self._idle.wait_for(lambda: self._free == self._workers, timeout)

    def wake(self) -> None:
        """Query at once, because something may be due earlier than planned."""
        self._look_within(0.0)

    def _look_within(self, seconds: float) -> None:
        at = time.monotonic() + seconds
        with self._changed:
            if at < self._look_at:
                self._look_at = at
                self._changed.notify()

    def _run(self) -> None:
        while not self._stopping:
            # Reset before the query, so that wake-ups during the query count.
            self._look_at = math.inf
            try:
                pause = self._look()
            except exceptions.DatabaseUnavailable:
                # The store logs why, once a minute.
                LOG.debug('Retrying in %s s', AWAY_PAUSE, exc_info=True)
                pause = AWAY_PAUSE
            except Exception:
                LOG.exception('The claim loop failed; retrying in %s s', AWAY_PAUSE)
                pause = AWAY_PAUSE
            self._look_within(pause)
            self._sleep()

    def _sleep(self) -> None:
        with self._changed:
            while (left := self._look_at - time.monotonic()) > 0 and not self._stopping:
                self._changed.wait(left)

    def _look(self) -> float:
        """Claim what is due; return the time to sleep, in seconds."""
        free = self._spare()
        if not free:
            return self._max_sleep
        claimed, due = self._claims.take_and_look(free)
        for lease_id in claimed:
            self._occupy()
            self._pool.submit(self._work, lease_id)
        if len(claimed) == free:
            # More may be due; the next free worker wakes the loop.
            return self._max_sleep
        return min(self._until(due, len(claimed)), self._max_sleep)

    def _until(self, due: datetime.datetime | None, claimed: int) -> float:
        left = math.inf if due is None else (due - self._clock.now()).total_seconds()
        return self._pauses.after(left, claimed)

    def _work(self, lease_id: str) -> None:
        try:
            self._worker.work(lease_id)
            while not self._claims.forget(lease_id):
                self._worker.work(lease_id)
        finally:
            with self._idle:
                self._free += 1
                starved = self._free == 1
                self._idle.notify_all()
            self._look_within(_SHORT_PAUSE if starved else _PAUSE)

    def _occupy(self) -> None:
        with self._lock:
            self._free -= 1

    def _spare(self) -> int:
        with self._lock:
            return self._free
