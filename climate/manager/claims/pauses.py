# SPDX-License-Identifier: Apache-2.0

"""The pauses of a claim loop between two queries."""

from __future__ import annotations

from typing import Final

from climate.domain import events

AWAY_PAUSE: Final = 1.0
"""The interval between two attempts while the database is unavailable, in seconds."""

# A due lease that could not be claimed is locked, by a change or by another manager that
# is claiming it. The loop retries at once, and then after pauses that start with the
# first of these and double.
_LOCKED_PAUSE: Final = 0.01
_LONGEST_LOCKED_PAUSE: Final = 1.0


class LockedPauses:
    """Pauses that grow while a loop finds leases that are due, but cannot claim them."""

    def __init__(self) -> None:
        # The number of consecutive queries that have claimed nothing.
        self._unclaimed = 0

    def after(self, left: float, claimed: int) -> float:
        """Return the pause after a query, in seconds.

        :param left: the time until the next lease is due, in seconds; 0 or less if one
            is due now
        :param claimed: the number of leases that the query has claimed
        """
        if left > 0:
            self._unclaimed = 0
            return left
        self._unclaimed = 0 if claimed else self._unclaimed + 1
        if self._unclaimed <= 1:
            return 0.0
        pause = events.backoff(self._unclaimed - 1, _LOCKED_PAUSE, _LONGEST_LOCKED_PAUSE)
        return pause.total_seconds()
