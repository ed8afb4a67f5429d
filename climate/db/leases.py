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

"""SQL of the leases."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from climate import exceptions
from climate.db import models
from climate.db import rows
from climate.db.events import Events
from climate.db.repository import Repository
from climate.db.reservations import Reservations
from climate.domain.leases import Lease
from climate.domain.requests import LeaseQuery

_table = models.Base.metadata.tables['leases']
_reservations = models.Base.metadata.tables['reservations']
_allocations = models.Base.metadata.tables['allocations']
_resources = models.Base.metadata.tables['resources']

# Made once: to put together what managers run for each event would take them
# longer than to run it.
_UPDATE = sa.update(_table).where(_table.c.id == sa.bindparam('row_id'))
_CLAIMED = (
    sa.select(_table)
    .where(
        _table.c.id == sa.bindparam('lease_id'),
        _table.c.claim_owner == sa.bindparam('owner'),
        _table.c.deleted_at.is_(None),
    )
    .with_for_update()
)


class Leases(Repository):
    """Rows of ``leases``, with what belongs to them."""

    def insert(self, lease: Lease) -> None:
        """Write a new lease; its reservations and events are written apart."""
        self._session.execute(
            sa.insert(_table),
            {
                'id': lease.id,
                'user_id': lease.user_id,
                'project_id': lease.project_id,
                'created_at': self._now,
                **_changeable(lease),
            },
        )

    def update(self, lease: Lease, *, unclaim: bool = False) -> None:
        """Write what may change in *lease*, without its parts.

        :param unclaim: let others claim it when it is due again
        """
        values = {'row_id': lease.id, 'updated_at': self._now, **_changeable(lease)}
        if unclaim:
            values.update(claim_owner=None, claim_until=None)
        self._session.connection().execute(_UPDATE, values)

    def get(self, lease_id: str, project_id: str | None = None, *, lock: bool = False) -> Lease:
        """Return a lease with its reservations and events.

        :param project_id: look in this project only; None looks in all
        :param lock: keep others from changing it until the transaction ends
        :raises climate.exceptions.NotFound: if there is none, or it was deleted
        """
        query = sa.select(_table).where(_table.c.id == lease_id, _table.c.deleted_at.is_(None))
        if project_id is not None:
            query = query.where(_table.c.project_id == project_id)
        row = self._session.execute(query.with_for_update() if lock else query).one_or_none()
        if row is None:
            raise exceptions.NotFound(object={'lease_id': lease_id})
        return self._whole([row])[0]

    def find(self, lease_id: str) -> Lease | None:
        """Return a lease that was not deleted, for a manager; None if it is gone."""
        query = sa.select(_table).where(_table.c.id == lease_id, _table.c.deleted_at.is_(None))
        found = self._whole(self._session.execute(query).all())
        return found[0] if found else None

    def with_reservation(self, reservation_id: str) -> Lease | None:
        """Return the lease of a reservation, be it over or deleted; None if there is none."""
        mine = sa.select(_reservations.c.lease_id).where(_reservations.c.id == reservation_id)
        query = sa.select(_table).where(_table.c.id.in_(mine))
        found = self._whole(self._session.execute(query).all())
        return found[0] if found else None

    def project_of(self, lease_id: str) -> str | None:
        """Return the project of a lease, be it over or deleted; None if there never was one."""
        query = sa.select(_table.c.project_id).where(_table.c.id == lease_id)
        found: str | None = self._session.scalar(query)
        return found

    def given_up(self, lease_id: str) -> bool:
        """Whether a lease was deleted before it began."""
        query = sa.select(_table.c.id).where(_table.c.id == lease_id, _given_up())
        return self._session.scalar(query) is not None

    def requests_given_up(
        self, resource_type: str, since: datetime.datetime
    ) -> list[Mapping[str, Any]]:
        """Return the requests of a type whose leases were deleted before they began.

        :param since: of leases that were deleted then or later (aware UTC)
        """
        query = (
            sa.select(_reservations.c.request)
            .join(_table, _table.c.id == _reservations.c.lease_id)
            .where(
                _reservations.c.resource_type == resource_type,
                _table.c.deleted_at >= since,
                _given_up(),
            )
        )
        return [dict(request) for request in self._session.scalars(query)]

    def ids_with(self, resource_type: str, name: str, *, live: bool = False) -> list[str]:
        """Return the ids of the leases that have or had a resource, the latest first.

        ::

            SELECT DISTINCT leases.id, leases.created_at FROM leases
            JOIN reservations ON … JOIN allocations ON … JOIN resources ON …
            WHERE resources.resource_type = :type AND resources.name = :name
            ORDER BY leases.created_at DESC

        :param live: only those that have it still; else deleted ones as well
        """
        query = (
            sa.select(_table.c.id, _table.c.created_at)
            .distinct()
            .join(_reservations, _reservations.c.lease_id == _table.c.id)
            .join(_allocations, _allocations.c.reservation_id == _reservations.c.id)
            .join(_resources, _resources.c.id == _allocations.c.resource_id)
            .where(_resources.c.resource_type == resource_type, _resources.c.name == name)
            .order_by(_table.c.created_at.desc(), _table.c.id)
        )
        if live:
            query = query.where(_allocations.c.live == 1)
        return [row.id for row in self._session.execute(query)]

    def claimed(self, lease_id: str, owner: str) -> Lease | None:
        """Lock a lease that *owner* has a claim on, and return it.

        :returns: None if somebody else has it by now, or it was deleted
        """
        found = self._whole(
            self._session.execute(_CLAIMED, {'lease_id': lease_id, 'owner': owner}).all()
        )
        return found[0] if found else None

    def page(
        self, query: LeaseQuery, *, after: Lease | None = None, most: int | None = None
    ) -> tuple[list[Lease], bool]:
        """Return the leases *query* asks for, and whether more come after them.

        :param after: the last lease of the page before, which need not be
            there any more; only for leases in the order they were made
        :param most: how many at most, where the query has no limit
        :raises climate.exceptions.InvalidInput: if the marker does not exist
        """
        conditions = [_table.c.deleted_at.is_(None), *_conditions(query)]
        keys = _sort_keys(query)
        if query.marker is not None:
            conditions.append(self._after(query, keys))
        if after is not None:
            conditions.append(_beyond(keys, (after.created_at, after.id)))
        statement = sa.select(_table).where(*conditions)
        statement = statement.order_by(*(key.desc() if down else key for key, down in keys))
        limit = most if query.limit is None else query.limit
        if limit is not None:
            statement = statement.limit(limit + 1)
        found = self._session.execute(statement).all()
        if limit is None:
            return self._whole(found, sa.select(_table.c.id).where(*conditions)), False
        return self._whole(found[:limit]), len(found) > limit

    def _after(self, query: LeaseQuery, keys: list[tuple[Any, bool]]) -> Any:
        """The condition that a lease comes after the marker in the order of *keys*."""
        scope = [_table.c.id == query.marker]
        if query.project_id is not None:
            scope.append(_table.c.project_id == query.project_id)
        marker = self._session.execute(
            sa.select(*(key for key, _ in keys)).where(*scope)
        ).one_or_none()
        if marker is None:
            raise exceptions.InvalidInput(f"marker: there is no lease '{query.marker}'")
        return _beyond(keys, marker)

    def _whole(self, found: Sequence[Any], scope: Any = None) -> list[Lease]:
        """Put the parts to the leases, in two statements however many there are.

        :param scope: a SELECT of the same leases' ids, where the list of ids
            may be longer than an engine takes
        """
        if not found:
            return []
        ids = [row.id for row in found] if scope is None else scope
        parts: dict[str, list[Any]] = defaultdict(list)
        events: dict[str, list[Any]] = defaultdict(list)
        for reservation in Reservations(self._session, self._now).of_leases(ids):
            parts[reservation.lease_id].append(reservation)
        for event in Events(self._session, self._now).of_leases(ids):
            events[event.lease_id].append(event)
        return [rows.lease(row, tuple(parts[row.id]), tuple(events[row.id])) for row in found]


def _given_up() -> Any:
    return sa.and_(_table.c.deleted_at.is_not(None), _table.c.deleted_at < _table.c.start_date)


def _beyond(keys: list[tuple[Any, bool]], values: Sequence[Any]) -> Any:
    """The condition that a row comes after one with these values, in the order of *keys*."""
    alternatives = []
    for place, (key, down) in enumerate(keys):
        same = [keys[i][0] == values[i] for i in range(place)]
        further = key < values[place] if down else key > values[place]
        alternatives.append(sa.and_(*same, further))
    return sa.or_(*alternatives)


def _changeable(lease: Lease) -> dict[str, Any]:
    return {
        'name': lease.name,
        'start_date': lease.period.start,
        'end_date': lease.period.end,
        'status': lease.status,
        'degraded': lease.degraded,
        'before_end_date': lease.before_end_date,
        'options': rows.options(lease),
        'trust_id': lease.trust_id,
        'next_due': lease.next_due,
        'deleted_at': lease.deleted_at,
    }


def _sort_keys(query: LeaseQuery) -> list[tuple[Any, bool]]:
    wanted = query.sort or (('created_at', 'asc'),)
    keys = [(_table.c[name], direction == 'desc') for name, direction in wanted]
    if all(name != 'id' for name, _ in wanted):
        # The id makes the order total, so that no page repeats or loses one.
        keys.append((_table.c.id, keys[-1][1]))
    return keys


def _conditions(query: LeaseQuery) -> list[Any]:
    columns: list[tuple[Any, Any]] = [
        (_table.c.project_id, query.project_id),
        (_table.c.status, query.status),
        (_table.c.name, query.name),
    ]
    conditions = [column == wanted for column, wanted in columns if wanted is not None]
    bounds: list[tuple[Any, datetime.datetime | None, bool]] = [
        (_table.c.start_date, query.start_before, True),
        (_table.c.start_date, query.start_after, False),
        (_table.c.end_date, query.end_before, True),
        (_table.c.end_date, query.end_after, False),
    ]
    conditions += [
        column < bound if before else column > bound
        for column, bound, before in bounds
        if bound is not None
    ]
    if query.resource_type is not None:
        conditions.append(
            sa.exists().where(
                _reservations.c.lease_id == _table.c.id,
                _reservations.c.resource_type == query.resource_type,
            )
        )
    return conditions
