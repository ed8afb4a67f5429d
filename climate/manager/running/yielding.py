# SPDX-License-Identifier: Apache-2.0

"""Has a preemptible lease wait for its next slice, after it has given up its resources."""

from __future__ import annotations

from typing import Final

from climate.booking.writing.delete import cancelled
from climate.db.transactions.store import Transaction
from climate.domain.copies import with_changes
from climate.domain.events import Event
from climate.domain.history import StepState
from climate.domain.leases import Lease
from climate.domain.leases import YieldMode
from climate.domain.lifecycles import EventTrigger
from climate.domain.lifecycles import LEASE
from climate.domain.lifecycles import LeaseTrigger
from climate.domain.lifecycles import ReservationTrigger
from climate.domain.periods import Period
from climate.leases import history
from climate.leases import notices
from climate.leases import states
from climate.messaging import schemas

_SUSPENDED: Final = 'suspended with {} left'
_TAKEN_BACK: Final = 'taken back; it begins again with {} left'


def yielded(tx: Transaction, plugins: notices.Plugins, lease: Lease, event: Event) -> Lease:
    """Return a lease that waits for its next slice; the caller has to write it.

    :param event: the end of its present slice
    """
    suspends = lease.yields is YieldMode.SUSPEND
    rest, has_run = lease.rest, int(lease.period.length.total_seconds())
    tx.allocations.release([reservation.id for reservation in lease.reservations])
    done = event.after(EventTrigger.FINISH)
    lease = tx.events.keep(lease, done)
    for item in lease.events:
        if item.open:
            lease = tx.events.keep(lease, cancelled(item))
    text = (_SUSPENDED if suspends else _TAKEN_BACK).format(rest)
    history.note(tx, done, StepState.DONE, text=text)
    begin = max(lease.period.end, tx.now)
    waits = with_changes(
        lease,
        status=LEASE.table[lease.status, LeaseTrigger.YIELDED],
        degraded=False,
        reservations=states.reservations(lease, ReservationTrigger.YIELDED),
        period=Period(start=begin, end=begin + rest),
        time_left=int(rest.total_seconds()),
        ran=(lease.ran or 0) + has_run if suspends else None,
    )
    notices.notify(tx, plugins, schemas.YIELDED, waits, event=done, reason=text)
    return waits
