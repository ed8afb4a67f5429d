# SPDX-License-Identifier: Apache-2.0

"""Places that plans find for leases."""

from __future__ import annotations

import dataclasses
import datetime

from climate.booking.choosing.choose import Choice
from climate.booking.planning.replanning import MovableLease
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.periods import Period


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where a lease could be.

    :ivar one: the lease as the plan has read it
    :ivar choice: of the resources
    :ivar allocations: all that it would have
    """

    one: MovableLease
    period: Period
    choice: Choice
    allocations: tuple[Allocation, ...]

    @property
    def lease(self) -> Lease:
        """The lease."""
        return self.one.lease

    def since(self, now: datetime.datetime) -> tuple[Allocation, ...]:
        """Return the allocations as they can be written, which may be a moment after the start."""
        period = self.period.after(now)
        return tuple(dataclasses.replace(item, period=period) for item in self.allocations)
