# SPDX-License-Identifier: Apache-2.0

"""Abandons a start, or a change of an active lease, that cannot be carried out.

An effect has failed too often, or another lease does not release what it needs.
"""

from __future__ import annotations

import dataclasses

from climate.booking.writing import ends
from climate.db.transactions.store import Transaction
from climate.domain import lifecycles
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.enforcement.base import Ending
from climate.enforcement.filters import Filters
from climate.leases import following
from climate.leases import notices
from climate.leases import schedule
from climate.leases import states


def start(
    tx: Transaction,
    plugins: notices.Plugins,
    filters: Filters,
    lease: Lease,
    event: Event,
    reason: str,
) -> Lease:
    """Abandon a start, notify the owner, and schedule an event that undoes it.

    The caller has to write the lease and its reservations.
    """
    ends.over(tx, plugins, filters, lease, Ending.START_FAILED)
    lost = _begun(event).after(lifecycles.EventTrigger.FAIL, error=reason)
    status = lease.status
    if status is lifecycles.LeaseStatus.PENDING:
        status = lifecycles.LEASE.table[status, lifecycles.LeaseTrigger.START]
    lease = dataclasses.replace(
        tx.events.keep(lease, lost),
        status=lifecycles.LEASE.table[status, lifecycles.LeaseTrigger.FAIL],
        reservations=states.reservations(lease, lifecycles.ReservationTrigger.FAIL),
    )
    notices.notify(tx, plugins, 'lease.event.error', lease, event=lost, reason=reason)
    return undo(tx, lease)


def undo(tx: Transaction, lease: Lease) -> Lease:
    """Return *lease* with a new event that takes back what was done for it."""
    event = schedule.new_event(lease.id, EventKind.UNDO, tx.now)
    tx.events.insert([event])
    return dataclasses.replace(lease, events=(*lease.events, event))


def update(
    tx: Transaction, plugins: notices.Plugins, lease: Lease, event: Event, reason: str
) -> Lease:
    """Restore the requests from before a change, and notify the owner.

    Once the cloud has followed, what the change added is released. The caller has
    to write the lease and its reservations.
    """
    lease = dataclasses.replace(
        lease,
        reservations=tuple(
            dataclasses.replace(item, request=following.before(event, item))
            for item in lease.reservations
        ),
    )
    notices.notify(tx, plugins, 'lease.event.error', lease, event=event, reason=reason)
    undoing = _begun(event).after(
        lifecycles.EventTrigger.POSTPONE,
        due=tx.now,
        attempts=0,
        begun_at=None,
        error=reason,
        payload=event.change and dataclasses.replace(event.change, undoing=True),
    )
    return tx.events.keep(lease, undoing)


def _begun(event: Event) -> Event:
    """Return *event* as begun: only an event that has begun can fail."""
    if event.state is lifecycles.EventState.UNDONE:
        return event.after(lifecycles.EventTrigger.BEGIN)
    return event
