# SPDX-License-Identifier: Apache-2.0

"""Moves flexible leases within their windows."""

from __future__ import annotations

import dataclasses
import datetime

from climate import exceptions
from climate.booking.writing import change as changes
from climate.booking.writing.change import ChangeRequest
from climate.db.transactions.store import Transaction
from climate.domain.events import EventKind
from climate.domain.history import StepState
from climate.domain.leases import Lease
from climate.domain.periods import Period
from climate.domain.requests import Caller
from climate.domain.requests import LeaseChange
from climate.domain.requests import WindowChange
from climate.leases import history
from climate.leases import notices
from climate.messaging import schemas


@dataclasses.dataclass(frozen=True, kw_only=True)
class PlannedMove(changes.ChangeWork):
    """Moves a flexible lease to another start, and tells its owner.

    :ivar reason: why, for its owner
    """

    reason: str

    def write(
        self, tx: Transaction, request: changes.Changed, charge_id: str | None = None
    ) -> Lease:
        """Write the move."""
        lease = super().write(tx, request, charge_id)
        start = next(event for event in lease.events if event.kind is EventKind.START)
        before, after = request.old.period.start, lease.period.start
        way = 'forward' if after < before else 'back'
        text = f'moved {way} to {_written(after)} from {_written(before)}, {self.reason}'
        if before == after:
            text = f'lasts until {_written(lease.period.end)}, {self.reason}'
        history.note(tx, start, StepState.DONE, text=text)
        notices.notify(tx, self.context.plugins, schemas.MOVED, lease, reason=text)
        return lease


def owner(lease: Lease) -> Caller:
    """Return the owner of a lease, who may require what the lease was booked with."""
    return Caller(user_id=lease.user_id, project_id=lease.project_id, all_projects=True)


def to(lease: Lease, period: Period) -> ChangeRequest:
    """Return the request to move a flexible lease, unless it changes meanwhile."""

    def check(current: Lease) -> None:
        if current.updated_at != lease.updated_at or current.period != lease.period:
            raise exceptions.Conflict('It was changed meanwhile')

    change = LeaseChange(
        start=period.start,
        end=period.end,
        window=WindowChange(duration=period.length, sliced=True),
        strict=True,
        grain=datetime.timedelta(0),
        # What begins at once was found a moment ago.
        asked_at=period.start,
        check=check,
    )
    return ChangeRequest(caller=owner(lease), lease_id=lease.id, project_id=None, change=change)


def _written(time: datetime.datetime) -> str:
    return f'{time:%Y-%m-%dT%H:%M:%SZ}'
