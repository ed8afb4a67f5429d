# SPDX-License-Identifier: Apache-2.0

"""Moves a flexible lease to another start if it cannot stay where it is."""

from __future__ import annotations

import logging

from climate.booking.offers import change_searches
from climate.booking.planning import moves
from climate.booking.planning import replanning
from climate.booking.requests.context import Context
from climate.booking.writing import change as changes
from climate.booking.writing import commit
from climate.booking.writing import rests
from climate.domain.offers import OfferKind
from climate.domain.periods import Period

LOG = logging.getLogger(__name__)


def elsewhere(context: Context, lease_id: str, reason: str) -> bool:
    """Move a lease to the soonest start in its window at which there is room.

    :param reason: why, for its owner
    :returns: False if its start is fixed or firm, or if there is no room
    :raises climate.exceptions.ClimateError: if others were faster
    """
    with context.store.reading() as tx:
        lease, now = tx.leases.find(lease_id), tx.now
        held = () if lease is None else rests.held(tx, [lease]).get(lease.id, ())
        if lease is not None and held:
            # Its later slices stay.
            last = rests.span(held).start - replanning.between(tx, context, lease)
    if lease is None or lease.earliest is None or lease.is_firm(now):
        return False
    first = max(lease.earliest, now)
    period = Period(start=first, end=first + lease.period.length)
    with change_searches.searching(context, moves.to(lease, period)) as search:
        if not held:
            last = lease.latest or (lease.created_at or now) + context.settings.plan_horizon
        frame = search.frame(last)
        offer = search.next(frame, OfferKind.SOONEST) if frame.earliest <= frame.latest else None
    if offer is None:
        return False
    new = moves.to(lease, offer.period)
    changes.booked(
        moves.PlannedMove(
            context=context, caller=new.caller, new=new, reason=reason, cause=commit.DISPLACED
        )
    )
    LOG.info('Lease %s: begins at %s instead: %s', lease.id, offer.period.start, reason)
    return True
