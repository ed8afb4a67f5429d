# SPDX-License-Identifier: Apache-2.0

"""Finds leases that make no progress, and says why."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Final

from climate.db.reports.operator_lists import LeaseLine
from climate.db.transactions.store import Transaction
from climate.domain import events
from climate.domain.events import Event
from climate.domain.lifecycles import EventState

FORGOTTEN: Final = 'no manager would process it in time; repair it'
AT_REST: Final = 'its status promises work, and nothing is left to do; end it by force'
UNCLAIMED: Final = 'no manager takes it'
ORPHANED: Final = 'the manager that worked on it is gone'
WORKED_ON: Final = 'a manager works on it'
FAILING: Final = 'it keeps failing'
WAITING: Final = 'it waits'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class StuckLease:
    """A lease that makes no progress.

    :ivar event: the event that should have happened; None if there is none
    :ivar seconds: how late that is
    :ivar why: one of the texts of this module
    """

    lease: LeaseLine
    event: Event | None
    seconds: float
    why: str


def find(
    tx: Transaction, older: datetime.timedelta, pause: datetime.timedelta, limit: int
) -> list[StuckLease]:
    """Return the leases with an event that is late by *older*, and those without a future.

    :param pause: the longest pause between two attempts of a failing event
    """
    late: dict[str, Event] = {}
    for event in tx.events.overdue(
        tx.now - older, list(events.EFFECTS), limit, looked_at=tx.now + pause
    ):
        late.setdefault(event.lease_id, event)
    forgotten = set(tx.inconsistencies.forgotten())
    lost = set(tx.operator_lists.at_rest()) - set(late)
    lines = tx.operator_lists.with_ids({*late, *forgotten, *lost})
    stuck = [
        _stuck(lines[key], late.get(key), key in forgotten, tx.now)
        for key in (*late, *sorted(forgotten - set(late)), *sorted(lost))
        if key in lines
    ]
    return stuck[:limit]


def _stuck(
    line: LeaseLine, event: Event | None, forgotten: bool, now: datetime.datetime
) -> StuckLease:
    seconds = 0.0 if event is None else (now - event.time).total_seconds()
    return StuckLease(
        lease=line, event=event, seconds=seconds, why=_why(line, event, forgotten, now)
    )


def _why(line: LeaseLine, event: Event | None, forgotten: bool, now: datetime.datetime) -> str:
    if forgotten:
        return FORGOTTEN
    if event is None:
        return AT_REST
    # The clock of claims is that of the database; seconds of difference do not matter here.
    claimed = line.claimed_until is not None and line.claimed_until >= now
    if event.attempts:
        return FAILING
    if claimed:
        return WORKED_ON
    if event.state is EventState.IN_PROGRESS:
        return ORPHANED
    return UNCLAIMED if event.due <= now else WAITING
