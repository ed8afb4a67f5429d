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
    """Lets timelines follow one transaction.

    :param timelines: None if bookings do not use any
    :param docket: what the transaction books
    """

    def __init__(self, timelines: Timelines | None, docket: Docket) -> None:
        self._timelines = timelines
        self._docket = docket
        self._news: NewBookings | None = None
        self._before: Blocks = {}

    def read(self, session: sa.Connection, used: bool) -> None:
        """Read what the commit needs to know, after all other writes.

        :param used: whether a timeline was searched; for others it would be more work than
            to read the resources again when one is
        """
        inserted = self._docket.inserted
        if self._timelines is None or not used or not inserted:
            return
        before = self._timelines.holding({item.resource_id // SIZE for item in inserted})
        if before:
            self._news = NewBookings.of(session, self._docket)
            self._before = before

    def lost(self, used: bool) -> None:
        """Count a choice that another booking has invalidated.

        :param used: whether it was made in a timeline
        """
        if self._timelines is not None and used:
            self._timelines.counts.add(TimelineEvent.LOST)

    def committed(self, used: bool) -> None:
        """Add what was booked to the timelines, after the commit.

        :param used: whether it was chosen in a timeline
        """
        if self._timelines is None or not self._docket.additions:
            return
        if used:
            self._timelines.counts.add(TimelineEvent.WON)
        if self._news is not None:
            self._timelines.add(self._news, self._before)
