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

"""Stops a process within a bounded time."""

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


def run_until_signal(stop: Callable[[], None]) -> int:
    """Wait for SIGTERM or SIGINT, then call *stop*; return the exit status.

    The process ends after a few seconds, even if an effect waits for a call to the
    cloud, which can take as long as its timeout. This is safe, because everything that
    was begun is resumed later.
    """
    received = threading.Event()

    def handle(_number: int, _frame: FrameType | None) -> None:
        received.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handle)
    # On some platforms a wait() without a timeout would keep the main thread from
    # handling the signal; waking up now and then costs nothing.
    while not received.wait(1.0):
        continue
    return end(stop)


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
