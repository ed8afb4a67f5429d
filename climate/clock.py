# SPDX-License-Identifier: Apache-2.0

"""The only module that reads the clock.

All other code receives an instant or a :class:`Clock`, so that tests can move time,
and the clocks of two processes can be compared.
"""

from __future__ import annotations

import datetime
import functools
import threading
import time
from typing import Final
from typing import Protocol

# CLOCK_MONOTONIC stops while Linux is suspended, but claims continue to expire, because
# other managers keep running. It is the fallback on systems without CLOCK_BOOTTIME.
_TICKING: Final = getattr(time, 'CLOCK_BOOTTIME', time.CLOCK_MONOTONIC)


class Clock(Protocol):
    """A source of the present instant and of elapsed time."""

    def now(self) -> datetime.datetime:
        """Return the present instant as an aware UTC datetime."""

    def ticks(self) -> float:
        """Return the seconds since a fixed instant; setting the clock has no effect."""

    def processor(self) -> float:
        """Return the processor time that the thread has used, in seconds."""


class SystemClock:
    """The clock of the machine."""

    now = staticmethod(functools.partial(datetime.datetime.now, datetime.UTC))
    """Return the present instant as an aware UTC datetime."""

    ticks = staticmethod(functools.partial(time.clock_gettime, _TICKING))
    """Return the seconds since the machine was booted, including suspended time."""

    processor = staticmethod(time.thread_time)
    """Return the processor time that the thread has used, in seconds."""


class SteadyClock:
    """A clock that does not step when the clock of the machine does.

    It continues with the monotonic clock, until it is corrected.
    """

    def __init__(self, source: Clock) -> None:
        self._source = source
        # One attribute, so that other threads see both or neither of its new values.
        self._base = (source.now(), source.ticks())

    def now(self) -> datetime.datetime:
        """Return the present instant as an aware UTC datetime."""
        base, ticks = self._base
        return base + datetime.timedelta(seconds=self._source.ticks() - ticks)

    def ticks(self) -> float:
        """Return the seconds since a fixed instant; setting the clock has no effect."""
        return self._source.ticks()

    def processor(self) -> float:
        """Return the seconds of processor time that this thread has used."""
        return self._source.processor()

    def ahead(self) -> datetime.timedelta:
        """Return how far it is ahead of the clock of the machine."""
        return self.now() - self._source.now()

    def correct(self, by: datetime.timedelta) -> None:
        """Move it."""
        base, ticks = self._base
        self._base = (base + by, ticks)


class ManualClock:
    """A clock that moves only when its owner moves it, for tests and rehearsals."""

    def __init__(self, now: datetime.datetime) -> None:
        if now.tzinfo is None:
            raise ValueError('a clock needs an aware datetime')
        self._now = now.astimezone(datetime.UTC)
        self._lock = threading.Lock()

    def now(self) -> datetime.datetime:
        """Return the instant the clock was last moved to."""
        with self._lock:
            return self._now

    def ticks(self) -> float:
        """Return the instant the clock was last moved to, in seconds."""
        return self.now().timestamp()

    def processor(self) -> float:
        """Return the same: whatever moves the clock has kept the processor busy."""
        return self.ticks()

    def move_to(self, now: datetime.datetime) -> None:
        """Jump to *now* (aware)."""
        if now.tzinfo is None:
            raise ValueError('a clock needs an aware datetime')
        with self._lock:
            self._now = now.astimezone(datetime.UTC)

    def advance(self, seconds: float) -> None:
        """Move forward by *seconds*."""
        with self._lock:
            self._now += datetime.timedelta(seconds=seconds)
