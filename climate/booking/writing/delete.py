# SPDX-License-Identifier: Apache-2.0

"""Deletes a lease: at once if it has nothing in the cloud, otherwise by a manager."""

from __future__ import annotations

import dataclasses

from climate.booking.writing import ends
from climate.db.transactions.store import Transaction
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.domain.lifecycles import EVENT
from climate.domain.lifecycles import EventState
from climate.domain.lifecycles import EventTrigger
from climate.domain.lifecycles import LEASE
from climate.domain.lifecycles import LeaseStatus
from climate.domain.lifecycles import LeaseTrigger
from climate.domain.lifecycles import ReservationStatus
from climate.domain.origins import RequestOrigin
from climate.domain.requests import Check
from climate.enforcement.base import Ending
from climate.enforcement.filters import Filters
from climate.leases import notices
from climate.leases import reading
from climate.leases import schedule


def delete(
    tx: Transaction,
    plugins: notices.Plugins,
    filters: Filters,
    lease_id: str,
    project_id: str | None,
    check: Check | None = None,
    origin: RequestOrigin | None = None,
) -> LeaseStatus:
    """Delete a lease.

    :param project_id: None looks in every project
    :param origin: the request that deletes it; None if none does
    :returns: its new status, DELETED or DELETING
    :raises climate.exceptions.NotFound: if there is none
    """
    lease = tx.leases.get(lease_id, project_id, lock=True)
    if check is not None:
        check(tx.holdings.added(lease))
    if lease.status is LeaseStatus.DELETING:
        return lease.status
    lease = dataclasses.replace(lease, origin=origin or lease.origin)
    if lease.may_hold_rest:
        tx.rests.release(lease.id)
    if _untouched(lease, plugins):
        return finish(tx, plugins, filters, lease).status
    for event in lease.events:
        # Events under way are finished first; all others are cancelled.
        if event.state is EventState.UNDONE:
            tx.events.update(cancelled(event))
    now = schedule.new_event(lease.id, EventKind.DELETE, tx.now)
    tx.events.insert([now])
    deleting = dataclasses.replace(
        lease, status=LEASE.table[lease.status, LeaseTrigger.DELETE], next_due=tx.now
    )
    tx.leases.update(deleting)
    return deleting.status


def finish(tx: Transaction, plugins: notices.Plugins, filters: Filters, lease: Lease) -> Lease:
    """Hide a lease that has nothing in the cloud any more, and send a notification."""
    ends.over(tx, plugins, filters, lease, Ending.DELETED)
    tx.allocations.release([reservation.id for reservation in lease.reservations])
    for event in lease.events:
        if event.open:
            tx.events.update(cancelled(event))
    gone = []
    for reservation in lease.reservations:
        ended = dataclasses.replace(reservation, status=ReservationStatus.DELETED)
        tx.reservations.update(ended)
        gone.append(ended)
    deleted = dataclasses.replace(
        lease,
        status=LEASE.table[lease.status, LeaseTrigger.DELETED],
        reservations=tuple(gone),
        next_due=None,
        deleted_at=tx.now,
    )
    tx.leases.update(deleted)
    notices.notify(tx, plugins, 'lease.delete', deleted)
    return deleted


def cancelled(event: Event) -> Event:
    """Return *event* as a cancelled one; a start that was tried has failed."""
    if event.kind is EventKind.START and event.attempts:
        begun = EVENT.table[event.state, EventTrigger.BEGIN]
        return dataclasses.replace(event, state=EVENT.table[begun, EventTrigger.FAIL])
    return dataclasses.replace(event, state=EVENT.table[event.state, EventTrigger.CANCEL])


def _untouched(lease: Lease, plugins: notices.Plugins) -> bool:
    """Whether no effect of the lease has reached the cloud, or all were undone."""
    if lease.status is LeaseStatus.TERMINATED:
        return True
    begun = any(
        event.kind in (EventKind.PREPARE, EventKind.START) and event.begun_at is not None
        for event in lease.events
    )
    early = lease.status in (LeaseStatus.WAITING, LeaseStatus.PENDING)
    return early and not begun and not lease.started and not _made(lease, plugins)


def _made(lease: Lease, plugins: notices.Plugins) -> bool:
    """Whether the booking may have made something in the cloud."""
    return lease.trust_id is not None or any(
        reading.leaves(plugins[item.resource_type], item)
        for item in lease.reservations
        if item.resource_type in plugins
    )
