# SPDX-License-Identifier: Apache-2.0

"""The calendar of resources: a page of them, with what is reserved in a period."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final
from typing import NamedTuple

from climate.domain.periods import Period

MOST_RESOURCES: Final = 500
"""The largest number of resources on a page."""
MOST_GROUPS: Final = 1000
"""The largest number of groups that a page counts."""
MOST_BARS: Final = 50_000
"""The largest number of rows of allocations that a page is made from."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class CalendarPageQuery:
    """A query for a page of the calendar.

    :ivar project_id: the project of the caller
    :ivar all_projects: whether the caller can see the leases of every project
    :ivar sees_private: whether private properties exist for the caller
    :ivar limit: the most resources on the page
    :ivar marker: id of the last resource of the page before; None for the first page
    :ivar offset: how many resources to skip; None with a marker
    :ivar search: a part of the name, of a property or of a trait, or ``property=value``;
        '' for all resources
    :ivar natural: whether resources are in natural order of their names, and not in that of
        their ids
    :ivar group_by: the property whose values come first in the order; None for none
    :ivar mine: whether only resources count of which the project has something in the period
    :ivar lease_id: only resources count of which this lease has something then, if the caller
        may see it; None for all
    :ivar flexible: whether leases say when they are firm
    """

    resource_type: str
    period: Period
    project_id: str
    all_projects: bool
    sees_private: bool
    limit: int
    marker: int | None = None
    offset: int | None = None
    search: str = ''
    natural: bool = True
    group_by: str | None = None
    mine: bool = False
    lease_id: str | None = None
    flexible: bool = False


class CalendarResource(NamedTuple):
    """A row of the calendar.

    :ivar group: the value of the property that the page is grouped by
    """

    id: int
    name: str
    disabled: bool
    failed_at: datetime.datetime | None
    generation: int
    group: str | None


class CalendarGroup(NamedTuple):
    """The resources with one value of the property that a page is grouped by.

    :ivar value: the value; None for resources without one
    :ivar number: how many resources these are on all pages
    """

    value: str | None
    number: int


class CalendarBar(NamedTuple):
    """What a reservation has of a resource, or had, for a period.

    :ivar amounts: units by resource class; empty if it has the whole resource
    :ivar lease: the lease, if the caller may see it
    :ivar held: whether it is held for an offer, which has no lease yet
    """

    resource_id: int
    start: datetime.datetime
    end: datetime.datetime
    amounts: Mapping[str, int]
    lease: CalendarLease | None
    held: bool


class CalendarLease(NamedTuple):
    """A lease as the calendar shows it.

    :ivar firm_at: when it stops moving; None if it has a fixed start
    """

    id: str
    name: str
    status: str
    project_id: str
    firm_at: datetime.datetime | None


class CalendarClosure(NamedTuple):
    """A period in which a resource is in maintenance, without the reason."""

    id: str
    resource_id: int
    start: datetime.datetime
    end: datetime.datetime


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class CalendarPage:
    """A page of the calendar.

    :ivar tag: changes whenever the page does
    :ivar total: how many resources match on all pages
    :ivar groups: all groups, in the order of the pages; None without a property to group by,
        or if they are more than :data:`MOST_GROUPS`
    :ivar more: whether further resources follow
    :ivar capacities: units that can be reserved, by resource id and class
    """

    tag: str
    total: int
    groups: Sequence[CalendarGroup] | None
    more: bool
    resources: Sequence[CalendarResource]
    capacities: Mapping[int, Mapping[str, int]]
    bars: Sequence[CalendarBar]
    closures: Sequence[CalendarClosure]
