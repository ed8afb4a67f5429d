# SPDX-License-Identifier: Apache-2.0

"""Values that are read at a scrape, each at most once in a while."""

from __future__ import annotations

import dataclasses
import logging
import threading
import time
from collections.abc import Callable
from collections.abc import Iterable
from typing import Final

from climate import exceptions
from climate.metrics.catalogue import MetricSpec

LOG = logging.getLogger(__name__)

# A reading takes at most this share of the time of one thread, and of one connection.
_SHARE: Final = 1 / 20
# The most values of one metric that are exposed.
MOST: Final = 500


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """The value of a metric at one instant.

    :ivar labels: values of the labels of *metric*, in its order
    """

    metric: MetricSpec
    value: float
    labels: tuple[str, ...] = ()


Read = Callable[[], Iterable[Reading]]


class CachedReadings:
    """Values that are expensive to read, such as results of queries. Thread-safe.

    They are read again after some seconds, or after twenty times as long as it took to
    read them, whichever is later. If they cannot be read, there are none.

    :param read: reads them
    :param seconds: how long they are valid at least
    :param ticks: returns the seconds since a fixed instant
    """

    def __init__(
        self, read: Read, seconds: float, ticks: Callable[[], float] = time.monotonic
    ) -> None:
        self._read = read
        self._seconds = seconds
        self._ticks = ticks
        self._lock = threading.Lock()
        self._until = -float('inf')
        self._found: tuple[Reading, ...] = ()

    def __call__(self) -> Iterable[Reading]:
        """Return the values, which may be some seconds old."""
        with self._lock:
            begun = self._ticks()
            if begun >= self._until:
                self._found = tuple(attempted(self._read))
                took = self._ticks() - begun
                self._until = begun + max(self._seconds, took / _SHARE)
            return self._found


def attempted(read: Read) -> list[Reading]:
    """Return what *read* returns, up to :data:`MOST` values a metric; nothing if it fails."""
    readings: list[Reading] = []
    numbers: dict[str, int] = {}
    try:
        for reading in read():
            number = numbers[reading.metric.name] = numbers.get(reading.metric.name, 0) + 1
            if number <= MOST:
                readings.append(reading)
    except exceptions.ClimateError as error:
        LOG.warning('Metrics could not be read: %s', error.message)
        return []
    except Exception:
        LOG.exception('Metrics could not be read')
        return []
    return readings
