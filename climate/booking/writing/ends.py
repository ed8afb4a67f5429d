# SPDX-License-Identifier: Apache-2.0

"""Notifies filters of the end of a lease, or of a change that was undone."""

from __future__ import annotations

import datetime
import uuid

from climate.booking.writing import commit
from climate.db.transactions.store import Transaction
from climate.domain.charges import ChargeState
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.domain.lifecycles import EventState
from climate.domain.lifecycles import LeaseStatus
from climate.enforcement import base
from climate.enforcement import ledger
from climate.enforcement.filters import Filters
from climate.leases import notices


def over(
    tx: Transaction, plugins: notices.Plugins, filters: Filters, lease: Lease, ending: base.Ending
) -> None:
    """Notify filters that a lease has ended, once in its life.

    :param lease: as before its end, when it still has its allocations
    """
    if not filters.applies_to(lease.project_id) or not filters.notified_of(ChargeState.END):
        return
    # A failed start has already notified them, and is followed by an UNDO.
    known = any(event.kind is EventKind.UNDO for event in lease.events)
    if known or lease.status is LeaseStatus.TERMINATED:
        return
    ended_at = _ended_at(lease, ending, tx.now)
    end = base.End(
        id=str(uuid.uuid4()),
        terms=commit.terms(tx, plugins, lease),
        ending=ending,
        ended_at=ended_at,
        used=_used(lease, ended_at),
    )
    ledger.ended(tx, filters, end)


def undone(
    tx: Transaction, plugins: notices.Plugins, filters: Filters, lease: Lease, event: Event
) -> None:
    """Notify filters that a change they allowed was undone.

    :param lease: as restored
    :param event: the event that was to carry out the change
    """
    charge_id = event.change.charge_id if event.change else None
    if charge_id is None or not filters.notified_of(ChargeState.RELEASE):
        return
    question = base.FilterQuestion(
        id=charge_id,
        action=base.Action.UPDATE,
        user_id=lease.user_id,
        now=tx.now,
        terms=commit.terms(tx, plugins, lease),
        undone=True,
    )
    ledger.undone(tx, filters, question)


def _ended_at(lease: Lease, ending: base.Ending, now: datetime.datetime) -> datetime.datetime:
    """Return until when the lease could be used, even if it was released later."""
    if ending is base.Ending.ENDED:
        return lease.period.end
    if ending is base.Ending.DELETED:
        asked = [event.time for event in lease.events if event.kind is EventKind.DELETE]
        return min([*asked, now, lease.period.end])
    return now


def _used(lease: Lease, ended_at: datetime.datetime) -> datetime.timedelta:
    begun = max(lease.period.start, lease.created_at or lease.period.start)
    nothing = datetime.timedelta(0)
    ran = datetime.timedelta(seconds=lease.ran or 0)
    return ran + max(ended_at - begun, nothing) if _started(lease) else nothing


def _started(lease: Lease) -> bool:
    """Whether the lease ever had its resources.

    A cancelled start is DONE as well, so the event shows it only for leases
    without reservations.
    """
    if lease.reservations:
        return lease.started
    return any(
        event.kind is EventKind.START and event.state is EventState.DONE for event in lease.events
    )
