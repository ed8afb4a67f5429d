# SPDX-License-Identifier: Apache-2.0
"""Waiting for a cloud, which is slow on a machine that does much else."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

from tests import waiting

T = TypeVar('T')

# A deadline is extended no further than to so many times what was asked for.
_AT_MOST = 3.0


def until(condition: Callable[[], T], seconds: float, what: str) -> T:
    """Return what *condition* returns as soon as it is true.

    :param seconds: how long to wait at most on a quiet machine; longer where
        more processes want to run than there are processors
    :param what: is awaited, for the complaint
    :raises AssertionError: if it was not true in time
    """
    running_each = os.getloadavg()[0] / (os.cpu_count() or 1)
    return waiting.until(condition, seconds * min(max(1.0, running_each), _AT_MOST), what)
