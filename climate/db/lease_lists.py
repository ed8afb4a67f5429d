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

"""Reads leases to show them: one, or a page of a list, in one statement.

Most of the time of a long list was spent on the rows of events and reservations: drivers
and SQLAlchemy handle each value of each row in Python. Here the database returns the parts
of a lease as one JSON text, which is parsed in C.
"""

from __future__ import annotations

import functools
import json
import operator
from collections.abc import Callable
from collections.abc import Sequence
from typing import Any
from typing import Final

import sqlalchemy as sa

from climate import exceptions
from climate.db import lease_queries
from climate.db import leases
from climate.db.placements import Placements
from climate.db.repository import Repository
from climate.db.reservations import VAULT
from climate.db.tables import EVENTS
from climate.db.tables import LEASES
from climate.db.tables import RESERVATIONS
from climate.db.types import stored_instant
from climate.domain import drafts
from climate.domain import events
from climate.domain.listed import ListedEvent
from climate.domain.listed import ListedLease
from climate.domain.listed import ListedReservation
from climate.domain.placements import loaded
from climate.domain.placements import STORED
from climate.domain.requests import LeaseQuery

_LEASE = (
    LEASES.c.id,
    LEASES.c.name,
    LEASES.c.user_id,
    LEASES.c.project_id,
    LEASES.c.start_date,
    LEASES.c.end_date,
    LEASES.c.status,
    LEASES.c.degraded,
    LEASES.c.before_end_date,
    LEASES.c.options,
    LEASES.c.created_at,
    LEASES.c.updated_at,
)
_EVENT = (
    EVENTS.c.id,
    EVENTS.c.kind,
    EVENTS.c.state,
    EVENTS.c.time,
    EVENTS.c.created_at,
    EVENTS.c.updated_at,
    EVENTS.c.due,
)
_DUE: Final = len(_EVENT) - 1
_RESERVATION = (
    RESERVATIONS.c.id,
    RESERVATIONS.c.resource_type,
    RESERVATIONS.c.status,
    RESERVATIONS.c.request,
    RESERVATIONS.c.facts,
    RESERVATIONS.c.position,
    RESERVATIONS.c.missing_resources,
    RESERVATIONS.c.resources_changed,
    RESERVATIONS.c.part_of,
    RESERVATIONS.c.created_at,
    RESERVATIONS.c.updated_at,
)
_POSITION: Final = 5
_DRAFT: Final = json.dumps(drafts.DRAFT)
_PLACEMENT: Final = json.dumps(STORED)
_place = operator.itemgetter(_POSITION)


@functools.cache
def _parts(dialect: str) -> tuple[Any, Any]:
    """Return the expressions for the events and for the reservations of a lease, as JSON."""
    return (
        _array(dialect, _EVENT, EVENTS.c.lease_id).label('events'),
        _array(dialect, _RESERVATION, RESERVATIONS.c.lease_id).label('reservations'),
    )


@functools.cache
def _one(dialect: str, of_any_project: bool) -> Any:
    """Return the statement that reads a lease."""
    found = sa.select(*_LEASE, *_parts(dialect)).where(
        LEASES.c.id == sa.bindparam('lease_id'), LEASES.c.deleted_at.is_(None)
    )
    if of_any_project:
        return found
    return found.where(LEASES.c.project_id == sa.bindparam('project_id'))


def _array(dialect: str, columns: Sequence[Any], lease_id: Any) -> Any:
    """Return the expression for the rows of a lease as an array of arrays; NULL for none."""
    if dialect == 'postgresql':
        row = sa.func.json_build_array(*columns)
        found: Any = sa.cast(sa.func.json_agg(row), sa.Text())
    elif dialect == 'sqlite':
        found = sa.func.json_group_array(sa.func.json_array(*columns), type_=sa.Text())
    else:
        # connections.py raises the limit of its length.
        row = sa.func.json_array(*columns)
        found = sa.func.concat('[', sa.func.group_concat(row), ']', type_=sa.Text())
    return sa.select(found).where(lease_id == LEASES.c.id).scalar_subquery()


def _rows(text: str | None, key: Callable[[list[Any]], Any]) -> list[list[Any]]:
    """Return the rows in an array, sorted."""
    if text is None:
        return []
    found: list[list[Any]] = json.loads(text)
    if len(found) > 1:
        found.sort(key=key)
    return found


def _event_order(row: list[Any]) -> tuple[str, int, str]:
    """As :func:`climate.domain.events.order`; as text, instants have the same order."""
    return row[_DUE], events.RANK[row[1]], row[0]


def _event(row: list[Any]) -> ListedEvent:
    event_id, kind, state, time, created_at, updated_at, _ = row
    dates = (stored_instant(time), stored_instant(created_at), stored_instant(updated_at))
    return ListedEvent._make((event_id, kind, state, *dates))


class LeaseLists(Repository):
    """Pages of ``leases``, each with its events and reservations."""

    def get(self, lease_id: str, project_id: str | None) -> ListedLease:
        """Return one lease, as lists have it.

        :param project_id: search only this project; None searches all
        :raises climate.exceptions.NotFound: if it does not exist or was deleted
        """
        values = {'lease_id': lease_id, 'project_id': project_id}
        statement = _one(self._session.dialect.name, project_id is None)
        row = self._session.execute(statement, values).one_or_none()
        if row is None:
            raise exceptions.NotFound(object={'lease_id': lease_id})
        found = self._lease(row)
        self._add_members([found])
        return found

    def page(
        self, query: LeaseQuery, most: int, *, after: ListedLease | None = None
    ) -> tuple[list[ListedLease], bool]:
        """Return the leases that match *query*, and whether more follow.

        One statement::

            SELECT l.id, …, (SELECT json_agg(json_build_array(e.id, …)) FROM events e
                             WHERE e.lease_id = l.id), …
            FROM leases l JOIN (SELECT id FROM leases WHERE … ORDER BY … LIMIT :most) page
              ON page.id = l.id
            ORDER BY …

        :param most: the limit if the query has none
        :param after: the last lease of the previous page, which may have been deleted
            since; only for leases in order of creation
        :raises climate.exceptions.InvalidInput: if the marker does not exist
        """
        limit = most if query.limit is None else query.limit
        last = None if after is None else (after.created_at, after.id)
        order = lease_queries.order(query)
        page = (
            sa.select(LEASES.c.id)
            .where(*lease_queries.conditions(self._session, query, last))
            .order_by(*order)
            .limit(limit + 1)
            .subquery('page')
        )
        # The page first: an engine might read the parts of all leases before it sorts them.
        statement = (
            sa.select(*_LEASE, *_parts(self._session.dialect.name))
            .join(page, page.c.id == LEASES.c.id)
            .order_by(*order)
        )
        rows = self._session.execute(statement).all()
        found = [self._lease(row) for row in rows[:limit]]
        self._add_members(found)
        return found, len(rows) > limit

    def _add_members(self, found: Sequence[ListedLease]) -> None:
        """Add where the members of reservations are, if they have a placement."""
        placed = {
            each.id: each.placement
            for lease in found
            for each in lease.reservations
            if each.placement is not None
        }
        if placed:
            members = Placements(self._session, self._now).members(placed)
            for lease in found:
                lease.reservations[:] = [
                    each._replace(placed=members.get(each.id, ())) for each in lease.reservations
                ]

    def _lease(self, row: Any) -> ListedLease:
        *own, degraded, before_end_date, options, created_at, updated_at, events_, parts = row
        return ListedLease._make(
            (
                *own,
                bool(degraded),
                before_end_date,
                options,
                leases.readiness(options),
                created_at,
                updated_at,
                [_event(one) for one in _rows(events_, _event_order)],
                [self._reservation(one) for one in _rows(parts, _place)],
            )
        )

    def _reservation(self, row: list[Any]) -> ListedReservation:
        (*start, request, facts, position, missing, changed, part_of, created_at, updated_at) = row
        if _DRAFT in request:
            # Only drafts have secrets.
            request = json.dumps(self._session.info[VAULT].open(json.loads(request)))
        placement = None
        if _PLACEMENT in request:
            stated = json.loads(request)
            placement = loaded(stated.pop(STORED))
            request = json.dumps(stated)
        flags = (bool(missing), bool(changed))
        dates = (stored_instant(created_at), stored_instant(updated_at))
        return ListedReservation._make(
            (*start, request, facts, position, *flags, part_of, *dates, placement, ())
        )
