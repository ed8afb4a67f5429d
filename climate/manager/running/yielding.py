# SPDX-License-Identifier: Apache-2.0

"""Has a preemptible lease wait for its next slice, after it has given up its resources."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import Final

from climate.booking.writing import rests
from climate.booking.writing.delete import cancelled
from climate.db.transactions.store import Transaction
from climate.domain.copies import with_changes
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.history import EvictedServer
from climate.domain.history import StepState
from climate.domain.leases import Lease
from climate.domain.leases import YieldMode
from climate.domain.lifecycles import EventTrigger
from climate.domain.lifecycles import LEASE
from climate.domain.lifecycles import LeaseTrigger
from climate.domain.lifecycles import ReservationTrigger
from climate.domain.periods import Period
from climate.domain.yield_times import YieldTime
from climate.leases import history
from climate.leases import notices
from climate.leases import states
from climate.leases.settings import LeasingSettings
from climate.messaging import payloads
from climate.messaging import schemas

_SUSPENDED: Final = 'suspended with {} left'
_HELD: Final = 'booked, as it was held'
_TAKEN_BACK: Final = 'taken back; it begins again with {} left'


def warn(tx: Transaction, lease: Lease, evicts: Iterable[EvictedServer]) -> None:
    """Notify other projects of their servers that the start of a lease will delete."""
    for server in evicts:
        event_type = schemas.SERVER_YIELDING
        payload = payloads.eviction(lease, server)
        tx.outbox.post(event_type, lease.id, payload, priority=payloads.priority(event_type))


def measure(tx: Transaction, plugins: notices.Plugins, lease: Lease, event: Event) -> None:
    """Record how long a preemptible lease has taken to give up what it had, by resource type.

    :param event: the end of its present slice
    """
    if lease.yields is None or event.forced or event.begun_at is None:
        return
    if not lease.rest and lease.yields is not YieldMode.END:
        # It ends, which is not what it does to yield.
        return
    units = Counter[str]()
    for one in lease.reservations:
        plugin = plugins.get(one.resource_type)
        if plugin is not None and one.part_of is None:
            units[one.resource_type] += plugin.yield_units(plugin.load(one.request))
    seconds = math.ceil((tx.now - event.begun_at).total_seconds())
    for resource_type, number in sorted(units.items()):
        tx.yield_times.add(resource_type, lease.yields, YieldTime(units=number, seconds=seconds))


def yielded(
    tx: Transaction, plugins: notices.Plugins, settings: LeasingSettings, lease: Lease, event: Event
) -> Lease:
    """Return a lease that waits for its next slice, or has it; the caller has to write it.

    :param event: the end of its present slice
    """
    suspends = lease.yields is YieldMode.SUSPEND
    rest, has_run = lease.rest, int(lease.period.length.total_seconds())
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
    # It names what the lease has had.
    notices.notify(tx, plugins, schemas.YIELDED, waits, event=done, reason=text)
    tx.allocations.release([reservation.id for reservation in lease.reservations])
    resumes = rests.resumed(tx, plugins, settings, waits)
    if resumes is not waits:
        start = next(item for item in resumes.events if item.kind is EventKind.START)
        history.note(tx, start, StepState.DONE, text=_HELD)
        notices.notify(tx, plugins, 'lease.update', resumes)
    return resumes
