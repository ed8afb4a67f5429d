# SPDX-License-Identifier: Apache-2.0

"""Shows the progress of a lane in one line, with the estimated time left."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from typing import TextIO

from tools.lanes.results import Result

# The interval between two lines where a line cannot be overwritten, in seconds.
PAUSE = 30
_REDRAW = 0.2
_TICK = 1.0


def span(seconds: float) -> str:
    """Format a duration, such as ``2 min 05 s``."""
    minutes, rest = divmod(round(seconds), 60)
    return f'{minutes} min {rest:02} s' if minutes else f'{rest} s'


class Progress:
    """The progress of one lane.

    :param expected: the last duration of each of its tests, in seconds, if known
    """

    def __init__(
        self,
        lane: str,
        ids: list[str],
        expected: Mapping[str, float],
        workers: int,
        out: TextIO = sys.stdout,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        usual = sum(expected.values()) / len(expected) if expected else 1.0
        self._weights = {name: max(expected.get(name, usual), 0.001) for name in ids}
        self._whole = sum(self._weights.values())
        self._left = self._whole
        self._workers = workers
        self._lane = lane
        self._out = out
        self._clock = clock
        self._began = clock()
        self._drawn = self._began
        self._terminal = out.isatty()
        self._lock = threading.RLock()
        self._over = threading.Event()
        self.done = 0
        self.failed = 0

    @contextlib.contextmanager
    def shown(self) -> Iterator[None]:
        """Show the line within the block, even if no test ends for a long time."""
        self.draw()
        ticker = threading.Thread(target=self._tick, daemon=True)
        ticker.start()
        try:
            yield
        finally:
            self._over.set()
            ticker.join()
            if self._terminal:
                self._out.write('\r\x1b[K')
                self._out.flush()

    def _tick(self) -> None:
        pause = _TICK if self._terminal else PAUSE
        while not self._over.wait(pause):
            with self._lock:
                if self._clock() - self._drawn >= pause:
                    self.draw()

    def add(self, result: Result) -> None:
        """Record a finished test, and show the progress from time to time."""
        with self._lock:
            self._tell(result)

    def _tell(self, result: Result) -> None:
        self.done += 1
        self._left -= self._weights.get(result.name, 0.0)
        if result.outcome == 'failed':
            self.failed += 1
            self.say(f'FAILED {result.name}')
        if self._clock() - self._drawn >= (_REDRAW if self._terminal else PAUSE):
            self.draw()

    def draw(self) -> None:
        """Show the line."""
        self._drawn = self._clock()
        if self._terminal:
            self._out.write(f'\r\x1b[K{self.line()}')
        else:
            self._out.write(f'{self.line()}\n')
        self._out.flush()

    def say(self, text: str) -> None:
        """Write a permanent line."""
        self._out.write(f'\r\x1b[K{text}\n' if self._terminal else f'{text}\n')
        self._out.flush()
        if self._terminal:
            self.draw()

    def line(self) -> str:
        """Return the line."""
        share = 1 - max(self._left, 0.0) / self._whole if self._whole else 1.0
        return (
            f'{self._lane:<11} {self.done:>5,} of {len(self._weights):,} tests, '
            f'{self.failed} failed, {share:4.0%}, about {span(self.seconds_left())} left'
        )

    def seconds_left(self) -> float:
        """Estimate the remaining time from the speed until now."""
        done = self._whole - self._left
        taken = self._clock() - self._began
        # Until the first test ends, assume the speed of the last run.
        pace = taken / done if done > 0 else 1 / self._workers
        return max(self._left, 0.0) * pace
