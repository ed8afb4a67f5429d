# SPDX-License-Identifier: Apache-2.0
"""Queries of the history of leases: the steps that effects took.

A writer has locked the row of the lease, so that no other process writes
steps of the same lease.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from climate.db.schema.tables import STEPS
from climate.db.statements.lists import Among
from climate.db.statements.repository import Repository
from climate.domain import copies
from climate.domain.history import Effect
from climate.domain.history import HistoryStep
from climate.domain.history import Line
from climate.domain.history import StepState

# Built once, see leases.py.
_OF_EVENT = sa.select(STEPS).where(
    STEPS.c.lease_id == sa.bindparam('lease_id'), STEPS.c.event_id == sa.bindparam('event_id')
)
_INSERT = sa.insert(STEPS)
_CONSTANT = ('lease_id', 'event_id', 'reservation_id', 'resource_type', 'effect', 'first_at')
_OF_LEASES = sa.select(STEPS).where(Among(STEPS.c.lease_id, 'lease_ids'))
_UPDATE = sa.update(STEPS).where(STEPS.c.id == sa.bindparam('row_id'))


class HistorySteps(Repository):
    """Rows of ``steps``."""

    def insert(self, new: Iterable[HistoryStep]) -> None:
        """Insert steps, in one statement."""
        values = [{**copies.picked(step, *_CONSTANT), **_changeable(step)} for step in new]
        if values:
            self._session.execute(_INSERT, values)

    def update(self, changed: Iterable[HistoryStep]) -> None:
        """Update the columns of steps that may change, in one statement."""
        values = [{'row_id': step.id, **_changeable(step)} for step in changed]
        if values:
            self._session.execute(_UPDATE, values)

    def of_event(self, lease_id: str, event_id: str) -> list[HistoryStep]:
        """Return the steps of an event."""
        values = {'lease_id': lease_id, 'event_id': event_id}
        return [_step(row) for row in self._session.execute(_OF_EVENT, values)]

    def of_lease(self, lease_id: str) -> list[HistoryStep]:
        """Return the steps of a lease, in the order in which they began."""
        query = sa.select(STEPS).where(STEPS.c.lease_id == lease_id)
        rows = self._session.execute(query.order_by(STEPS.c.first_at, STEPS.c.id))
        return [_step(row) for row in rows]

    def of_leases(self, lease_ids: Collection[str]) -> list[HistoryStep]:
        """Return the steps of leases, in no particular order."""
        rows = self._session.execute(_OF_LEASES, {'lease_ids': lease_ids})
        return [_step(row) for row in rows]

    def undo(
        self,
        lease_id: str,
        reservation_ids: Collection[str],
        effects: Collection[Effect],
        event_id: str | None = None,
    ) -> None:
        """Record that effects on reservations were reversed.

        :param event_id: only those of this event; None for all events
        """
        conditions = [
            STEPS.c.lease_id == lease_id,
            STEPS.c.reservation_id.in_(reservation_ids),
            STEPS.c.effect.in_(effects),
        ]
        if event_id is not None:
            conditions.append(STEPS.c.event_id == event_id)
        self._update_rows(STEPS, *conditions, state=StepState.UNDONE)


def _changeable(step: HistoryStep) -> dict[str, Any]:
    detail: dict[str, Any] = {
        'waiting_for': step.waiting_for,
        'error': step.error,
        'lines': [[line.at.isoformat(), line.text] for line in step.lines],
    }
    return {
        'state': step.state,
        'attempts': step.attempts,
        'last_at': step.last_at,
        'detail': {key: value for key, value in detail.items() if value},
    }


def _step(row: Any) -> HistoryStep:
    return copies.converted(
        HistoryStep,
        row,
        effect=Effect(row.effect),
        state=StepState(row.state),
        waiting_for=row.detail.get('waiting_for'),
        error=row.detail.get('error'),
        lines=tuple(
            Line(at=datetime.datetime.fromisoformat(at), text=text)
            for at, text in row.detail.get('lines', ())
        ),
    )
