# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""SQL of what one project has, and of the row by which it is counted.

Whoever makes what a project has more writes its row first. So of two that do it
at once the second counts what the first has booked, on any engine and on any
node of a cluster.
"""

from __future__ import annotations

import sqlalchemy as sa

from climate.db import models
from climate.db.oddities import OVER
from climate.db.repository import Repository
from climate.domain.periods import Period

_tables = models.Base.metadata.tables
_table = _tables['projects']
_leases = _tables['leases']
_reservations = _tables['reservations']
_allocations = _tables['allocations']

# Made once, see leases.py.
_COUNT = sa.select(sa.func.count()).where(
    _leases.c.project_id == sa.bindparam('project_id'), sa.not_(OVER)
)
_WRITE = (
    sa.update(_table)
    .where(_table.c.id == sa.bindparam('project_id'))
    .values(generation=_table.c.generation + 1)
)


class Projects(Repository):
    """Rows of ``projects``."""

    def lock(self, project_id: str) -> None:
        """Let nobody else make what the project has more, until the commit.

        :raises oslo_db.exception.DBDuplicateEntry: if its first lease is booked
            twice at once; :meth:`climate.db.store.Store.run` then begins again
        """
        written = self._session.connection().execute(_WRITE, {'project_id': project_id})
        if not written.rowcount:
            self._session.execute(sa.insert(_table).values(id=project_id, generation=1))

    def leases(self, project_id: str) -> int:
        """Return how many leases it has that are not over."""
        return int(self._session.scalar(_COUNT, {'project_id': project_id}) or 0)

    def resources(self, project_id: str, period: Period) -> list[Period]:
        """Return for how long it has each resource that it has in a period.

        A resource is there once for each reservation that has it.
        """
        found = self._session.execute(
            sa.select(
                sa.func.min(_allocations.c.start_date).label('start'),
                sa.func.max(_allocations.c.end_date).label('end'),
            )
            .select_from(_allocations)
            .join(_reservations, _reservations.c.id == _allocations.c.reservation_id)
            .join(_leases, _leases.c.id == _reservations.c.lease_id)
            .where(
                _leases.c.project_id == project_id,
                _leases.c.deleted_at.is_(None),
                _allocations.c.live == 1,
                _allocations.c.end_date > period.start,
                _allocations.c.start_date < period.end,
            )
            .group_by(_allocations.c.reservation_id, _allocations.c.resource_id)
        )
        return [Period(start=row.start, end=row.end) for row in found]
