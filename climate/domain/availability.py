# SPDX-License-Identifier: Apache-2.0

"""What is free of a resource type over time: the question and the answer."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

from climate.domain.periods import Period

MOST_BUCKETS: Final = 1000
"""The largest number of buckets in an answer."""
MOST_CELLS: Final = 20_000
"""The largest number of buckets of all groups together."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class AvailabilityQuery:
    """A question for what is free of a resource type.

    :ivar period: a multiple of *step*
    :ivar step: the length of a bucket
    :ivar demand: units of a slot by resource class; empty to count no slots
    :ivar requirement: the requirement on a resource as text; '' if any will do
    :ivar traits: whether the requirement may name traits (1.5)
    :ivar group_by: the property whose values divide the answer; None for one group
    :ivar sees_private: whether private properties exist for the caller
    :ivar compares_private: whether requirements may compare private properties
    :ivar movable: whether to count apart what leases have that may still move (1.8)
    """

    resource_type: str
    period: Period
    step: datetime.timedelta
    demand: Mapping[str, int] = dataclasses.field(default_factory=dict)
    requirement: str = ''
    traits: bool = True
    group_by: str | None = None
    sees_private: bool = False
    compares_private: bool = False
    movable: bool = False

    @property
    def number(self) -> int:
        """The number of buckets."""
        return self.period.length // self.step


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class BucketAmounts:
    """Units in each bucket.

    :ivar free: units that are free throughout the bucket
    :ivar total: units of the resources that are in service throughout the bucket
    :ivar free_if_moved: units that would be free if all leases were elsewhere that may still move;
        None if that was not asked for
    """

    free: Sequence[int]
    total: Sequence[int]
    free_if_moved: Sequence[int] | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class AvailabilityGroup:
    """What is free of the resources with one value of a property.

    :ivar value: None for resources without the property, or if there is one group
    :ivar whole: whole resources
    :ivar classes: units by resource class
    :ivar slots: how often the demand fits; None without a demand
    """

    value: str | None
    whole: BucketAmounts
    classes: Mapping[str, BucketAmounts]
    slots: BucketAmounts | None
