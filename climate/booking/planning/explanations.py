# SPDX-License-Identifier: Apache-2.0

"""Explains to operators why a flexible lease is where it is."""

from __future__ import annotations

import dataclasses
from typing import Final

from climate import exceptions
from climate.booking.planning import queue
from climate.booking.requests.context import Context
from climate.db.reports.blockers import Blockers
from climate.db.reports.blockers import ResourceBlocker
from climate.domain.lifecycles import LeaseStatus
from climate.domain.periods import Period
from climate.domain.queue import QueuedLease

MOST_BLOCKERS: Final = 100
"""How many leases, and how many maintenances, an explanation names at most."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """Why a flexible lease is where it is.

    :ivar why: in one sentence
    :ivar period: the first one in its window
    :ivar blockers: what has the resources in that period that the lease could have
    """

    queued: QueuedLease
    why: str
    period: Period
    blockers: tuple[ResourceBlocker, ...] = ()


def explain(context: Context, lease_id: str) -> Explanation:
    """Explain why a flexible lease is where it is.

    :raises climate.exceptions.NotFound: if there is no such lease
    :raises climate.exceptions.InvalidInput: if its start is fixed
    """
    with context.store.reading() as tx:
        lease = tx.leases.get(lease_id)
        if lease.earliest is None:
            raise exceptions.InvalidInput(f'Lease {lease_id} has a fixed start: it is not planned')
        forecasts = queue.Forecasts(tx, context, [lease])
        ahead = queue.QueueAhead(context, tx.queue.ahead(lease)).before(lease)
        queued = QueuedLease(lease=lease, ahead=ahead, forecast=forecasts.of(lease))
        first = max(lease.earliest, tx.now)
        period = Period(start=first, end=first + lease.period.length)
        blockers: list[ResourceBlocker] = []
        if queued.forecast.waits_for:
            padded = period.padded(context.settings.cleaning_time)
            rows = Blockers(tx.session, tx.now)
            blockers = rows.of(forecasts.resource_ids(lease), padded, lease.id, MOST_BLOCKERS)
        why = _why(queued, firm=lease.is_firm(tx.now))
    return Explanation(queued=queued, why=why, period=period, blockers=tuple(blockers))


def _why(one: QueuedLease, *, firm: bool) -> str:
    if one.lease.status is LeaseStatus.WAITING:
        if one.forecast.start is not None:
            return 'There is room: the next plan books it, unless a limit forbids it.'
        if one.forecast.room_at is not None:
            return 'There is room only after its window.'
        if one.forecast.waits_for:
            return 'There is no room, however late: too few resources match.'
        return 'Its start cannot be forecast: where it may be depends on more than what is free.'
    if one.lease.status is not LeaseStatus.PENDING:
        return f'It is {one.lease.status}, and no longer planned.'
    if firm:
        return 'It is firm, and no longer moves.'
    if not one.forecast.waits_for:
        return 'It begins as early as its window allows, or the next plan moves it.'
    return 'Too little is free at an earlier start.'
