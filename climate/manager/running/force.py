# SPDX-License-Identifier: Apache-2.0

"""Ends a lease whose effects keep failing, when an operator decides so.

A manager still does everything that works. What fails is abandoned, and stays
in the cloud for ``climate-manage lease repair`` or the operator.
"""

from __future__ import annotations

import dataclasses
from typing import Final

from climate import exceptions
from climate.db.transactions.store import Transaction
from climate.domain import events
from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.domain.lifecycles import LeaseStatus
from climate.domain.payloads import EndPayload

_S = LeaseStatus
_REFUSED: Final = {
    _S.PENDING: 'it has not started; delete it',
    _S.TERMINATED: 'it has ended',
    _S.DELETED: 'it is deleted',
}


def end(tx: Transaction, lease_id: str, *, forced: bool = True) -> Lease:
    """Have a lease that has started end now, whatever fails on the way.

    A lease that is being deleted is deleted in the same way.

    :param forced: whether what fails is abandoned; otherwise it is retried
    :raises climate.exceptions.NotFound: if the lease does not exist
    :raises climate.exceptions.Conflict: if there is nothing to end
    """
    lease = tx.leases.get(lease_id, lock=True)
    kind = EventKind.DELETE if _deleting(lease) else EventKind.END
    ends = [event for event in lease.events if event.open and event.kind is kind]
    if lease.status in _REFUSED or not ends:
        why = _REFUSED.get(lease.status, 'there is nothing to end')
        raise exceptions.Conflict(f'Lease {lease_id} cannot be ended: {why}')
    (event, *_) = ends
    now = dataclasses.replace(
        event,
        due=min(event.due, tx.now),
        time=min(event.time, tx.now),
        payload=dataclasses.replace(event.end or EndPayload(), forced=forced or event.forced),
    )
    lease = tx.events.keep(lease, now)
    if lease.period.start < tx.now < lease.period.end:
        lease = dataclasses.replace(
            lease,
            period=dataclasses.replace(lease.period, end=tx.now),
            time_left=None,
            updated_at=tx.now,
        )
    lease = dataclasses.replace(lease, next_due=events.next_due(lease.events))
    tx.leases.update(lease)
    return lease


def _deleting(lease: Lease) -> bool:
    return any(event.open and event.kind is EventKind.DELETE for event in lease.events)
