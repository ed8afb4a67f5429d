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

"""What a transaction has booked, added to timelines after its commit instead of read again."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping

import numpy as np
import sqlalchemy as sa

from climate.allocation import extracts
from climate.db import guards
from climate.db.books import Docket
from climate.db.timeline_reader import CachedBlock
from climate.domain.leases import Allocation


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class NewBookings:
    """New allocations of resources of which nothing else changes.

    :ivar allocations: all that the transaction has inserted
    :ivar old: the generations of the resources from before the transaction
    :ivar new: those that it commits
    """

    allocations: tuple[Allocation, ...]
    old: Mapping[int, int]
    new: Mapping[int, int]

    @classmethod
    def of(cls, session: sa.Connection, docket: Docket) -> NewBookings | None:
        """Return what a transaction has inserted, before it commits.

        :returns: None if it has inserted nothing, or may have changed more than that
        """
        if not (docket.inserted and docket.only_inserts):
            return None
        if any(item.amount < 1 for item in docket.inserted):
            return None
        rows = Counter(item.resource_id for item in docket.inserted)
        dialect, old = session.dialect.name, docket.generations
        # The lock raises each generation by 1. Whatever else the transaction changes of a
        # resource raises it further: the sums differ, and it is read again.
        new = {key: old[key] + 1 + guards.raises(dialect, count) for key, count in rows.items()}
        return cls(allocations=tuple(docket.inserted), old=old, new=new)

    def added(self, kept: CachedBlock) -> CachedBlock | None:
        """Return a block with what was inserted for its resources.

        :param kept: as it was read before the commit
        :returns: None if it was not current then, or if it has none of them
        """
        seen = dict(zip(kept.block.ids.tolist(), kept.block.generations.tolist(), strict=True))
        # The others are of another block, or of another type.
        mine = sorted(self.new.keys() & seen.keys())
        if not mine or any(seen[key] != self.old[key] for key in mine):
            return None
        rows = np.searchsorted(kept.block.ids, mine)
        news = [item for item in self.allocations if item.resource_id in seen]
        near = [item for item in news if item.period.start <= kept.until]
        generations = kept.block.generations.copy()
        generations[rows] = [self.new[key] for key in mine]
        block = extracts.extended(kept.block, extracts.bookings(near))
        return dataclasses.replace(
            kept,
            block=dataclasses.replace(block, generations=generations),
            sums=(kept.sums[0], int(generations.sum())),
            omits=kept.omits or len(near) < len(news),
        )
