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

"""What a transaction that books changes in the timelines of its process."""

from __future__ import annotations

import sqlalchemy as sa

from climate.allocation.blocks import SIZE
from climate.db.books import Docket
from climate.db.timeline_bookings import NewBookings
from climate.db.timeline_counts import TimelineEvent
from climate.db.timelines import Blocks
from climate.db.timelines import Timelines


class TimelineFollowing:
    """Lets timelines follow one transaction that has searched in them.

    Others do not pay for it: what they book is read again by the next search in memory.

    :param docket: what the transaction books
    """

    def __init__(self, timelines: Timelines, docket: Docket) -> None:
        self._timelines = timelines
        self._docket = docket
        self._news: NewBookings | None = None
        self._before: Blocks = {}

    def read(self, session: sa.Connection) -> None:
        """Read what the commit needs to know, after all other writes."""
        inserted = self._docket.inserted
        self._before = self._timelines.holding({item.resource_id // SIZE for item in inserted})
        if self._before:
            self._news = NewBookings.of(session, self._docket)

    def lost(self) -> None:
        """Count a choice that another booking has invalidated."""
        self._timelines.counts.add(TimelineEvent.LOST)

    def committed(self) -> None:
        """Add what was booked to the timelines, after the commit."""
        if self._docket.additions:
            self._timelines.counts.add(TimelineEvent.WON)
        if self._news is not None:
            self._timelines.add(self._news, self._before)
