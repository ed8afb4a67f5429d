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

"""Waiting for what takes its time: a condition with a deadline, never a fixed sleep."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import fixtures

T = TypeVar('T')

# Only what hangs takes so long, in seconds, however busy the machine is.
_HANGS = 60
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 0.5


def until(condition: Callable[[], T], seconds: float, what: str) -> T:
    """Return what *condition* returns as soon as it is true.

    It is asked at once, then every 0.1 s, more seldom later on, and for the
    last time when the time is over.

    :param seconds: how long to wait at most
    :param what: is awaited, for the complaint: "the server is gone"
    :raises AssertionError: if it was not true in time; it tells the last answer
    """
    deadline = time.monotonic() + seconds
    pause = _FIRST_PAUSE
    while not (answer := condition()):
        left = deadline - time.monotonic()
        if left <= 0:
            raise AssertionError(f'not within {seconds} s: {what} (the last answer: {answer!r})')
        time.sleep(min(pause, left))
        pause = min(pause * 1.25, _LONGEST_PAUSE)
    return answer


def coming_back(seconds: int = _HANGS) -> fixtures.Timeout:
    """Return a block that fails if what is in it does not come back.

    Not a stopwatch: use it where a mistake would wait for ever, or for longer
    than *seconds*, and never to say how quick something is.
    """
    return fixtures.Timeout(seconds, gentle=True)
