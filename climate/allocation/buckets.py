# SPDX-License-Identifier: Apache-2.0

"""Consecutive intervals of one length."""

from __future__ import annotations

import dataclasses

import numpy as np

from climate.allocation.steps import Ints


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Buckets:
    """Consecutive intervals of one length; times in microseconds since 1970.

    :ivar start: of the first interval
    :ivar width: of each interval, in microseconds
    :ivar number: how many intervals
    :ivar since: what lies before does not count; at most the end of the first interval
    :ivar pause: the time for cleaning before and after an allocation of a whole resource
    """

    start: int
    width: int
    number: int
    since: int = 0
    pause: int = 0

    @property
    def end(self) -> int:
        """The end of the last interval."""
        return self.start + self.width * self.number

    @property
    def starts(self) -> Ints:
        """The start of each interval, as far as it counts."""
        found = self.start + self.width * np.arange(self.number, dtype=np.int64)
        return np.maximum(found, self.since)
