# SPDX-License-Identifier: Apache-2.0

"""Repairs at intervals, one manager at a time."""

from __future__ import annotations

import datetime
import logging
import random

from climate import exceptions
from climate.clock import Clock
from climate.manager.periodic.repair import Repair
from climate.threads import RepeatingThread

LOG = logging.getLogger(__name__)

# Managers check later by up to this share of the interval, so that they do not all ask
# at the same instant.
_JITTER = 0.1
_AWAY_PAUSE = 10.0
# The pause before a repair after a lost claim is retried while another one is in progress.
_SOON = 10.0


class RepairThread:
    """Repairs at an interval, unless another manager has done so.

    The first repair comes one interval after the first start of any manager.

    :param interval: seconds between two repairs; 0 for never
    """

    def __init__(self, repair: Repair, clock: Clock, interval: float) -> None:
        self._repair = repair
        self._clock = clock
        self._interval = datetime.timedelta(seconds=interval)
        # When an immediate repair was requested.
        self._wanted: datetime.datetime | None = None
        self._thread = RepeatingThread(
            'repair',
            self._step,
            failure='The repair failed; trying again at its next time',
            retry=interval,
        )

    def start(self) -> None:
        """Start the thread, which waits for the first repair."""
        if self._interval:
            self._thread.start()

    def stop(self) -> None:
        """Start no other repair; the one in progress can safely be interrupted."""
        self._thread.stop(0.0)

    def run_soon(self) -> None:
        """Repair at once, or as soon as the repair of another manager has finished.

        If a manager loses a claim during a call, the call may reach the cloud after
        another manager has taken over. The result should not wait for the next regular
        repair. Without an interval, this method does nothing.
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
        """Return the time until the next check, in seconds."""
        if self._wanted is not None:
            return _SOON
        begun_at = self._repair.begun_at() or self._clock.now()
        left = (begun_at + self._interval - self._clock.now()).total_seconds()
        jitter = random.random() * _JITTER * self._interval.total_seconds()
        return max(left, 0.0) + jitter

    def look(self) -> int:
        """Repair if it is due; return the number of findings."""
        findings, wanted = 0, self._wanted
        try:
            since = self._clock.now() - self._interval if wanted is None else wanted
            for finding in self._repair.run(not_since=since):
                findings += 1
                LOG.warning('Repair: %s: %s', finding.what, finding.done or 'left as it is')
                if self._thread.stopping:
                    break
        except exceptions.Conflict:
            LOG.debug('No repair is due, or another manager is repairing')
        self._grant(wanted)
        return findings

    def _grant(self, wanted: datetime.datetime | None) -> None:
        """Drop the request if any manager has started a repair since."""
        begun_at = self._repair.begun_at()
        if wanted is not None and begun_at is not None and begun_at >= wanted:
            self._wanted = None if self._wanted == wanted else self._wanted
