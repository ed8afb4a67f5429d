# SPDX-License-Identifier: Apache-2.0

"""A thread that repeats a step until it is stopped, and that can be woken early.

The periodic workers of futurist run at fixed intervals. The loops of Climate sleep until
something is due, or longer after a failure, and all except the renewal of claims can be
woken. Each step therefore returns the pause that follows it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from climate.exceptions.failures import log_failure

LOG = logging.getLogger(__name__)


class RepeatingThread:
    """A daemon thread that repeats a step.

    :param step: returns how long to sleep, in seconds; None to sleep until woken
    :param failure: the message to log if the step raises
    :param retry: how long to sleep then, in seconds; None to sleep until woken
    """

    def __init__(
        self, name: str, step: Callable[[], float | None], *, failure: str, retry: float | None
    ) -> None:
        self._step = step
        self._failure = failure
        self._retry = retry
        self._woken = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @property
    def stopping(self) -> bool:
        """Whether :meth:`stop` was called."""
        return self._stopping.is_set()

    def is_alive(self) -> bool:
        """Whether the thread was started and has not ended."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Start the thread, which begins with a step; does not block."""
        self._thread.start()

    def wake(self) -> None:
        """Repeat the step now, or right after the one in progress."""
        self._woken.set()

    def rest(self, seconds: float) -> None:
        """Sleep within a step, ignoring wake-ups, until the time is over or :meth:`stop`."""
        self._stopping.wait(seconds)

    def stop(self, timeout: float) -> None:
        """Stop repeating; wait at most *timeout* seconds for the step in progress."""
        self._stopping.set()
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join(timeout)

    def _run(self) -> None:
        while not self._stopping.is_set():
            # Before the step, so that a wake-up during it is not lost.
            self._woken.clear()
            try:
                pause = self._step()
            except Exception as error:
                log_failure(LOG, error, '%s', self._failure)
                pause = self._retry
            if not self._stopping.is_set():
                self._woken.wait(pause)
