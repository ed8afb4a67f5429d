# SPDX-License-Identifier: Apache-2.0

"""Wakes managers without making requests wait for the broker."""

from __future__ import annotations

import threading
from collections.abc import Callable
from collections.abc import Mapping
from types import MappingProxyType

from oslo_log import log as logging

from climate.threads import RepeatingThread

LOG = logging.getLogger(__name__)


class Waker:
    """Sends wake-ups in its own thread, and merges those that wait into one.

    A failure is logged once per outage, and the wake-up is dropped, because managers check
    for work every few seconds anyway.

    A merged wake-up has the ids of the request that first wanted it.

    :param send: sends a wake-up with the reasons, joined by commas, and the ids of a request;
        raises if it was not delivered
    :param pause: the pause after a failure, in seconds
    """

    def __init__(
        self, send: Callable[[str, Mapping[str, str]], None], *, pause: float = 1.0
    ) -> None:
        self._send = send
        self._pause = pause
        self._lock = threading.Lock()
        self._reasons: set[str] = set()
        self._ids: Mapping[str, str] = {}
        self._thread: RepeatingThread | None = None
        self._closed = False
        self._failing = False

    def wake(self, reason: str, ids: Mapping[str, str] = MappingProxyType({})) -> None:
        """Send a wake-up soon; does not block, and never raises.

        :param ids: of the request that causes it
        """
        with self._lock:
            if self._closed:
                return
            if not self._reasons:
                self._ids = ids
            self._reasons.add(reason)
            # Started at the first use, and again in forked children, because threads do
            # not survive a fork.
            if self._thread is None or not self._thread.is_alive():
                self._thread = RepeatingThread(
                    'climate-waker', self._step, failure='A wake-up failed', retry=None
                )
                self._thread.start()
            self._thread.wake()

    def close(self) -> None:
        """Stop sending; does not wait for a wake-up in progress."""
        with self._lock:
            self._closed = True
            if self._thread is not None:
                self._thread.stop(0.0)

    def _step(self) -> None:
        with self._lock:
            thread = self._thread
            reasons, ids = ','.join(sorted(self._reasons)), self._ids
            self._reasons.clear()
        if reasons and not self._sent(reasons, ids) and thread is not None:
            thread.rest(self._pause)

    def _sent(self, reasons: str, ids: Mapping[str, str]) -> bool:
        try:
            self._send(reasons, ids)
        except Exception as error:
            if not self._failing:
                LOG.warning(
                    'Managers cannot be woken over the message bus (%s); they check for '
                    'work every few seconds anyway',
                    type(error).__name__,
                )
            self._failing = True
            return False
        if self._failing:
            LOG.info('Managers can be woken over the message bus again')
        self._failing = False
        return True
