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

_PATIENCE = 4.0


def run_until_told(stop: Callable[[], None]) -> int:
    """Wait for SIGTERM or SIGINT, then call *stop*; return the exit status.

    An effect may sit in a call to the cloud for as long as its time-out. It is
    safe to leave it there, since everything that was begun is taken up again,
    so after a few seconds the process ends regardless.
    """
    told = threading.Event()

    def handle(_number: int, _frame: FrameType | None) -> None:
        told.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handle)
    # A bare wait() would keep the main thread from handling the signal on
    # some platforms; waking now and then costs nothing.
    while not told.wait(1.0):
        continue
    return end(stop)


def end(stop: Callable[[], None]) -> int:
    """Call *stop*, give it a few seconds, and end the process."""
    worker = threading.Thread(target=stop, name='stop', daemon=True)
    worker.start()
    worker.join(_PATIENCE)
    sys.stdout.flush()
    sys.stderr.flush()
    # Threads of the pool that still wait for the cloud would keep the
    # interpreter from ending.
    os._exit(0)
