# SPDX-License-Identifier: Apache-2.0

"""Drops log lines that only repeat what the log has already."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from typing import Final

# Lines that are remembered; the ones that were not seen for longest are forgotten.
_MOST: Final = 2000
# A line that was not repeated for so long is news again, in seconds.
_SILENCE: Final = 3600.0


class RepeatFilter(logging.Filter):
    """Passes a repeated warning the 1st, 2nd, 4th, 8th… time.

    Managers retry what fails for as long as it fails, every few seconds. The first line
    says all that is known; the others only hide different ones. A line that is passed
    again says how often it was repeated. Lines below the level of warnings are decisions,
    and always pass.
    """

    def __init__(self) -> None:
        super().__init__()
        self._seen: OrderedDict[tuple[str, str], tuple[int, float]] = OrderedDict()
        self._lock = threading.Lock()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is to be logged; the same answer for each handler."""
        if record.levelno < logging.WARNING:
            return True
        times: int = record.__dict__.get('repeats') or self._count(record)
        record.__dict__['repeats'] = times
        return times & (times - 1) == 0

    def _count(self, record: logging.LogRecord) -> int:
        """Return how often a line was logged, with this time."""
        key = (record.name, record.getMessage())
        with self._lock:
            times, last = self._seen.pop(key, (0, record.created))
            if record.created - last > _SILENCE:
                times = 0
            self._seen[key] = (times + 1, record.created)
            if len(self._seen) > _MOST:
                self._seen.popitem(last=False)
        return times + 1
