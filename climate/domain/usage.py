# SPDX-License-Identifier: Apache-2.0

"""How much of what leases booked was used, as values between the API and SQL."""

from __future__ import annotations

import dataclasses
import datetime
import enum
from typing import Final

from climate.domain.periods import Period

MOST_ROWS: Final = 10_000
"""The largest number of rows of a report."""


class UsageKey(enum.StrEnum):
    """What the rows of a report are for, apart from resource types and classes."""

    PROJECT = 'project'
    TYPE = 'type'
    CLASS = 'class'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class UsageQuery:
    """A query for a report.

    :ivar project_id: None for every project
    :ivar resource_type: None for every type
    """

    period: Period
    by: UsageKey
    project_id: str | None = None
    resource_type: str | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class UsageRow:
    """How much of a resource class leases booked in a period.

    Amounts are units of the class, multiplied by seconds.

    :ivar project_id: None unless the rows are for projects
    :ivar resource_type: None if the rows are for classes
    :ivar resource_class: None for whole resources
    :ivar leases: the number of leases
    :ivar refusals: the number of requests for leases that were refused for lack of it
    :ivar refused: the least that these requests would have needed
    :ivar used: while a lease had them, until now
    :ivar unused: booked, but not used until now, or returned: the lease was deleted early,
        or its start failed
    """

    project_id: str | None
    resource_type: str | None
    resource_class: str | None
    leases: int
    booked: int
    used: int
    unused: int
    refusals: int = 0
    refused: int = 0

    @property
    def ahead(self) -> int:
        """What is booked, and still to come."""
        return self.booked - self.used - self.unused


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class RefusedKey:
    """What refusals are summed by.

    :ivar day: in UTC
    :ivar resource_class: None for whole resources
    """

    day: datetime.date
    project_id: str
    resource_type: str
    resource_class: str | None


MOST_REFUSED: Final = 2**53
"""Where the amount of a day ends: a number that JSON has exactly, and whose sums no database
overflows, however much is requested how often."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class RefusedAmount:
    """How much was refused.

    :ivar requests: the number of requests
    :ivar amount: the least that they would have needed, in units multiplied by seconds, up to
        :data:`MOST_REFUSED`
    """

    requests: int
    amount: int

    def plus(self, other: RefusedAmount) -> RefusedAmount:
        """Return both together."""
        return RefusedAmount(
            requests=self.requests + other.requests,
            amount=min(self.amount + other.amount, MOST_REFUSED),
        )
