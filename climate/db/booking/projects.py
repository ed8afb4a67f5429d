# SPDX-License-Identifier: Apache-2.0

"""Queries of the use of one project, and the row that serializes its bookings.

A transaction that adds to the use of a project writes the project's row first. Of two
concurrent ones, the second counts what the first has booked, on any engine and on any
node of a cluster.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from typing import Final

import sqlalchemy as sa

from climate.db.leases.inconsistencies import OVER
from climate.db.schema.tables import ALLOCATIONS
from climate.db.schema.tables import LEASES
from climate.db.schema.tables import PROJECTS
from climate.db.schema.tables import RESERVATIONS
from climate.db.statements.repository import Repository
from climate.domain.periods import Period

_MOST_IDS: Final = 500
# Built once, see leases.py.
_COUNT = sa.select(sa.func.count()).where(
    LEASES.c.project_id == sa.bindparam('project_id'), sa.not_(OVER)
)
_WRITE = (
    sa.update(PROJECTS)
    .where(PROJECTS.c.id == sa.bindparam('project_id'))
    .values(generation=PROJECTS.c.generation + 1)
)


class NewProject(Exception):
    """A project has no row yet.

    :meth:`climate.db.transactions.store.Store.run` adds it, and repeats the work.

    The row is added by a transaction of its own. If it were added by the transaction that needs
    it, concurrent ones of a new project would lock the gap where it belongs, and each would wait
    for the others before it inserts. A rehearsal, which is rolled back, would leave no row, so
    that the next ones would meet there again.
    """

    def __init__(self, project_id: str) -> None:
        super().__init__(project_id)
        self.project_id = project_id


class Projects(Repository):
    """Rows of ``projects``."""

    def add(self, project_id: str) -> None:
        """Insert the row of a project, unless it has one.

        :raises oslo_db.exception.DBDuplicateEntry: if another transaction was first;
            :meth:`climate.db.transactions.store.Store.run` then retries
        """
        known = sa.select(PROJECTS.c.id).where(PROJECTS.c.id == project_id)
        if self._session.execute(known).first() is None:
            self._insert_row(PROJECTS, id=project_id, generation=1)

    def lock(self, project_id: str) -> None:
        """Keep others from adding to the use of the project until the commit.

        :raises NewProject: if it has no row;
            :meth:`climate.db.transactions.store.Store.run` then adds one and retries
        """
        written = self._session.execute(_WRITE, {'project_id': project_id})
        if not written.rowcount:
            raise NewProject(project_id)

    def leases(self, project_id: str) -> int:
        """Return the number of leases of the project that have not ended."""
        return int(self._session.scalar(_COUNT, {'project_id': project_id}) or 0)

    def resources(self, project_id: str, period: Period, other_than: str = '') -> list[Period]:
        """Return for how long the project has each of its resources in a period.

        A resource counts once for each reservation that has it, or is held for it.

        :param other_than: id of a lease that does not count
        """
        query = self._uses(
            LEASES.c.project_id == project_id,
            LEASES.c.id != other_than,
            ALLOCATIONS.c.end_date > period.start,
            ALLOCATIONS.c.start_date < period.end,
        )
        return [Period(start=row.start, end=row.end) for row in self._session.execute(query)]

    def uses(self, project_ids: Sequence[str]) -> dict[str, list[tuple[str, Period]]]:
        """Return the id of the lease and the period for each resource that projects have.

        As for :meth:`resources`, from now on.
        """
        found: dict[str, list[tuple[str, Period]]] = {key: [] for key in project_ids}
        for first in range(0, len(project_ids), _MOST_IDS):
            some = project_ids[first : first + _MOST_IDS]
            query = self._uses(
                LEASES.c.project_id.in_(some), ALLOCATIONS.c.end_date > self._now
            ).add_columns(
                sa.func.min(LEASES.c.project_id).label('project_id'),
                sa.func.min(LEASES.c.id).label('lease_id'),
            )
            for row in self._session.execute(query):
                use = row.lease_id, Period(start=row.start, end=row.end)
                found[row.project_id].append(use)
        return found

    def _uses(self, *conditions: Any) -> Any:
        return (
            sa.select(
                sa.func.min(ALLOCATIONS.c.start_date).label('start'),
                sa.func.max(ALLOCATIONS.c.end_date).label('end'),
            )
            .select_from(ALLOCATIONS)
            .join(RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id)
            .join(LEASES, LEASES.c.id == RESERVATIONS.c.lease_id)
            .where(
                # The row of a hold is deleted as of its end.
                sa.or_(LEASES.c.deleted_at.is_(None), LEASES.c.deleted_at > self._now),
                ALLOCATIONS.c.live == 1,
                *conditions,
            )
            .group_by(ALLOCATIONS.c.reservation_id, ALLOCATIONS.c.resource_id)
        )
