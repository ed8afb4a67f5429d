# SPDX-License-Identifier: Apache-2.0

"""What one reservation requires of resources, and why it cannot have them."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Collection
from collections.abc import Mapping
from typing import Any

from climate.allocation.blocks import Bounds
from climate.allocation.matches import Match
from climate.allocation.steps import microseconds
from climate.booking.requests.new_leases import NewLease
from climate.domain.periods import Period
from climate.domain.placements import MemberPlacement
from climate.plugins import contract


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Requirements:
    """What one reservation requires.

    :ivar reservation_id: the reservation that gets the allocations; two
        reservations that require the same compare equal
    :ivar period: of the allocations
    :ivar padded: the period with the time for cleaning on both sides
    :ivar minimum: how many slots at least, beyond what it keeps
    :ivar maximum: how many slots at most, beyond what it keeps
    :ivar private: whether the caller may ask for private properties
    :ivar own: slots by resource id that it has and gives up if others are
        chosen; the same ones are preferred
    :ivar only: ids of the only suitable resources; None for any
    :ivar never: ids of unsuitable resources
    :ivar placement: how the slots are placed; None if anywhere
    :ivar leaving: ids of resources that the reservation has and gives up
    """

    reservation_id: str = dataclasses.field(default='', compare=False)
    search: contract.Search
    plugin: contract.Plugin[Any]
    request: Any
    period: Period
    padded: Period
    minimum: int
    maximum: int
    private: bool
    own: Mapping[int, int] = dataclasses.field(default_factory=dict)
    only: Collection[int] | None = None
    never: Collection[int] = ()
    placement: MemberPlacement | None = None
    leaving: Collection[int] = ()

    @property
    def match(self) -> Match:
        """The conditions on a resource."""
        return Match(
            resource_type=self.search.resource_type,
            requirement=self.search.requirement,
            required_traits=self.search.required_traits,
            forbidden_traits=self.search.forbidden_traits,
            private=self.private,
        )

    @property
    def bounds(self) -> Bounds:
        """The period, for timelines."""
        return Bounds(
            start=microseconds(self.period.start),
            end=microseconds(self.period.end),
            clear_start=microseconds(self.padded.start),
            clear_end=microseconds(self.padded.end),
        )


def of_new_lease(new: NewLease, period: Period, padded: Period) -> list[Requirements]:
    """Return what the reservations of a new lease require in a period."""
    return [
        Requirements(
            reservation_id=reservation_id,
            search=one.needs.search,
            plugin=one.plugin,
            request=one.request,
            period=period,
            padded=padded,
            minimum=one.needs.search.minimum,
            maximum=one.needs.search.maximum,
            private=new.caller.all_projects,
            placement=one.placement,
        )
        for reservation_id, one in zip(new.ids, new.requests, strict=True)
    ]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Reasons:
    """Why requirements cannot be met.

    :ivar matched: how many slots there would be without any booking
    :ivar free: how many are free
    :ivar first_end: when the first allocation in the way ends; None if unknown
    :ivar too_large: whether one slot is larger than any resource that matches
    """

    matched: int
    free: int
    first_end: datetime.datetime | None
    too_large: bool = False
