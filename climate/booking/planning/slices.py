# SPDX-License-Identifier: Apache-2.0

"""Books preemptible leases in time slices.

A slice begins at the soonest start at which there is room for long enough, and lasts as long as
there is, or until nothing is left. What is left after it waits, and gets the next slice.
"""

from __future__ import annotations

import dataclasses

from climate import exceptions
from climate.booking.choosing import placements
from climate.booking.choosing import requirements
from climate.booking.planning import waiting
from climate.booking.planning.replanning import MovableLease
from climate.booking.requests import prepare
from climate.booking.writing import create
from climate.booking.writing.create import Chosen
from climate.db.transactions.store import Transaction
from climate.enforcement import limits


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
        with limits.refusing(None):
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
