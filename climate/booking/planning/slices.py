# SPDX-License-Identifier: Apache-2.0

"""Books preemptible leases in time slices.

A slice begins at the soonest start at which there is room for long enough, and lasts as long as
there is, or until nothing is left. What is left after it waits, and gets the next slice.
"""

from __future__ import annotations

import dataclasses
import datetime
from typing import Final

from climate import exceptions
from climate.allocation.rearrangements import Rearrangement
from climate.booking.choosing import placements
from climate.booking.choosing import requirements
from climate.booking.planning import moves
from climate.booking.planning import replanning
from climate.booking.planning import waiting
from climate.booking.planning.replanning import MovableLease
from climate.booking.requests import changed_requests
from climate.booking.requests import prepare
from climate.booking.requests.context import Context
from climate.booking.writing import change as changes
from climate.booking.writing import create
from climate.booking.writing.change import Changed
from climate.booking.writing.create import Chosen
from climate.db.transactions.store import Transaction
from climate.domain.leases import Lease

_MICROSECOND: Final = datetime.timedelta(microseconds=1)


def first(tx: Transaction, work: create.LeaseWork[Chosen]) -> Chosen | prepare.Missing:
    """Return a new lease with its first slice, or what its user has to make first.

    :raises climate.exceptions.NotEnoughResources: if there is no room, and it does not wait
    :raises climate.exceptions.LeaseRefused: if a limit of the project forbids it
    """
    new, context = work.new, work.context
    if new.draft.id is not None and tx.leases.project_of(new.draft.id) is not None:
        # By another try of this request. The next one finds the lease.
        raise exceptions.IdempotencyKeyInUse(retry_after=1)
    for resource_type, name in new.things:
        tx.things.ensure(resource_type, name, new.caller.project_id)
    waits = waiting.unbooked(tx, work)
    if isinstance(waits, prepare.Missing):
        return waits
    period = waits.lease.period
    needed = requirements.of_new_lease(new, period, period.padded(context.settings.cleaning_time))
    one = MovableLease(lease=waits.lease, allocations=(), needed=tuple(needed))
    try:
        place = waiting.at(tx, context, one, period.start)
    except exceptions.NotEnoughResources:
        if not new.draft.waits:
            raise
        return waits
    lease = waiting.booked(tx, context, waits.lease, place)
    if new.draft.placements:
        lease = placements.shown(tx, lease, place.allocations)
    return dataclasses.replace(
        waits, lease=lease, allocations=place.allocations, choice=place.choice
    )


def is_partial(lease: Lease) -> bool:
    """Whether a lease may get a longer slice at the start that it has."""
    return lease.period.length < lease.length


@dataclasses.dataclass(frozen=True, kw_only=True)
class SliceMove(moves.PlannedMove):
    """Gives a preemptible lease an earlier slice, or a longer one at the same start."""

    def choose(self, tx: Transaction) -> Changed:
        """Choose the slice, as if the lease had none.

        :raises climate.exceptions.NotEnoughResources: if there is no better one
        """
        context, new = self.context, self.new
        old = changed_requests.locked(tx, new.lease_id, new.project_id, new.change)
        found = replanning.movable(tx, context, [old])
        if not found or old.earliest is None or old.is_firm(tx.now):
            raise exceptions.NotEnoughResources
        tx.rearrangement = Rearrangement(context.settings.cleaning_time // _MICROSECOND)
        try:
            tx.rearrangement.remove(found[0].allocations)
            place = waiting.at(tx, context, found[0], old.earliest)
        finally:
            tx.rearrangement = None
        before, after = old.period, place.period
        if (after.start, before.end) >= (before.start, after.end):
            raise exceptions.NotEnoughResources
        return replanning.moved(tx, context, found[0], place)


def move(context: Context, lease: Lease) -> bool:
    """Give a preemptible lease a better slice; return whether there is one."""
    new = moves.to(lease, lease.period)
    work = SliceMove(context=context, caller=new.caller, new=new, reason='because there is room')
    try:
        changes.booked(work)
    except exceptions.NotEnoughResources:
        return False
    return True
