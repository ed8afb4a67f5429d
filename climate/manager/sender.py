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

"""What works off rows that somebody else is to be told, whenever there are any."""

from __future__ import annotations

import abc
import logging
import threading
from typing import ClassVar

from climate import exceptions

LOG = logging.getLogger(__name__)

# After a failure of our own, in seconds.
_PAUSE = 1.0


class Sender(abc.ABC):
    """Sends in a thread of its own; what it cannot send stays where it is.

    :param max_sleep: the longest sleep between two looks, in seconds
    """

    what: ClassVar[str]
    """What is sent, for the log."""
    unreachable: ClassVar[type[exceptions.ClimateError]]
    """Raised by :meth:`send_once` if who is told is away."""
    first_pause: ClassVar[float]
    """In seconds; while who is told is away it is tried again after pauses
    from this one on, each twice as long as the one before."""
    longest_pause: ClassVar[float]
    gathering_pause: ClassVar[float] = 0.0
    """After something was sent, in seconds: what is written meanwhile goes in
    one. 0 looks again at once."""

    def __init__(self, *, max_sleep: float) -> None:
        self._max_sleep = max_sleep
        self._away = 0
        self._awake = threading.Event()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name=self.what.lower(), daemon=True)

    @abc.abstractmethod
    def send_once(self) -> int:
        """Send one batch and return how many were in it.

        :raises climate.exceptions.ClimateError: of the class in
            :attr:`unreachable`, if who is told is away
        """

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def stop(self, timeout: float) -> None:
        """Stop; what was not sent is sent by another manager or the next start.

        :param timeout: how long to wait for what is just being sent, in seconds
        """
        self._stopping = True
        self._awake.set()
        if self._thread.is_alive():
            self._thread.join(timeout=timeout)

    def wake(self) -> None:
        """Look at once: something was written."""
        self._awake.set()

    def _run(self) -> None:
        while not self._stopping:
            self._awake.clear()
            try:
                sent = self.send_once()
            except self.unreachable as error:
                # What is written meanwhile brings nobody back.
                self._sleep_through(self._missed(error))
            except exceptions.DatabaseUnavailable:
                self._awake.wait(_PAUSE)
            except Exception:
                LOG.exception('%s could not be sent; trying again', self.what)
                self._awake.wait(_PAUSE)
            else:
                self._reached()
                if sent:
                    self._sleep_through(self.gathering_pause)
                else:
                    self._awake.wait(self._max_sleep)

    def _missed(self, error: exceptions.ClimateError) -> float:
        """Return after how many seconds to try again who is away."""
        self._away += 1
        if self._away == 1:
            LOG.warning('%s wait, nobody takes them: %s', self.what, error.message)
        return min(self.first_pause * 2.0 ** min(self._away - 1, 10), self.longest_pause)

    def _reached(self) -> None:
        if self._away:
            LOG.info('%s are taken again', self.what)
            self._away = 0

    def _sleep_through(self, pause: float) -> None:
        """Sleep, whatever is written meanwhile; not longer than until the end."""
        while pause > 0 and not self._stopping:
            step = min(pause, 0.2)
            threading.Event().wait(step)
            pause -= step
