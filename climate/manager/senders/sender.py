# SPDX-License-Identifier: Apache-2.0

"""The base of threads that send rows of the database to external receivers."""

from __future__ import annotations

import abc
import logging
from typing import ClassVar

from climate import exceptions
from climate.domain import events
from climate.threads import RepeatingThread

LOG = logging.getLogger(__name__)

# The pause after an internal error, in seconds.
_PAUSE = 1.0


class Sender(abc.ABC):
    """Sends rows in its own thread; rows that cannot be sent stay in the database.

    :param max_sleep: the longest interval between two checks, in seconds
    """

    what: ClassVar[str]
    """What it sends, for the log."""
    unreachable: ClassVar[type[exceptions.ClimateError]]
    """Raised by :meth:`send_once` if the receiver is unavailable."""
    first_pause: ClassVar[float]
    """The first pause while the receiver is unavailable, in seconds; each further one is
    twice as long."""
    longest_pause: ClassVar[float]
    gathering_pause: ClassVar[float] = 0.0
    """The pause after a check, in seconds, in which rows gather for the next one."""

    def __init__(self, *, max_sleep: float) -> None:
        self._max_sleep = max_sleep
        self._away = 0
        self._thread = RepeatingThread(
            self.what.lower(),
            self._step,
            failure=f'{self.what} could not be sent; trying again',
            retry=_PAUSE,
        )

    @abc.abstractmethod
    def send_once(self) -> int:
        """Send one batch and return its size.

        :raises climate.exceptions.ClimateError: of the class in
            :attr:`unreachable`, if the receiver is unavailable
        """

    def start(self) -> None:
        """Start sending; does not block."""
        self._thread.start()

    def stop(self, timeout: float) -> None:
        """Stop; another manager, or this one after its next start, sends the rest.

        :param timeout: how long to wait for the batch in progress, in seconds
        """
        self._thread.stop(timeout)

    def wake(self) -> None:
        """Check at once, because something was written."""
        self._thread.wake()

    def _step(self) -> float:
        try:
            sent = self.send_once()
        except self.unreachable as error:
            # A wake-up does not make the receiver available.
            self._thread.rest(self._missed(error))
            return 0.0
        except exceptions.DatabaseUnavailable:
            return _PAUSE
        self._reached()
        # Many small transactions of a busy time become few large ones.
        self._thread.rest(self.gathering_pause)
        return 0.0 if sent else self._max_sleep

    def _missed(self, error: exceptions.ClimateError) -> float:
        """Return the pause before the next attempt, in seconds."""
        self._away += 1
        if self._away == 1:
            LOG.warning('%s wait, the receiver is unavailable: %s', self.what, error.message)
        pause = events.backoff(self._away, self.first_pause, self.longest_pause)
        return pause.total_seconds()

    def _reached(self) -> None:
        if self._away:
            LOG.info('%s are accepted again', self.what)
            self._away = 0
