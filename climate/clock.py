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

"""The only place that reads the clock.

Everything else is handed an instant or a :class:`Clock`, so that tests move
time by hand and two processes can be compared at all.
"""

from __future__ import annotations

import datetime
import functools
import threading
import time
from typing import Final
from typing import Protocol

# CLOCK_MONOTONIC stands still while Linux is suspended, and a claim does not:
# other managers count on. Where there is no other it has to do.
_TICKING: Final = getattr(time, 'CLOCK_BOOTTIME', time.CLOCK_MONOTONIC)


class Clock(Protocol):
    """Tells the present instant, and how much time passes."""

    def now(self) -> datetime.datetime:
        """Return the present instant as an aware UTC datetime."""
        ...

    def ticks(self) -> float:
        """Return the seconds since some instant; never set, neither back nor forth."""
        ...


class SystemClock:
    """The clock of the machine."""

    now = staticmethod(functools.partial(datetime.datetime.now, datetime.UTC))
    """Return the present instant as an aware UTC datetime."""

    def ticks(self) -> float:
        """Return the seconds since the machine was started, those asleep included."""
        return time.clock_gettime(_TICKING)


class ManualClock:
    """A clock that moves only when a test moves it; also for rehearsals."""

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
