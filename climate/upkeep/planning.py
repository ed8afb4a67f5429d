# SPDX-License-Identifier: Apache-2.0

"""Moves flexible leases forward into what has become free, until they are firm.

In the order of their requests, each moves to the soonest start in its window. No lease moves
for the sake of one that was requested later. Each move is a transaction of its own, which
chooses and verifies as any change does, so any number of managers can plan at once.
"""

from __future__ import annotations

import dataclasses
import datetime
import logging
import operator
from collections.abc import Sequence

from climate import exceptions
from climate.booking.offers import change_searches
from climate.booking.offers.change_searches import ChangeSearch
from climate.booking.planning import moves
from climate.booking.planning import replanning
from climate.booking.planning import slices
from climate.booking.planning import waiting
from climate.booking.planning.gains import Gains
from climate.booking.planning.replanning import MovableLease
from climate.booking.requests.context import Context
from climate.booking.writing import change as changes
from climate.booking.writing import commit
from climate.domain.leases import Lease
from climate.domain.lifecycles import LeaseStatus
from climate.domain.offers import OfferKind
from climate.domain.periods import Period
from climate.domain.requests import Caller

LOG = logging.getLogger(__name__)

_PLANNER = Caller(user_id='', project_id='', all_projects=True)

# Starts that a search finds are whole minutes.
_MINUTE = datetime.timedelta(minutes=1)


class Planner:
    """Plans in rounds, on behalf of one manager."""

    def __init__(self, context: Context) -> None:
        # Filters have allowed the lease, and are not asked again about each move.
        self._context = dataclasses.replace(context, filters=context.filters.local)
        self._seen: object = None

    def round(self) -> int:
        """Move leases that can begin earlier, and book those that wait; return how many.

        Those that have waited for too long end, and count, too. Nothing is looked for if nothing
        has changed since the last round.

        :raises climate.exceptions.DatabaseUnavailable: if the database does not respond
        """
        with self._context.store.reading() as tx:
            waits = tx.leases.with_ids(tx.leases.waiting())
            ids = [*tx.leases.movable(), *(one.id for one in waits)]
            state = ids, tx.resources.generation_sums()
            found = [] if state == self._seen else tx.leases.with_ids(ids)
            found.sort(key=operator.attrgetter('created_at', 'id'))
            leases = {
                one.lease.id: one
                for one in replanning.movable(tx, self._context, found)
                if one.lease.status is LeaseStatus.PENDING
            }
        done = sum(self._end(one.id) for one in waits if self._is_late(one))
        done += self._moved([leases.get(one.id, one) for one in found])
        self._seen = None if done else state
        return done

    def _is_late(self, lease: Lease) -> bool:
        return waiting.is_late(self._context, lease, self._context.clock.now())

    def _end(self, lease_id: str) -> bool:
        return self._context.store.run(lambda tx: waiting.end(tx, self._context, lease_id))

    def _moved(self, leases: Sequence[MovableLease | Lease]) -> int:
        """Move those of *leases* that can begin earlier; return how many were moved."""
        gains, moved = self._gains(leases), 0
        for place, one in enumerate(leases, 1):
            if isinstance(one, Lease):
                advanced = self._advance(one.id)
            else:
                start = gains.start(one)
                advanced = (start is not None or slices.is_partial(one.lease)) and self._advance(
                    one.lease.id, start
                )
            if advanced:
                moved += 1
                gains = self._gains(leases[place:])
        return moved

    def _gains(self, leases: Sequence[MovableLease | Lease]) -> Gains:
        """Return what *leases* may gain now."""
        with self._context.store.reading() as tx:
            known = [one for one in leases if isinstance(one, MovableLease)]
            return Gains(tx, known, self._context.settings.cleaning_time)

    def _advance(self, lease_id: str, soonest: datetime.datetime | None = None) -> bool:
        try:
            return self.advance(lease_id, soonest)
        except exceptions.DatabaseUnavailable:
            raise
        except exceptions.ClimateError as error:
            LOG.info('Lease %s stays at its start: %s', lease_id, error.message)
        except Exception:
            # One lease that cannot be read must not block the others.
            LOG.exception('Lease %s cannot be planned', lease_id)
        return False

    def advance(self, lease_id: str, soonest: datetime.datetime | None = None) -> bool:
        """Move a lease to the soonest start in its window; return whether there is an earlier one.

        :param soonest: no start before this is possible; None to find that out
        :raises climate.exceptions.ClimateError: if it cannot be moved now
        """
        with self._context.store.reading() as tx:
            lease = tx.leases.find(lease_id)
            now = tx.now
        if lease is not None and lease.status is LeaseStatus.WAITING:
            return self._booked(lease.id)
        if lease is None or lease.earliest is None or lease.is_firm(now):
            return False
        if lease.time_left is not None and lease.latest is None:
            return self._slice_moved(lease)
        first = max(lease.earliest, now)
        if first >= lease.period.start:
            return False
        if soonest is not None and first <= soonest < lease.period.start:
            try:
                return self._moved_to(lease, soonest)
            except exceptions.NotEnoughResources:
                # Its reservations compete, or others were faster.
                first = soonest
        period = Period(start=first, end=first + lease.period.length)
        with change_searches.searching(self._context, moves.to(lease, period)) as search:
            found = self._earlier(search, lease)
        return found is not None and self._moved_to(lease, found.start)

    def _booked(self, lease_id: str) -> bool:
        context = self._context
        work = waiting.WaitingLeaseWork(context=context, caller=_PLANNER, lease_id=lease_id)
        try:
            lease = commit.book(work)
        except exceptions.NotEnoughResources:
            return False
        LOG.info('Lease %s: booked after waiting: %s', lease_id, lease)
        return True

    def _slice_moved(self, lease: Lease) -> bool:
        if not slices.move(self._context, lease):
            return False
        LOG.info('Lease %s: has a better slice than %s', lease.id, lease.period)
        return True

    def _moved_to(self, lease: Lease, start: datetime.datetime) -> bool:
        period = Period(start=start, end=start + lease.period.length)
        new, reason = moves.to(lease, period), 'because there is room'
        changes.booked(
            moves.PlannedMove(context=self._context, caller=new.caller, new=new, reason=reason)
        )
        LOG.info('Lease %s: begins at %s, instead of %s', lease.id, start, lease.period.start)
        return True

    def _earlier(self, search: ChangeSearch, lease: Lease) -> Period | None:
        frame = search.frame(lease.period.end - _MINUTE)
        offer = search.next(frame, OfferKind.SOONEST)
        return None if offer is None else offer.period
