# SPDX-License-Identifier: Apache-2.0

"""Waits for conditions with a deadline, instead of a fixed time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import fixtures

T = TypeVar('T')

# Even on a busy machine, only code that hangs takes this long, in seconds.
_HANGS = 60
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 0.5


def until(condition: Callable[[], T], seconds: float, what: str) -> T:
    """Wait until *condition* returns a true value; return this value.

    It is called at once, then after 0.1 s, at growing intervals, and for the last time
    at the deadline.

    :param seconds: the longest time to wait
    :param what: the condition in words, for the error: "the server is gone"
    :raises AssertionError: if it was not true in time, with the last value
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
    """Return a context manager that fails if its block hangs.

    Use it for code that an error would block indefinitely, or for longer than *seconds*,
    and never to assert that code is fast.
    """
    return fixtures.Timeout(seconds, gentle=True)
