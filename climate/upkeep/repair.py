# SPDX-License-Identifier: Apache-2.0

"""Repairs contradictions in the store, and reads from it what sweeps need."""

from __future__ import annotations

import dataclasses

from climate.db.transactions.store import Transaction
from climate.domain import events
from climate.plugins.contract import Records
from climate.plugins.contract import SweepFinding


def records(tx: Transaction, resource_type: str, lease_id: str | None) -> Records:
    """Return the records that a sweep of a type uses.

    :param lease_id: limits the records to those of this lease; None for all leases
    """
    alive, ended = tx.inconsistencies.reservations()
    if lease_id is None:
        return Records(
            alive=alive, ended=ended, resources=tuple(tx.resources.of_type(resource_type))
        )
    mine = {item.id for item in tx.reservations.of_leases([lease_id])}
    # Counted as alive, other leases keep what they left: it is not for this sweep.
    return Records(alive=(alive | ended) - (ended & mine), ended=ended & mine)


def release_strays(tx: Transaction, *, lease_id: str | None, dry_run: bool) -> list[SweepFinding]:
    """Release allocations that ended leases still have."""
    strays = tx.inconsistencies.strays(lease_id)
    if strays and not dry_run:
        tx.allocations.release({stray.reservation_id for stray in strays})
    return [
        SweepFinding(
            what=f'lease {stray.lease_id} has ended and still has {stray.resource_type}'
            f' {stray.resource_name}',
            done='' if dry_run else 'released',
        )
        for stray in strays
    ]


def reschedule(tx: Transaction, *, lease_id: str | None, dry_run: bool) -> list[SweepFinding]:
    """Reschedule the leases that managers would process too late, or never."""
    leases = tx.inconsistencies.forgotten(lease_id)
    for forgotten in leases if not dry_run else ():
        lease = tx.leases.get(forgotten, lock=True)
        tx.leases.update(dataclasses.replace(lease, next_due=events.next_due(lease.events)))
    return [
        SweepFinding(
            what=f'lease {forgotten} is not processed when its events are due',
            done='' if dry_run else 'rescheduled',
        )
        for forgotten in leases
    ]
