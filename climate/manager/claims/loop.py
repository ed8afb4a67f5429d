# SPDX-License-Identifier: Apache-2.0

"""The claim loop of a manager: processes due leases in batches.

One thread claims and begins, one settles, and the workers perform effects and process the
leases that a batch cannot handle. While both threads have work, a batch grows in the time
that the previous one takes, so the load determines the size of batches.
"""

from __future__ import annotations

import datetime
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from collections.abc import Iterable
from concurrent import futures
from typing import Any
from typing import Final

from climate import exceptions
from climate.clock import Clock
from climate.domain import events
from climate.manager.claims.claims import ClaimKeeper
from climate.manager.claims.due_queue import Claimed
from climate.manager.claims.due_queue import DueQueue
from climate.manager.claims.pipeline import BegunJob
from climate.manager.claims.pipeline import FinishedJob
from climate.manager.claims.pipeline import Pipeline
from climate.manager.claims.worker import Worker

AWAY_PAUSE: Final = 1.0
"""The interval between two attempts while the database is unavailable, in seconds."""

# A due lease that could not be claimed is locked, by a change or by another manager that
# is claiming it. The loop retries at once, and then after pauses that start with the
# first of these and double.
_LOCKED_PAUSE: Final = 0.01
_LONGEST_LOCKED_PAUSE: Final = 1.0


class LockedPauses:
    """Pauses that grow while a loop finds leases that are due, but cannot claim them."""

    def __init__(self) -> None:
        # The number of consecutive queries that have claimed nothing.
        self._unclaimed = 0

    def after(self, left: float, claimed: int) -> float:
        """Return the pause after a query, in seconds.

        :param left: the time until the next lease is due, in seconds; 0 or less if one
            is due now
        :param claimed: the number of leases that the query has claimed
        """
        if left > 0:
            self._unclaimed = 0
            return left
        self._unclaimed = 0 if claimed else self._unclaimed + 1
        if self._unclaimed <= 1:
            return 0.0
        pause = events.backoff(self._unclaimed - 1, _LOCKED_PAUSE, _LONGEST_LOCKED_PAUSE)
        return pause.total_seconds()


LOG = logging.getLogger(__name__)

# The time in which workers become free together if all were busy, in seconds.
_GATHERING_PAUSE = 0.005
# A lease that was processed alone may be due again soon. The loop looks for it after this
# pause, so that one query serves many such leases.
_PAUSE = 0.05
# How long effects that have run wait at most while other leases begin, in seconds. Starts
# are then less late, and more is settled in one transaction.
_SETTLED_WITHIN = 0.05
# No more is claimed while so many jobs for each worker have not been settled yet.
_UNSETTLED = 2
# How many leases are processed alone concurrently. While it writes, each takes a connection
# to the database, of which a server does not have many.
_MOST_ALONE = 16


class ClaimLoop:
    """Claims due leases and processes them in batches.

    :param workers: the number of effects that run concurrently
    :param max_sleep: the longest interval between two queries, in seconds
    """

    def __init__(
        self,
        clock: Clock,
        claims: ClaimKeeper,
        queue: DueQueue,
        pipeline: Pipeline,
        worker: Worker,
        *,
        workers: int,
        max_sleep: float,
    ) -> None:
        self._clock = clock
        self._claims = claims
        self._queue = queue
        self._pipeline = pipeline
        self._worker = worker
        self._workers = workers
        self._max_sleep = max_sleep
        # Protects everything below.
        self._lock = threading.Lock()
        # The threads wait for these: a thread that is woken for no reason delays the others.
        self._to_begin = threading.Condition(self._lock)
        self._to_settle = threading.Condition(self._lock)
        self._stopping = False
        # The time of the next query, on the monotonic clock.
        self._look_at = 0.0
        self._pauses = LockedPauses()
        # Whether something may be due that no worker is free for.
        self._starved = False
        # Whether the last claim has left something due, for which no pause was made yet.
        self._backlog = False
        # The number of leases that are being begun, performed, or processed alone.
        self._busy = 0
        # Whether leases are being claimed or begun.
        self._beginning = False
        # The number of jobs that are being settled.
        self._settling = 0
        self._again: deque[str] = deque()
        self._finished: deque[FinishedJob] = deque()
        self._pool = futures.ThreadPoolExecutor(workers, thread_name_prefix='effect')
        self._alone = futures.ThreadPoolExecutor(
            min(workers, _MOST_ALONE), thread_name_prefix='alone'
        )
        self._threads = [
            threading.Thread(target=self._run, args=(step,), name=name, daemon=True)
            for name, step in (('begin', self._begin_next), ('settle', self._settle_next))
        ]

    def start(self) -> None:
        """Start claiming leases; does not block."""
        for thread in self._threads:
            thread.start()

    def is_alive(self) -> bool:
        """Whether the threads run that claim and settle leases."""
        return all(thread.is_alive() for thread in self._threads)

    def stop(self, timeout: float) -> None:
        """Stop claiming, and wait at most *timeout* seconds for work in progress."""
        deadline = time.monotonic() + timeout
        with self._lock:
            self._stopping = True
            self._wake_both()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(max(deadline - time.monotonic(), 0.0))
        # Waiting for the pools themselves could take as long as an effect.
        for pool in (self._pool, self._alone):
            pool.shutdown(wait=False)

    def wake(self) -> None:
        """Query at once, because something may be due earlier than planned."""
        self._look_within(0.0)

    def _look_within(self, seconds: float) -> None:
        at = time.monotonic() + seconds
        with self._lock:
            if at < self._look_at:
                self._look_at = at
                self._to_begin.notify()

    def _look_at_due(self, due: datetime.datetime | None) -> None:
        """Query when a lease that was released just now is due again."""
        if due is not None:
            self._look_within(max((due - self._clock.now()).total_seconds(), 0.0))

    def _run(self, step: Callable[[], bool]) -> None:
        """Repeat a step until it returns False."""
        while True:
            try:
                if not step():
                    return
            except exceptions.DatabaseUnavailable:
                # The store logs why, once a minute.
                LOG.debug('Retrying in %s s', AWAY_PAUSE, exc_info=True)
                self._look_within(AWAY_PAUSE)
            except Exception:
                LOG.exception('The claim loop failed; retrying in %s s', AWAY_PAUSE)
                self._look_within(AWAY_PAUSE)

    # -- the thread that begins

    def _begin_next(self) -> bool:
        """Wait for something to begin, and begin it; return False once all is done."""
        with self._lock:
            while (pause := self._pause()) > 0:
                if self._is_done():
                    return False
                self._to_begin.wait(None if pause == math.inf else pause)
            free = self._free()
            ids = [self._again.popleft() for _ in range(min(free, len(self._again)))]
            self._busy += len(ids)
            looks = not self._stopping and self._look_at <= time.monotonic()
            if looks:
                # Reset before the query, so that wake-ups during the query count.
                self._look_at = math.inf
            self._beginning = True
        try:
            self._begin(ids)
            if looks:
                self._look()
        finally:
            with self._lock:
                self._beginning = False
                self._to_settle.notify()
        return True

    def _pause(self) -> float:
        """Return how long to wait before something can begin, in seconds."""
        free = self._free()
        if self._again and free:
            return 0.0
        if self._stopping:
            return math.inf
        left = self._look_at - time.monotonic()
        if left > 0:
            return left
        # Of a backlog, a small batch takes as many statements as a large one would soon.
        small = self._backlog and 2 * free < self._workers
        if not free or (small and self._settling and 2 * self._busy < self._workers):
            self._starved = True
            return math.inf
        if small:
            self._backlog = False
            return _GATHERING_PAUSE
        return left

    def _free(self) -> int:
        """Return how many leases can be claimed now."""
        unsettled = self._settling + len(self._finished)
        most = min(self._workers, _UNSETTLED * self._workers - unsettled)
        return max(most - self._busy, 0)

    def _is_done(self) -> bool:
        """Whether the loop is stopping, and has no work in progress."""
        begins = self._beginning or self._busy or self._again
        settles = self._settling or self._finished
        return self._stopping and not (begins or settles)

    def _look(self) -> None:
        """Claim what is due, and begin it."""
        with self._lock:
            free = self._free()
            self._starved = not free
        if not free:
            return
        claimed = self._queue.claim(free)
        with self._lock:
            self._busy += len(claimed.ids)
            self._backlog = claimed.more
        self._look_within(self._until_next(claimed))
        self._begin(claimed.ids)

    def _until_next(self, claimed: Claimed) -> float:
        """Return the time until the next query, in seconds."""
        left = math.inf
        if claimed.more:
            left = 0.0
        elif claimed.due is not None:
            left = (claimed.due - self._clock.now()).total_seconds()
        return min(self._pauses.after(left, len(claimed.ids)), self._max_sleep)

    def _begin(self, lease_ids: list[str]) -> None:
        if not lease_ids:
            return
        begun = self._pipeline.begin(lease_ids)
        for job in begun.jobs:
            _submit(self._pool, self._perform, job)
        for lease_id in begun.alone:
            _submit(self._alone, self._work_alone, lease_id)
        self._release(begun.over)
        self._set_free(len(begun.over))
        self._look_at_due(begun.due)

    # -- the workers

    def _perform(self, begun: BegunJob) -> None:
        finished = None
        try:
            finished = self._pipeline.perform(begun)
        finally:
            if finished is None:
                self._release([begun.lease_id])
            self._set_free(1, finished)

    def _work_alone(self, lease_id: str) -> None:
        try:
            self._worker.work(lease_id)
        finally:
            self._release([lease_id])
            self._set_free(1)
            self._look_within(_PAUSE)

    def _settle_alone(self, finished: FinishedJob) -> None:
        begun = finished.begun
        try:
            self._worker.settle(begun.guard, begun.job, finished.report)
        finally:
            self._release([begun.lease_id])
            self._set_free(1)
            self._look_within(_PAUSE)

    def _set_free(self, count: int, finished: FinishedJob | None = None) -> None:
        """Set workers free, and have the other threads notice."""
        with self._lock:
            self._busy -= count
            if finished is not None:
                self._finished.append(finished)
                if len(self._finished) == 1 or len(self._finished) >= self._workers:
                    self._to_settle.notify()
            if self._starved and self._free():
                self._starved = False
                self._look_at = time.monotonic() + _GATHERING_PAUSE
                self._to_begin.notify()
            elif self._again:
                self._to_begin.notify()
            if self._stopping:
                self._wake_both()

    def _wake_both(self) -> None:
        self._to_begin.notify()
        self._to_settle.notify()

    def _release(self, lease_ids: Iterable[str]) -> None:
        """Forget claims, unless the leases were claimed again meanwhile."""
        again = [lease_id for lease_id in lease_ids if not self._claims.forget(lease_id)]
        if again:
            with self._lock:
                self._again.extend(again)
                self._to_begin.notify()

    # -- the thread that settles

    def _settle_next(self) -> bool:
        """Wait for effects that have run, and settle them; return False once all is done."""
        with self._lock:
            while not self._finished:
                if self._is_done():
                    self._to_begin.notify()
                    return False
                self._to_settle.wait()
            self._to_settle.wait_for(self._settles_now, _SETTLED_WITHIN)
            most = min(self._workers, len(self._finished))
            finished = [self._finished.popleft() for _ in range(most)]
            self._settling = most
        try:
            self._settle(finished)
        finally:
            with self._lock:
                self._settling = 0
            self._set_free(0)
        return True

    def _settles_now(self) -> bool:
        """Whether nothing begins, or a whole batch has finished."""
        return not self._beginning or len(self._finished) >= self._workers

    def _settle(self, finished: list[FinishedJob]) -> None:
        settled = self._pipeline.settle(finished)
        with self._lock:
            self._busy += len(settled.alone)
            self._again.extend(settled.again)
        for each in settled.alone:
            _submit(self._alone, self._settle_alone, each)
        self._release(settled.over)
        self._look_at_due(settled.due)


def _submit(pool: futures.Executor, work: Callable[[Any], None], argument: Any) -> None:
    """Have a thread of *pool* do *work*, if need be once another thread is free."""
    try:
        pool.submit(work, argument)
    except RuntimeError as error:
        # The work is queued. The others of a batch must not be lost either: their claims
        # would be renewed forever.
        LOG.warning('A worker cannot be started: %s', error)
