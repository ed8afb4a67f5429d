# SPDX-License-Identifier: Apache-2.0

"""Changes the states of reservations along with their lease."""

from __future__ import annotations

from climate.db.transactions.store import Transaction
from climate.domain.copies import with_changes
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.lifecycles import RESERVATION
from climate.domain.lifecycles import ReservationTrigger


def reservations(lease: Lease, trigger: ReservationTrigger) -> tuple[Reservation, ...]:
    """Return the reservations of *lease* after *trigger*, if their state allows it."""
    return tuple(
        with_changes(item, status=RESERVATION.table[item.status, trigger])
        if (item.status, trigger) in RESERVATION.table
        else item
        for item in lease.reservations
    )


def update(tx: Transaction, old: Lease, new: Lease) -> set[str]:
    """Write the reservations of a lease that have changed; return their ids."""
    before = {item.id: item for item in old.reservations}
    changed = [item for item in new.reservations if item != before[item.id]]
    for item in changed:
        tx.reservations.update(item)
    return {item.id for item in changed}


def write(tx: Transaction, old: Lease, new: Lease) -> Lease:
    """Write the reservations of a lease that have changed; return the lease as written."""
    ids = update(tx, old, new)
    written = tuple(
        with_changes(item, updated_at=tx.now) if item.id in ids else item
        for item in new.reservations
    )
    return with_changes(new, reservations=written)
