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

"""Wakes managers without making requests wait for the broker."""

from __future__ import annotations

import threading
from collections.abc import Callable

from oslo_log import log as logging

from climate.threads import RepeatingThread

LOG = logging.getLogger(__name__)


class Waker:
    """Sends wake-ups on a thread of its own, many wanted at once as one.

    While one is being sent, all further ones become one more. A failure is
    logged once per outage and the wake-up is dropped: managers look for work
    every few seconds anyway.

    :param send: sends one wake-up with the reasons, joined by commas; any
        exception means that it did not get through
    :param pause: how long to leave the broker alone after a failure, in seconds
    """

    def __init__(self, send: Callable[[str], None], *, pause: float = 1.0) -> None:
        self._send = send
        self._pause = pause
        self._lock = threading.Lock()
        self._reasons: set[str] = set()
        self._thread: RepeatingThread | None = None
        self._closed = False
        self._failing = False

    def wake(self, reason: str) -> None:
        """Have a wake-up sent soon; returns at once and never raises."""
        with self._lock:
            if self._closed:
                return
            self._reasons.add(reason)
            # The thread is made at the first use, and again in a child that
            # was forked off: threads do not survive a fork.
            if self._thread is None or not self._thread.is_alive():
                self._thread = RepeatingThread(
                    'climate-waker', self._step, failure='A wake-up failed', retry=None
                )
                self._thread.start()
            self._thread.wake()

    def close(self) -> None:
        """Send no more. A wake-up that is being sent is not waited for."""
        with self._lock:
            self._closed = True
            if self._thread is not None:
                self._thread.stop(0.0)

    def _step(self) -> None:
        with self._lock:
            thread = self._thread
            reasons = ','.join(sorted(self._reasons))
            self._reasons.clear()
        if reasons and not self._sent(reasons) and thread is not None:
            thread.rest(self._pause)

    def _sent(self, reasons: str) -> bool:
        try:
            self._send(reasons)
        except Exception as error:
            if not self._failing:
                LOG.warning(
                    'Managers cannot be woken over the message bus (%s); they look for '
                    'work by themselves every few seconds',
                    type(error).__name__,
                )
            self._failing = True
            return False
        if self._failing:
            LOG.info('Managers can be woken over the message bus again')
        self._failing = False
        return True
