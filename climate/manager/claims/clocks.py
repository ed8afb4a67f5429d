# SPDX-License-Identifier: Apache-2.0

"""Compares the clock of this machine with that of the database.

Claims expire, and events are due, by the clock of the database, which is the same for all
managers. The difference is measured and taken into account. Between two measurements the
monotonic clock continues, so that a step of the clock of the machine changes nothing. Each
look for work detects such a step, and measures. A manager whose clock is wrong by too much
claims nothing, because the cloud would see wrong times.
"""

from __future__ import annotations

import datetime
import logging
import math
import threading
from typing import Final

from climate import exceptions
from climate.clock import Clock
from climate.clock import SteadyClock
from climate.db.engine.clock_difference import Difference
from climate.db.transactions.store import Store

LOG = logging.getLogger(__name__)

# Seconds between two measurements.
_EVERY: Final = 60.0
# Shares of the duration of a claim.
_WARNS: Final = 1 / 5
_REFUSES: Final = 1 / 2
# A thread may be interrupted while it reads the two clocks.
_STEP: Final = datetime.timedelta(seconds=0.5)
_NONE: Final = datetime.timedelta(0)
_EPOCH: Final = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


class Clocks:
    """Measures the difference at the first use, every minute, and after a step. Thread-safe.

    :param clock: that of the store. A steady one is set to the time of the database.
    :param seconds: the duration of a claim
    """

    def __init__(self, store: Store, clock: Clock, seconds: float) -> None:
        self._store = store
        self._clock = clock
        self._seconds = seconds
        self._lock = threading.Lock()
        self._measured_at = -math.inf
        self._difference = Difference()
        # That of the machine, whose clock may not be that of the store.
        self._wrong = datetime.timedelta(0)
        self._ahead = self._measured_ahead()
        self._share = 0.0

    def offset(self) -> datetime.timedelta:
        """Return the time of the database minus the local time.

        :raises climate.exceptions.DatabaseUnavailable: if the database does not answer
        """
        with self._lock:
            self._look()
            return self._difference.offset

    def trouble(self) -> str | None:
        """Return why this manager may not claim leases; None if it may.

        While the clocks differ too much, each call measures the difference.

        :raises climate.exceptions.DatabaseUnavailable: if the database does not answer
        """
        with self._lock:
            self._look()
            return self._text() if self._share > _REFUSES else None

    def check(self) -> None:
        """Check that claims may be taken, for the health check of a process.

        :raises climate.exceptions.ServiceUnavailable: if not, with the reason
        """
        trouble = self.trouble()
        if trouble is not None:
            raise exceptions.ServiceUnavailable(trouble)

    def _look(self) -> None:
        age = self._clock.ticks() - self._measured_at
        ahead = self._measured_ahead()
        stepped = abs(ahead - self._ahead) > _STEP
        if 0 <= age < _EVERY and self._share <= _REFUSES and not stepped:
            return
        self._difference = self._store.difference()
        self._measured_at = self._clock.ticks()
        self._wrong = self._difference.offset
        if isinstance(self._clock, SteadyClock):
            self._wrong += self._clock.ahead()
            self._correct(self._clock)
        self._ahead = self._measured_ahead()
        # Minus the part that the round trip to the database may have added.
        certain = abs(self._wrong) - self._difference.uncertainty
        was, self._share = self._share, max(certain.total_seconds(), 0.0) / self._seconds
        self._say(was)

    def _measured_ahead(self) -> datetime.timedelta:
        """Return how far the monotonic clock is ahead of that of the machine."""
        if isinstance(self._clock, SteadyClock):
            return self._clock.ahead()
        ticks = datetime.timedelta(seconds=self._clock.ticks())
        return ticks - (self._clock.now() - _EPOCH)

    def _correct(self, clock: SteadyClock) -> None:
        """Set the clock to the time of the database, as far as that is certain."""
        offset, uncertainty = self._difference.offset, self._difference.uncertainty
        if abs(offset) <= uncertainty:
            return
        by = offset - uncertainty if offset > _NONE else offset + uncertainty
        clock.correct(by)
        self._difference = Difference(offset=offset - by, uncertainty=uncertainty)

    def _say(self, was: float) -> None:
        if self._share > _REFUSES >= was:
            LOG.error('%s', self._text())
        elif _REFUSES >= self._share > _WARNS and not _REFUSES >= was > _WARNS:
            LOG.warning('%s', self._text())
        elif self._share <= _WARNS < was:
            LOG.info('The clocks of this machine and of the database agree again')

    def _text(self) -> str:
        seconds = self._wrong.total_seconds()
        where = 'behind' if seconds > 0 else 'ahead of'
        text = (
            f'The clock of this machine is {abs(seconds):.3f} s {where} that of the database'
            f' (give or take {self._difference.uncertainty.total_seconds():.3f} s)'
        )
        if self._share > _REFUSES:
            text += ', more than half of [manager] claim_seconds: a manager here claims nothing'
            return f'{text} until it is corrected'
        return f'{text}, more than a fifth of [manager] claim_seconds'
