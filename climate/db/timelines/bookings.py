# SPDX-License-Identifier: Apache-2.0

"""What a transaction has booked, added to timelines after its commit instead of read again."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping

import sqlalchemy as sa

from climate.allocation import extracts
from climate.allocation.steps import FEW
from climate.db.booking.writer import PendingBookings
from climate.db.schema import guards
from climate.db.timelines.reader import CachedBlock
from climate.domain import copies
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
    def of(cls, session: sa.Connection, pending: PendingBookings) -> NewBookings | None:
        """Return what a transaction has inserted, before it commits.

        :returns: None if it has inserted nothing, or may have changed more than that
        """
        if not (pending.inserted and pending.only_inserts):
            return None
        if any(item.amount < 1 for item in pending.inserted):
            return None
        rows = Counter(item.resource_id for item in pending.inserted)
        dialect, old = session.dialect.name, pending.generations
        # The lock raises each generation by 1. Whatever else the transaction changes of a
        # resource raises it further: the sums differ, and it is read again.
        new = {key: old[key] + 1 + guards.raises(dialect, count) for key, count in rows.items()}
        return cls(allocations=tuple(pending.inserted), old=old, new=new)

    def added(self, kept: CachedBlock) -> CachedBlock | None:
        """Return a block with what was inserted for its resources.

        :param kept: as it was read before the commit
        :returns: None if it was not current then, or if it has none of them
        """
        ids, seen = kept.block.ids, kept.block.generations
        keys = sorted(self.new)
        found = zip(ids.searchsorted(keys).tolist(), keys, strict=True)
        # The others are of another block, or of another type.
        rows = {key: row for row, key in found if row < len(ids) and ids[row] == key}
        if not rows or any(seen[row] != self.old[key] for key, row in rows.items()):
            return None
        news = [item for item in self.allocations if item.resource_id in rows]
        near = [item for item in news if item.period.start <= kept.until]
        generations = seen.copy()
        for key, row in rows.items():
            generations[row] = self.new[key]
        if len(near) <= FEW:
            few = {
                row: [one for one in near if one.resource_id == key] for key, row in rows.items()
            }
            block = extracts.booked(kept.block, few, generations)
        else:
            block = dataclasses.replace(
                extracts.extended(kept.block, extracts.bookings(near)), generations=generations
            )
        return copies.with_changes(
            kept,
            block=block,
            sums=(kept.sums[0], kept.sums[1] + sum(self.new[key] - self.old[key] for key in rows)),
            omits=kept.omits or len(near) < len(news),
        )
