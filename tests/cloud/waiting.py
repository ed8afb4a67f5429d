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
