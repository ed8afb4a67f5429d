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

"""A period of time, half open: its end is the first instant outside it."""

from __future__ import annotations

import dataclasses
import datetime


@dataclasses.dataclass(frozen=True, kw_only=True, order=True, slots=True)
class Period:
    """``[start, end)`` in aware UTC; two that only touch do not overlap.

    :raises ValueError: if an end is naive, or not after the start
    """

    start: datetime.datetime
    end: datetime.datetime

    def __post_init__(self) -> None:
        for instant in (self.start, self.end):
            if instant.tzinfo is None:
                raise ValueError('a period needs aware datetimes')
        if self.end <= self.start:
            raise ValueError('a period ends after it starts')

    @property
    def length(self) -> datetime.timedelta:
        """How long it lasts."""
        return self.end - self.start

    def overlaps(self, other: Period) -> bool:
        """Whether the two share an instant."""
        return self.start < other.end and other.start < self.end

    def contains(self, other: Period) -> bool:
        """Whether *other* lies wholly inside."""
        return self.start <= other.start and other.end <= self.end

    def beyond(self, other: Period) -> tuple[Period, ...]:
        """The parts of it that lie outside *other*, in order."""
        if not self.overlaps(other):
            return (self,)
        found = []
        if self.start < other.start:
            found.append(Period(start=self.start, end=other.start))
        if self.end > other.end:
            found.append(Period(start=other.end, end=self.end))
        return tuple(found)

    def padded(self, pause: datetime.timedelta) -> Period:
        """The period with *pause* (not negative) added on both sides."""
        return Period(start=self.start - pause, end=self.end + pause)
