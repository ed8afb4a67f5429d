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

from climate import exceptions
from climate.booking.offers import change_searches
from climate.booking.offers.change_searches import ChangeSearch
from climate.booking.requests.context import Context
from climate.booking.writing import change as changes
from climate.booking.writing.change import ChangeRequest
from climate.db.transactions.store import Transaction
from climate.domain.events import EventKind
from climate.domain.history import StepState
from climate.domain.leases import Lease
from climate.domain.offers import OfferKind
from climate.domain.periods import Period
from climate.domain.requests import Caller
from climate.domain.requests import LeaseChange
from climate.domain.requests import WindowChange
from climate.leases import history

LOG = logging.getLogger(__name__)

# Starts that a search finds are whole minutes.
_MINUTE = datetime.timedelta(minutes=1)


class Planner:
    """Plans in rounds, on behalf of one manager."""

    def __init__(self, context: Context) -> None:
        # Filters have allowed the lease, and are not asked again about each move.
        self._context = dataclasses.replace(context, filters=context.filters.local)

    def round(self) -> int:
        """Move the leases that can begin earlier; return how many were moved.

        :raises climate.exceptions.DatabaseUnavailable: if the database does not respond
        """
        with self._context.store.reading() as tx:
            ids = tx.leases.movable()
        return sum(self._advance(lease_id) for lease_id in ids)

    def _advance(self, lease_id: str) -> bool:
        try:
            return self.advance(lease_id)
        except exceptions.DatabaseUnavailable:
            raise
        except exceptions.ClimateError as error:
            LOG.info('Lease %s stays at its start: %s', lease_id, error.message)
        except Exception:
            # One lease that cannot be read must not block the others.
            LOG.exception('Lease %s cannot be planned', lease_id)
        return False

    def advance(self, lease_id: str) -> bool:
        """Move a lease to the soonest start in its window; return whether there is an earlier one.

        :raises climate.exceptions.ClimateError: if it cannot be moved now
        """
        with self._context.store.reading() as tx:
            lease = tx.leases.find(lease_id)
            now = tx.now
        if lease is None or lease.earliest is None or lease.is_firm(now):
            return False
        first = max(lease.earliest, now)
        if first >= lease.period.start:
            return False
        period = Period(start=first, end=first + lease.period.length)
        with change_searches.searching(self._context, _request(lease, period)) as search:
            found = self._earlier(search, lease)
        if found is None:
            return False
        new = _request(lease, found)
        changes.booked(PlannedMove(context=self._context, caller=new.caller, new=new))
        LOG.info('Lease %s: begins at %s, instead of %s', lease.id, found.start, lease.period.start)
        return True

    def _earlier(self, search: ChangeSearch, lease: Lease) -> Period | None:
        frame = search.frame(lease.period.end - _MINUTE)
        offer = search.next(frame, OfferKind.SOONEST)
        return None if offer is None else offer.period


@dataclasses.dataclass(frozen=True, kw_only=True)
class PlannedMove(changes.ChangeWork):
    """Moves a flexible lease forward, and says so in its history."""

    def write(
        self, tx: Transaction, request: changes.Changed, charge_id: str | None = None
    ) -> Lease:
        """Write the move."""
        lease = super().write(tx, request, charge_id)
        start = next(event for event in lease.events if event.kind is EventKind.START)
        text = (
            f'moved forward to {lease.period.start:%Y-%m-%dT%H:%M:%SZ} from'
            f' {request.old.period.start:%Y-%m-%dT%H:%M:%SZ}, because there is room'
        )
        history.note(tx, start, StepState.DONE, text=text)
        return lease


def _owner(lease: Lease) -> Caller:
    """Return the owner of a lease, who may require what the lease was booked with."""
    return Caller(user_id=lease.user_id, project_id=lease.project_id, all_projects=True)


def _request(lease: Lease, period: Period) -> ChangeRequest:
    def check(current: Lease) -> None:
        if current.updated_at != lease.updated_at or current.period != lease.period:
            raise exceptions.Conflict('It was changed meanwhile')

    change = LeaseChange(
        start=period.start,
        end=period.end,
        window=WindowChange(duration=period.length),
        strict=True,
        grain=datetime.timedelta(0),
        check=check,
    )
    return ChangeRequest(caller=_owner(lease), lease_id=lease.id, project_id=None, change=change)
