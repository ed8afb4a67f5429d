# SPDX-License-Identifier: Apache-2.0

"""Stops a process within a bounded time, and lets it read its configuration again."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType

LOG = logging.getLogger(__name__)

_TIMEOUT = 4.0


class Signals:
    """The signals that a process has received; made before the process starts its work.

    SIGTERM and SIGINT end it at once until :meth:`wait`. SIGHUP is kept for then, so that
    a reload never ends a process that is starting. But if a terminal is attached, SIGHUP
    says that it was closed, and ends the process.
    """

    def __init__(self) -> None:
        self._wake = threading.Event()
        self._stop = False
        self._reload = False
        if _has_terminal():
            return
        signal.signal(signal.SIGHUP, self._on_reload)

    def wait(self, stop: Callable[[], None], reload: Callable[[], None]) -> int:
        """Call *reload* at each SIGHUP; at SIGTERM or SIGINT, stop and return the status.

        The process ends after a few seconds, even if an effect waits for a call to the
        cloud, which can take as long as its timeout. This is safe, because everything that
        was begun is resumed later.
        """
        ending = [signal.SIGTERM, signal.SIGINT]
        if _has_terminal():
            ending.append(signal.SIGHUP)
        for number in ending:
            signal.signal(number, self._on_stop)
        while not self._stop:
            # On some platforms a wait() without a timeout would keep the main thread from
            # handling the signal; waking up now and then costs nothing.
            self._wake.wait(1.0)
            self._wake.clear()
            if self._reload and not self._stop:
                self._reload = False
                reload()
        return end(stop)

    def _on_stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stop = True
        self._wake.set()

    def _on_reload(self, _number: int, _frame: FrameType | None) -> None:
        self._reload = True
        self._wake.set()


def _has_terminal() -> bool:
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()


def end(stop: Callable[[], None]) -> int:
    """Call *stop*, give it a few seconds, and end the process."""
    worker = threading.Thread(target=stop, name='stop', daemon=True)
    worker.start()
    worker.join(_TIMEOUT)
    sys.stdout.flush()
    sys.stderr.flush()
    # Threads of the pool that still wait for the cloud would keep the interpreter
    # from exiting.
    os._exit(0)
