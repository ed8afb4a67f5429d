# SPDX-License-Identifier: Apache-2.0

"""What a transaction that books changes in the timelines of its process."""

from __future__ import annotations

import sqlalchemy as sa

from climate.allocation.blocks import SIZE
from climate.db.booking.writer import PendingBookings
from climate.db.timelines.bookings import NewBookings
from climate.db.timelines.counts import TimelineEvent
from climate.db.timelines.timelines import Blocks
from climate.db.timelines.timelines import Timelines


class TimelineFollowing:
    """Lets timelines follow one transaction that has searched in them.

    Others do not pay for it: what they book is read again by the next search in memory.

    :param pending: what the transaction books
    """

    def __init__(self, timelines: Timelines, pending: PendingBookings) -> None:
        self._timelines = timelines
        self._pending = pending
        self._news: NewBookings | None = None
        self._before: Blocks = {}

    def read(self, session: sa.Connection) -> None:
        """Read what the commit needs to know, after all other writes."""
        inserted = self._pending.inserted
        self._before = self._timelines.holding({item.resource_id // SIZE for item in inserted})
        if self._before:
            self._news = NewBookings.of(session, self._pending)

    def lost(self) -> None:
        """Count a choice that another booking has invalidated."""
        self._timelines.counts.add(TimelineEvent.LOST)

    def committed(self) -> None:
        """Add what was booked to the timelines, after the commit."""
        if self._pending.additions:
            self._timelines.counts.add(TimelineEvent.WON)
        if self._news is not None:
            self._timelines.add(self._news, self._before)
