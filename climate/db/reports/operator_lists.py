# SPDX-License-Identifier: Apache-2.0

"""Queries of operators: leases of all projects, with the claims of managers."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Collection
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from climate.db.leases.inconsistencies import OVER
from climate.db.leases.leases import COLUMNS
from climate.db.leases.leases import Leases
from climate.db.schema.tables import EVENTS
from climate.db.schema.tables import LEASES
from climate.db.schema.tables import OUTBOX
from climate.db.statements.repository import Repository
from climate.domain import copies
from climate.domain import events
from climate.domain.leases import Lease
from climate.domain.lifecycles import EventState
from climate.domain.lifecycles import LeaseStatus

_WORDS = (
    *LEASES.c['id', 'name', 'project_id', 'status', 'degraded', 'start_date', 'end_date'],
    *LEASES.c['next_due', 'claim_owner', 'claim_until', 'deleted_at'],
)
# Statuses in which a manager has something to do until the lease leaves them.
_PASSING = (
    LeaseStatus.STARTING,
    LeaseStatus.UPDATING,
    LeaseStatus.TERMINATING,
    LeaseStatus.DELETING,
)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class LeaseLine:
    """A lease in one line, as operators see it.

    :ivar next_due: when a manager must process it; None if nothing is to be done
    :ivar manager: the manager that works on it; None if none does
    :ivar claimed_until: when its claim expires
    """

    id: str
    name: str
    project_id: str
    status: LeaseStatus
    degraded: bool
    start: datetime.datetime
    end: datetime.datetime
    next_due: datetime.datetime | None
    manager: str | None
    claimed_until: datetime.datetime | None
    deleted_at: datetime.datetime | None


class OperatorLists(Repository):
    """Read-only queries; see also :class:`climate.db.reports.figures.Figures`."""

    def lines(
        self,
        *,
        statuses: Collection[LeaseStatus] = (),
        project_id: str | None = None,
        due_before: datetime.datetime | None = None,
        limit: int,
    ) -> list[LeaseLine]:
        """Return leases in the order in which they end.

        :param statuses: only these; by default, all leases that are not over
        :param project_id: None for every project
        :param due_before: only those that a manager should have processed by then
        """
        query = sa.select(*_WORDS).order_by(LEASES.c.end_date, LEASES.c.id).limit(limit)
        query = query.where(LEASES.c.status.in_(statuses) if statuses else ~OVER)
        if project_id is not None:
            query = query.where(LEASES.c.project_id == project_id)
        if due_before is not None:
            query = query.where(LEASES.c.next_due < due_before)
        return _lines(self._session.execute(query).all())

    def with_ids(self, ids: Collection[str]) -> dict[str, LeaseLine]:
        """Return leases by id, even deleted ones."""
        query = sa.select(*_WORDS).where(LEASES.c.id.in_(ids))
        return {line.id: line for line in _lines(self._session.execute(query).all())}

    def lease(self, lease_id: str) -> Lease | None:
        """Return a lease, even a deleted one; None if it never existed."""
        query = sa.select(*COLUMNS).where(LEASES.c.id == lease_id)
        leases = Leases(self._session, self._now).of_rows(self._session.execute(query).all())
        return leases[0] if leases else None

    def failing(self, looked_at: datetime.datetime) -> list[tuple[str, str]]:
        """Return the events that have failed and are tried again: ids of lease and event.

        ::

            SELECT events.lease_id, events.id FROM events JOIN leases …
            WHERE leases.next_due < :looked_at AND leases.deleted_at IS NULL
              AND events.state = 'UNDONE' AND events.attempts > 0

        :param looked_at: considers only leases that are due before this
        """
        query = (
            sa.select(EVENTS.c.lease_id, EVENTS.c.id)
            .join(LEASES, LEASES.c.id == EVENTS.c.lease_id)
            .where(
                LEASES.c.next_due < looked_at,
                LEASES.c.deleted_at.is_(None),
                EVENTS.c.state == EventState.UNDONE,
                EVENTS.c.attempts > 0,
            )
            .order_by(EVENTS.c.lease_id, EVENTS.c.id)
        )
        return [(row[0], row[1]) for row in self._session.execute(query)]

    def waiting_messages(self, lease_id: str) -> int:
        """Return the number of notifications of a lease that were not sent yet."""
        return self._count_rows(OUTBOX.c.lease_id == lease_id)

    def at_rest(self, lease_id: str | None = None) -> list[str]:
        """Return the leases in a passing status that have nothing left to do.

        ::

            SELECT id FROM leases WHERE deleted_at IS NULL AND status IN (:passing)
              AND NOT EXISTS (SELECT * FROM events WHERE lease_id = leases.id
                              AND state IN (:open))
        """
        is_open = sa.exists().where(
            EVENTS.c.lease_id == LEASES.c.id, EVENTS.c.state.in_(events.OPEN)
        )
        query = sa.select(LEASES.c.id).where(
            LEASES.c.deleted_at.is_(None), LEASES.c.status.in_(_PASSING), ~is_open
        )
        if lease_id is not None:
            query = query.where(LEASES.c.id == lease_id)
        return list(self._session.scalars(query.order_by(LEASES.c.id)))


def _lines(rows: Sequence[Any]) -> list[LeaseLine]:
    return [
        copies.converted(
            LeaseLine,
            row,
            status=LeaseStatus(row.status),
            degraded=bool(row.degraded),
            start=row.start_date,
            end=row.end_date,
            manager=row.claim_owner,
            claimed_until=row.claim_until,
        )
        for row in rows
    ]
