# SPDX-License-Identifier: Apache-2.0

"""What a resource must be like, whatever is booked of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

from climate.allocation.requirements import Requirement


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """The conditions on a resource that do not depend on its allocations.

    :ivar required_traits: the resource must have all of these
    :ivar forbidden_traits: the resource must have none of these
    :ivar names: the resource must have one of these names; None for any
    :ivar private: whether the requirement may compare private properties
    """

    resource_type: str
    requirement: Requirement | None = None
    required_traits: Collection[str] = ()
    forbidden_traits: Collection[str] = ()
    names: Collection[str] | None = None
    private: bool = False

    @property
    def is_any(self) -> bool:
        """Whether all resources match that are open to bookings."""
        return (
            self.requirement is None
            and self.names is None
            and not self.required_traits
            and not self.forbidden_traits
        )
