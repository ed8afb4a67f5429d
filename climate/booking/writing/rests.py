# SPDX-License-Identifier: Apache-2.0

"""Holds the later slices of leases that have to end in time.

They are bookings like any other, but of a lease that users cannot see. When a slice is over, the
next one becomes that of the lease itself.
"""

from __future__ import annotations

import dataclasses
import itertools
import operator
from collections import defaultdict
from collections.abc import Iterable
from collections.abc import Sequence

from climate.db.transactions.store import Transaction
from climate.domain import events
from climate.domain.copies import with_changes
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.leases import rest_id
from climate.domain.lifecycles import LEASE
from climate.domain.lifecycles import LeaseTrigger
from climate.domain.lifecycles import ReservationStatus
from climate.domain.periods import Period
from climate.enforcement import limits
from climate.enforcement.limits import Limits
from climate.leases import notices
from climate.leases import schedule
from climate.leases.settings import LeasingSettings

_BY_PERIOD = operator.attrgetter('period.start', 'period.end')


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class HeldRest:
    """What will be held of a lease after its present slice.

    :ivar lease: as it will be
    :ivar had: what is held of it
    :ivar allocations: of its own reservations; none if nothing will be held
    :ivar limits: of its project
    """

    lease: Lease
    had: tuple[Allocation, ...] = ()
    allocations: tuple[Allocation, ...] = ()
    limits: Limits = limits.NONE


def held(tx: Transaction, leases: Iterable[Lease]) -> dict[str, tuple[Allocation, ...]]:
    """Return what is held of leases after their present slices, by id of the lease.

    The allocations have the ids of other reservations: :func:`climate.domain.leases.rest_id`.
    """
    owners = {
        rest_id(one.id): lease.id
        for lease in leases
        if lease.holds_rest
        for one in lease.reservations
    }
    found: dict[str, list[Allocation]] = defaultdict(list)
    for item in tx.allocations.live_of(list(owners)) if owners else ():
        found[owners[item.reservation_id]].append(item)
    return {key: tuple(sorted(some, key=_BY_PERIOD)) for key, some in found.items()}


def span(allocations: Sequence[Allocation]) -> Period:
    """Return the period from the first start to the last end of allocations."""
    return Period(
        start=min(item.period.start for item in allocations),
        end=max(item.period.end for item in allocations),
    )


def slices(allocations: Iterable[Allocation]) -> list[tuple[Period, list[Allocation]]]:
    """Return allocations by their periods, in the order of these."""
    ordered = sorted(allocations, key=_BY_PERIOD)
    return [
        (period, list(some))
        for period, some in itertools.groupby(ordered, operator.attrgetter('period'))
    ]


def write(tx: Transaction, settings: LeasingSettings, one: HeldRest) -> None:
    """Write what is held of a lease; what was held has been removed, and resources are locked.

    :raises climate.exceptions.LeaseRefused: if a limit of the project forbids it
    """
    tx.rests.forget(one.lease.id)
    if not one.allocations:
        return
    hidden = _hidden(one.lease, span(one.allocations))
    allocations = [
        dataclasses.replace(item, id=None, reservation_id=rest_id(item.reservation_id))
        for item in one.allocations
    ]
    # It is no lease of the project, but has resources of it.
    allowed = dataclasses.replace(one.limits, leases=0, days_per_lease=0, days_ahead=0)
    with limits.held(tx, allowed, hidden, None, allocations, ()):
        writer = tx.book({item.resource_id for item in allocations}, pause=settings.cleaning_time)
        tx.leases.insert(hidden)
        tx.reservations.insert(hidden.reservations)
        writer.insert(allocations)


def _hidden(lease: Lease, period: Period) -> Lease:
    """Return the lease that holds the rest of another one."""
    hidden = Lease(
        id=rest_id(lease.id),
        name=lease.name,
        user_id=lease.user_id,
        project_id=lease.project_id,
        period=period,
        rest_of=lease.id,
        created_at=lease.created_at,
        deleted_at=period.end,
    )
    reservations = tuple(
        dataclasses.replace(
            item,
            id=rest_id(item.id),
            lease_id=hidden.id,
            status=ReservationStatus.PENDING,
            facts={},
            part_of=None if item.part_of is None else rest_id(item.part_of),
        )
        for item in lease.reservations
    )
    return with_changes(hidden, reservations=reservations)


def booked(
    tx: Transaction,
    plugins: notices.Plugins,
    settings: LeasingSettings,
    lease: Lease,
    period: Period,
    resource_ids: set[int],
) -> Lease:
    """Return a lease that waits as it is once it has a place, with its events.

    :param resource_ids: of what it has there
    """
    lease = dataclasses.replace(
        lease,
        period=period,
        status=LEASE.table[lease.status, LeaseTrigger.BOOK],
        lead_time=tx.search.lead_times.longest(resource_ids),
    )
    prepares = schedule.preparation(plugins[item.resource_type] for item in lease.reservations)
    firm_before = schedule.firm_before(lease, prepares, settings)
    lease = dataclasses.replace(lease, firm_before=firm_before)
    timetable = schedule.initial(lease, (), prepares=prepares, now=tx.now, settings=settings)
    return dataclasses.replace(
        lease, events=tuple(timetable), next_due=events.next_due(timetable), updated_at=tx.now
    )


def resumed(
    tx: Transaction, plugins: notices.Plugins, settings: LeasingSettings, lease: Lease
) -> Lease:
    """Return a lease that has yielded with the next slice that is held for it, if there is one.

    The caller has to write the lease.

    :param lease: which waits
    """
    whose = {rest_id(item.id): item.id for item in lease.reservations}
    found = slices(tx.allocations.live_of(list(whose)) if lease.may_hold_rest else ())
    if not found:
        return lease
    if found[0][0].end <= tx.now:
        # It has yielded too late. What is left to it may have room elsewhere.
        tx.rests.release(lease.id)
        return lease
    (period, mine), *others = found
    tx.rests.take(mine, whose)
    if others:
        tx.rests.shorten(lease.id, others[0][0])
    else:
        tx.rests.forget(lease.id)
    # Those of the slice before are in the history.
    tx.events.delete([event.id for event in lease.events])
    resource_ids = {item.resource_id for item in mine}
    new = booked(tx, plugins, settings, lease, period, resource_ids)
    tx.events.insert(new.events)
    return new
