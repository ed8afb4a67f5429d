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

"""Queries of leases."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from climate import exceptions
from climate.db.events import Events
from climate.db.repository import Repository
from climate.db.reservations import Reservations
from climate.db.tables import ALLOCATIONS
from climate.db.tables import LEASES
from climate.db.tables import RESERVATIONS
from climate.db.tables import RESOURCES
from climate.domain.events import Event
from climate.domain.leases import Lease
from climate.domain.leases import Readiness
from climate.domain.leases import Reservation
from climate.domain.lifecycles import LeaseStatus
from climate.domain.periods import Period
from climate.domain.requests import LeaseQuery

# Built once: for statements that managers run for each event, building takes longer
# than running.
_UPDATE = sa.update(LEASES).where(LEASES.c.id == sa.bindparam('row_id'))
_CLAIMED = (
    sa.select(LEASES)
    .where(
        LEASES.c.id == sa.bindparam('lease_id'),
        LEASES.c.claim_owner == sa.bindparam('owner'),
        LEASES.c.deleted_at.is_(None),
    )
    .with_for_update()
)


class Leases(Repository):
    """Rows of ``leases``, with their reservations and events."""

    def insert(self, lease: Lease) -> None:
        """Insert a lease, without its reservations and events."""
        self._session.execute(
            sa.insert(LEASES),
            {
                'id': lease.id,
                'user_id': lease.user_id,
                'project_id': lease.project_id,
                'created_at': self._now,
                **_changeable(lease),
            },
        )

    def update(self, lease: Lease, *, unclaim: bool = False) -> None:
        """Update the columns of *lease* that may change, without its parts.

        :param unclaim: release the claim, so that any manager can claim it when due
        """
        values = {'row_id': lease.id, 'updated_at': self._now, **_changeable(lease)}
        if unclaim:
            values.update(claim_owner=None, claim_until=None)
        self._session.connection().execute(_UPDATE, values)

    def get(self, lease_id: str, project_id: str | None = None, *, lock: bool = False) -> Lease:
        """Return a lease with its reservations and events.

        :param project_id: search only this project; None searches all
        :param lock: lock the row until the transaction ends
        :raises climate.exceptions.NotFound: if it does not exist or was deleted
        """
        query = sa.select(LEASES).where(LEASES.c.id == lease_id, LEASES.c.deleted_at.is_(None))
        if project_id is not None:
            query = query.where(LEASES.c.project_id == project_id)
        row = self._session.execute(query.with_for_update() if lock else query).one_or_none()
        if row is None:
            raise exceptions.NotFound(object={'lease_id': lease_id})
        return self._whole([row])[0]

    def find(self, lease_id: str) -> Lease | None:
        """Return a lease, for a manager; None if it was deleted."""
        query = sa.select(LEASES).where(LEASES.c.id == lease_id, LEASES.c.deleted_at.is_(None))
        found = self._whole(self._session.execute(query).all())
        return found[0] if found else None

    def with_reservation(self, reservation_id: str) -> Lease | None:
        """Return the lease of a reservation, even a deleted one; None if there is none."""
        mine = sa.select(RESERVATIONS.c.lease_id).where(RESERVATIONS.c.id == reservation_id)
        query = sa.select(LEASES).where(LEASES.c.id.in_(mine))
        found = self._whole(self._session.execute(query).all())
        return found[0] if found else None

    def project_of(self, lease_id: str) -> str | None:
        """Return the project of a lease, even if it was deleted; None if unknown."""
        query = sa.select(LEASES.c.project_id).where(LEASES.c.id == lease_id)
        found: str | None = self._session.scalar(query)
        return found

    def given_up(self, lease_id: str) -> bool:
        """Whether a lease was deleted before it started."""
        query = sa.select(LEASES.c.id).where(LEASES.c.id == lease_id, _given_up())
        return self._session.scalar(query) is not None

    def requests_given_up(
        self, resource_type: str, since: datetime.datetime
    ) -> list[Mapping[str, Any]]:
        """Return the requests of a type whose leases were deleted before they started.

        :param since: only of leases that were deleted then or later (aware UTC)
        """
        query = (
            sa.select(RESERVATIONS.c.request)
            .join(LEASES, LEASES.c.id == RESERVATIONS.c.lease_id)
            .where(
                RESERVATIONS.c.resource_type == resource_type,
                LEASES.c.deleted_at >= since,
                _given_up(),
            )
        )
        return [dict(request) for request in self._session.scalars(query)]

    def ids_with(self, resource_type: str, name: str, *, live: bool = False) -> list[str]:
        """Return the ids of the leases that have or had a resource, newest first.

        ::

            SELECT DISTINCT leases.id, leases.created_at FROM leases
            JOIN reservations ON … JOIN allocations ON … JOIN resources ON …
            WHERE resources.resource_type = :type AND resources.name = :name
            ORDER BY leases.created_at DESC

        :param live: only those that still have it; otherwise also deleted ones
        """
        query = (
            sa.select(LEASES.c.id, LEASES.c.created_at)
            .distinct()
            .join(RESERVATIONS, RESERVATIONS.c.lease_id == LEASES.c.id)
            .join(ALLOCATIONS, ALLOCATIONS.c.reservation_id == RESERVATIONS.c.id)
            .join(RESOURCES, RESOURCES.c.id == ALLOCATIONS.c.resource_id)
            .where(RESOURCES.c.resource_type == resource_type, RESOURCES.c.name == name)
            .order_by(LEASES.c.created_at.desc(), LEASES.c.id)
        )
        if live:
            query = query.where(ALLOCATIONS.c.live == 1)
        return [row.id for row in self._session.execute(query)]

    def claimed(self, lease_id: str, owner: str) -> Lease | None:
        """Lock a lease that *owner* has claimed, and return it.

        :returns: None if another process has claimed it meanwhile, or it was deleted
        """
        found = self._whole(
            self._session.execute(_CLAIMED, {'lease_id': lease_id, 'owner': owner}).all()
        )
        return found[0] if found else None

    def page(
        self, query: LeaseQuery, *, after: Lease | None = None, most: int | None = None
    ) -> tuple[list[Lease], bool]:
        """Return the leases that match *query*, and whether more follow.

        :param after: the last lease of the previous page, which may have been deleted
            since; only for leases in order of creation
        :param most: the limit if the query has none
        :raises climate.exceptions.InvalidInput: if the marker does not exist
        """
        conditions = [LEASES.c.deleted_at.is_(None), *_conditions(query)]
        keys = _sort_keys(query)
        if query.marker is not None:
            conditions.append(self._after(query, keys))
        if after is not None:
            conditions.append(_beyond(keys, (after.created_at, after.id)))
        statement = sa.select(LEASES).where(*conditions)
        statement = statement.order_by(*(key.desc() if down else key for key, down in keys))
        limit = most if query.limit is None else query.limit
        if limit is not None:
            statement = statement.limit(limit + 1)
        found = self._session.execute(statement).all()
        if limit is None:
            return self._whole(found, sa.select(LEASES.c.id).where(*conditions)), False
        return self._whole(found[:limit]), len(found) > limit

    def _after(self, query: LeaseQuery, keys: list[tuple[Any, bool]]) -> Any:
        """Return the condition that a lease follows the marker in the order of *keys*."""
        scope = [LEASES.c.id == query.marker]
        if query.project_id is not None:
            scope.append(LEASES.c.project_id == query.project_id)
        marker = self._session.execute(
            sa.select(*(key for key, _ in keys)).where(*scope)
        ).one_or_none()
        if marker is None:
            raise exceptions.InvalidInput(f"marker: there is no lease '{query.marker}'")
        return _beyond(keys, marker)

    def _whole(self, found: Sequence[Any], scope: Any = None) -> list[Lease]:
        """Load the parts of the leases, in two statements for any number of leases.

        :param scope: a SELECT of the same leases' ids, where a list of ids might be
            too long for an engine
        """
        if not found:
            return []
        ids = [row.id for row in found] if scope is None else scope
        parts: dict[str, list[Reservation]] = defaultdict(list)
        events: dict[str, list[Event]] = defaultdict(list)
        for reservation in Reservations(self._session, self._now).of_leases(ids):
            parts[reservation.lease_id].append(reservation)
        for event in Events(self._session, self._now).of_leases(ids):
            events[event.lease_id].append(event)
        return [_lease(row, parts[row.id], events[row.id]) for row in found]


def _given_up() -> Any:
    return sa.and_(LEASES.c.deleted_at.is_not(None), LEASES.c.deleted_at < LEASES.c.start_date)


def _beyond(keys: list[tuple[Any, bool]], values: Sequence[Any]) -> Any:
    """Return the condition that a row follows one with these values in the order of *keys*."""
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
        'options': _options(lease),
        'trust_id': lease.trust_id,
        'next_due': lease.next_due,
        'deleted_at': lease.deleted_at,
    }


def _lease(row: Any, reservations: Sequence[Reservation], events: Sequence[Event]) -> Lease:
    notify = row.options.get('notify_before_start')
    notices = row.options.get('notices')
    readiness = row.options.get('readiness')
    return Lease(
        id=row.id,
        name=row.name,
        user_id=row.user_id,
        project_id=row.project_id,
        period=Period(start=row.start_date, end=row.end_date),
        status=LeaseStatus(row.status),
        degraded=bool(row.degraded),
        before_end_date=row.before_end_date,
        notify_before_start=None if notify is None else tuple(notify),
        notices=None if notices is None else tuple(notices),
        readiness=None if readiness is None else _readiness(readiness),
        lead_time=row.options.get('lead_time'),
        trust_id=row.trust_id,
        next_due=row.next_due,
        reservations=tuple(reservations),
        events=tuple(events),
        created_at=row.created_at,
        updated_at=row.updated_at,
        deleted_at=row.deleted_at,
    )


def _options(lease: Lease) -> dict[str, Any]:
    """Return the column ``options``, without values that are None."""
    said = lease.readiness
    values: dict[str, Any] = {
        'notify_before_start': lease.notify_before_start,
        'notices': lease.notices,
        'lead_time': lease.lead_time,
        'readiness': None
        if said is None
        else {
            'ready': list(said.ready),
            'waiting': list(said.waiting),
            'by': said.by,
            'detail': said.detail,
            'at': said.at.isoformat(),
        },
    }
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
        if value is not None
    }


def _readiness(stored: Mapping[str, Any]) -> Readiness:
    return Readiness(
        ready=tuple(stored['ready']),
        waiting=tuple(stored['waiting']),
        by=stored['by'],
        detail=stored['detail'],
        at=datetime.datetime.fromisoformat(stored['at']),
    )


def _sort_keys(query: LeaseQuery) -> list[tuple[Any, bool]]:
    wanted = query.sort or (('created_at', 'asc'),)
    keys = [(LEASES.c[name], direction == 'desc') for name, direction in wanted]
    if all(name != 'id' for name, _ in wanted):
        # The id makes the order total, so that pages neither repeat nor omit a lease.
        keys.append((LEASES.c.id, keys[-1][1]))
    return keys


def _conditions(query: LeaseQuery) -> list[Any]:
    columns: list[tuple[Any, Any]] = [
        (LEASES.c.project_id, query.project_id),
        (LEASES.c.status, query.status),
        (LEASES.c.name, query.name),
    ]
    conditions = [column == wanted for column, wanted in columns if wanted is not None]
    bounds: list[tuple[Any, datetime.datetime | None, bool]] = [
        (LEASES.c.start_date, query.start_before, True),
        (LEASES.c.start_date, query.start_after, False),
        (LEASES.c.end_date, query.end_before, True),
        (LEASES.c.end_date, query.end_after, False),
    ]
    conditions += [
        column < bound if before else column > bound
        for column, bound, before in bounds
        if bound is not None
    ]
    if query.resource_type is not None:
        conditions.append(
            sa.exists().where(
                RESERVATIONS.c.lease_id == LEASES.c.id,
                RESERVATIONS.c.resource_type == query.resource_type,
            )
        )
    return conditions
