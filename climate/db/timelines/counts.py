# SPDX-License-Identifier: Apache-2.0

"""Counters of timelines: what they cost a process, and how often they were out of date."""

from __future__ import annotations

import enum
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from collections.abc import Mapping
from typing import Final

from climate.metrics import catalogue
from climate.metrics import recording

LOG = logging.getLogger(__name__)

_PAUSE: Final = 600.0


class TimelineEvent(enum.StrEnum):
    """What is counted."""

    LOADED = 'loaded'
    """Timelines that were read as a whole."""
    VALIDATED = 'validated'
    """Timelines that were compared with the generations in the database."""
    RELOADED = 'reloaded'
    """Resources that had changed and were read again."""
    WON = 'won'
    """Bookings of resources that were chosen from a timeline."""
    LOST = 'lost'
    """Choices from a timeline that another booking has invalidated before the commit."""


class TimelineCounts:
    """Counters since the process has started; for many threads.

    A summary is logged, at most every ten minutes.

    :param ticks: returns the seconds since a fixed instant
    """

    def __init__(self, ticks: Callable[[], float] = time.monotonic) -> None:
        self._ticks = ticks
        self._lock = threading.Lock()
        self._counted: Counter[TimelineEvent] = Counter()
        self._announced = ticks()

    def add(self, what: TimelineEvent, number: int = 1) -> None:
        """Count an event."""
        recording.count(catalogue.TIMELINES, what.value, number=number)
        with self._lock:
            self._counted[what] += number
            due = self._ticks() - self._announced >= _PAUSE
            if due:
                self._announced = self._ticks()
        if due:
            found = ', '.join(f'{number} {name}' for name, number in self.found.items())
            LOG.info('Timelines: %s', found)

    @property
    def found(self) -> Mapping[str, int]:
        """All counters by name, also those at 0."""
        return {what.value: self._counted[what] for what in TimelineEvent}
