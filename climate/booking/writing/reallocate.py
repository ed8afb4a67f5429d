# SPDX-License-Identifier: Apache-2.0

"""Replaces a resource of a reservation at the request of an operator."""

from __future__ import annotations

import dataclasses
import random

from climate import exceptions
from climate.booking.choosing import placements
from climate.booking.writing import move
from climate.db.transactions.store import Transaction
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.lifecycles import LeaseStatus
from climate.domain.requests import Check
from climate.domain.requests import Reallocation
from climate.leases import notices
from climate.leases import states
from climate.leases.settings import LeasingSettings

_DEFAULT_REASON = 'at the request of an operator'
_MOVABLE = frozenset({LeaseStatus.PENDING, LeaseStatus.ACTIVE})


def reallocate(
    tx: Transaction,
    plugins: notices.Plugins,
    settings: LeasingSettings,
    rng: random.Random,
    lease_id: str,
    project_id: str | None,
    wanted: Reallocation,
    check: Check | None = None,
) -> Lease:
    """Move a reservation off a resource.

    A reservation of a pending lease moves at once. A manager moves one of an active
    lease, and leaves it where it is if something runs there, unless that is forced.

    :param project_id: None looks in every project
    :param check: of the lease before; None for none
    :raises climate.exceptions.ClimateError: if that is not possible; nothing is
        changed then
    :raises climate.booking.choosing.choose.LostRace: if the caller has to try again
    """
    old = tx.leases.get(lease_id, project_id, lock=True)
    if check is not None:
        check(tx.holdings.added(old))
    if old.status not in _MOVABLE:
        raise exceptions.InvalidState(state=old.status, id=old.id)
    reservation = _reservation(old, wanted.reservation_id)
    resource_id = _resource_id(tx.allocations.live_of([reservation.id]), wanted)
    mover = move.Mover(tx, plugins, settings, rng, old)
    mover.move(reservation, resource_id, wanted.reason or _DEFAULT_REASON)
    lease = old
    if old.status is LeaseStatus.PENDING:
        marked = [item.id for item in old.reservations if item.missing_resources]
        left = [
            trouble
            for trouble in (tx.affected_leases.of(marked, None) if marked else ())
            if (trouble.reservation_id, trouble.resource_id) != (reservation.id, resource_id)
        ]
        lease = move.flagged(old, {trouble.reservation_id for trouble in left})
    lease = dataclasses.replace(mover.write(lease, forced=wanted.forced), updated_at=tx.now)
    lease = states.write(tx, old, lease)
    tx.leases.update(lease)
    current = tx.allocations.live_of([item.id for item in lease.reservations])
    return placements.shown(tx, lease, current)


def _reservation(lease: Lease, reservation_id: str) -> Reservation:
    for reservation in lease.reservations:
        if reservation.id == reservation_id:
            return reservation
    raise exceptions.InvalidInput(
        f'Please enter valid reservation IDs. Invalid reservation IDs are: {reservation_id}'
    )


def _resource_id(current: list[Allocation], wanted: Reallocation) -> int:
    for item in current:
        if wanted.resource_id in (None, item.resource_id) and wanted.resource_name in (
            '',
            item.resource_name,
        ):
            return item.resource_id
    if wanted.resource_id is None:
        raise exceptions.NotFound(object={'resource_name': wanted.resource_name})
    raise exceptions.NotFound(object={'resource_id': str(wanted.resource_id)})
