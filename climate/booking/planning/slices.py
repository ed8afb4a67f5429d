# SPDX-License-Identifier: Apache-2.0

"""Books preemptible leases in time slices.

A slice begins at the soonest start at which there is room for long enough, and lasts as long as
there is, or until nothing is left. What is left after it waits, and gets the next slice. One that
has to end in time is booked as a whole, or in several slices that are all held.
"""

from __future__ import annotations

import dataclasses
from typing import Final

from climate import exceptions
from climate.booking.choosing import placements
from climate.booking.choosing import requirements
from climate.booking.planning import replanning
from climate.booking.planning import waiting
from climate.booking.planning.places import Place
from climate.booking.planning.replanning import MovableLease
from climate.booking.requests import prepare
from climate.booking.writing import create
from climate.booking.writing.create import Chosen
from climate.booking.writing.rests import HeldRest
from climate.db.transactions.store import Transaction
from climate.domain.leases import YieldMode
from climate.enforcement import limits

_LONGEST: Final = 2.0


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
    one = _movable(work, waits)
    try:
        with limits.refusing(None):
            place = waiting.at(tx, context, one, waits.lease.period.start)
    except exceptions.NotEnoughResources:
        if not new.draft.waits:
            raise
        return waits
    return _at(tx, work, waits, place)


def several(tx: Transaction, work: create.LeaseWork[Chosen]) -> Chosen | prepare.Missing | None:
    """Return a new lease in several slices, all of which are held, so that it ends in time.

    :returns: None if it cannot be suspended, or if there is no room
    :raises climate.exceptions.LeaseRefused: if a limit of the project forbids it
    """
    draft, context = work.new.draft, work.context
    if draft.yields is not YieldMode.SUSPEND or draft.latest is None:
        return None
    waits = waiting.unbooked(tx, work)
    if isinstance(waits, prepare.Missing):
        return waits
    one, first = _movable(work, waits), max(draft.start, tx.now)
    until = context.clock.ticks() + _LONGEST
    places = replanning.in_slices(tx, context, one, first, until)
    if places is None:
        return None
    chosen = _at(tx, work, waits, Place(one=one, **places[0]._asdict()))
    rest = HeldRest(
        lease=chosen.lease,
        allocations=tuple(item for place in places[1:] for item in place.allocations),
        limits=work.new.limits,
    )
    return dataclasses.replace(chosen, rests=(rest,))


def _movable(work: create.LeaseWork[Chosen], waits: Chosen) -> MovableLease:
    period = waits.lease.period
    padded = period.padded(work.context.settings.cleaning_time)
    needed = requirements.of_new_lease(work.new, period, padded)
    return MovableLease(lease=waits.lease, allocations=(), needed=tuple(needed))


def _at(tx: Transaction, work: create.LeaseWork[Chosen], waits: Chosen, place: Place) -> Chosen:
    """Return a new lease at the place of its first slice."""
    lease = waiting.booked(tx, work.context, waits.lease, place)
    if work.new.draft.placements:
        lease = placements.shown(tx, lease, place.allocations)
    return dataclasses.replace(
        waits, lease=lease, allocations=place.allocations, choice=place.choice
    )
