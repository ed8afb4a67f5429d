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

"""SQL of the events."""

from __future__ import annotations

import datetime
from collections.abc import Collection
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from climate.db import models
from climate.db import rows
from climate.db.repository import Repository
from climate.domain import events
from climate.domain.events import Event
from climate.domain.events import EventKind

_table = models.Base.metadata.tables['events']
_leases = models.Base.metadata.tables['leases']

# Made once, see leases.py.
_UPDATE = sa.update(_table).where(_table.c.id == sa.bindparam('row_id'))
_OF_LEASES = sa.select(_table).where(
    _table.c.lease_id.in_(sa.bindparam('lease_ids', expanding=True))
)


class Events(Repository):
    """Rows of ``events``."""

    def insert(self, new: Iterable[Event]) -> None:
        """Write *new* events, in one statement."""
        values = [
            {
                'id': event.id,
                'lease_id': event.lease_id,
                'kind': event.kind,
                **_changeable(event),
                'created_at': self._now,
                'updated_at': None,
            }
            for event in new
        ]
        if values:
            self._session.execute(sa.insert(_table), values)

    def of_leases(self, lease_ids: Collection[str] | sa.Select[Any]) -> list[Event]:
        """Return the events of the leases, in the order they happen.

        :param lease_ids: ids, or a SELECT of ids
        """
        if isinstance(lease_ids, sa.Select):
            found = self._session.execute(sa.select(_table).where(_table.c.lease_id.in_(lease_ids)))
        else:
            found = self._session.execute(_OF_LEASES, {'lease_ids': lease_ids})
        return sorted((rows.event(row) for row in found), key=events.order)

    def update(self, event: Event) -> None:
        """Write what may change in *event*."""
        self._session.connection().execute(
            _UPDATE,
            {
                'row_id': event.id,
                **_changeable(event),
                'updated_at': self._now,
            },
        )

    def delete(self, ids: Collection[str]) -> None:
        """Remove events that will not happen and need not be remembered."""
        if ids:
            self._session.execute(sa.delete(_table).where(_table.c.id.in_(ids)))

    def overdue(
        self,
        before: datetime.datetime,
        kinds: Collection[EventKind],
        limit: int,
        *,
        looked_at: datetime.datetime,
    ) -> list[Event]:
        """Return open events that were meant for a time before *before*, for operators.

        What fails again and again is due later each time; it is late all the same.
        A preparation that only waits for its turn is not: the lease before may
        have what it needs for years.

        :param looked_at: only of leases that are to be looked at before this;
            keeps the query away from all that lies far ahead
        """
        query = (
            sa.select(_table)
            .join(_leases, _leases.c.id == _table.c.lease_id)
            .where(
                _leases.c.next_due < looked_at,
                _table.c.state.in_(events.OPEN),
                _table.c.time < before,
                _table.c.kind.in_(kinds),
                sa.or_(
                    _table.c.kind != EventKind.PREPARE,
                    _table.c.attempts > 0,
                    _table.c.due < before,
                ),
            )
            .order_by(_table.c.time, _table.c.id)
            .limit(limit)
        )
        return [rows.event(row) for row in self._session.execute(query)]


def _changeable(event: Event) -> dict[str, Any]:
    return {
        'time': event.time,
        'due': event.due,
        'state': event.state,
        'attempts': event.attempts,
        'begun_at': event.begun_at,
        'error': event.error,
        'payload': dict(event.payload),
    }
