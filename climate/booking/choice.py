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


"""What was chosen for a lease."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence

from climate.booking import placements
from climate.booking.requirements import Requirements
from climate.db.store import Transaction
from climate.domain.leases import Allocation


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ChosenResources:
    """The resources that were chosen for some requirements.

    :ivar bookable: whether they must be open to new bookings
    :ivar site: what their placement depends on; None if they have none
    """

    requirements: Requirements
    ids: frozenset[int]
    bookable: bool = True
    site: placements.Site | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """Everything that was chosen for one lease; the input of :func:`lock`.

    :ivar generations: of the resources, as first read
    :ivar changing: ids of the reservations that are being changed
    """

    generations: Mapping[int, int]
    chosen: tuple[ChosenResources, ...]
    changing: tuple[str, ...]

    def still_matches(self, tx: Transaction, changed: Collection[int]) -> bool:
        """Whether the resources that have changed still match what they were chosen for.

        Checking again instead of choosing again keeps a busy resource from starving a booking.
        """
        return all(
            ids
            == tx.search.matching(
                one.requirements.match,
                ids,
                demand=one.requirements.search.demand,
                bookable=one.bookable,
            )
            and (one.site is None or one.site.holds(tx, one.requirements, ids))
            for one in self.chosen
            if (ids := one.ids.intersection(changed))
        )


Chooser = Callable[[Sequence[Requirements]], tuple[Choice, tuple[Allocation, ...]]]
"""Chooses resources for the reservations of a new lease."""
