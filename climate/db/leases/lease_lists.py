# SPDX-License-Identifier: Apache-2.0

"""Reads leases to show them: one, or a page of a list, in one statement.

Most of the time of a long list was spent on rows: drivers and SQLAlchemy handle each value of
each row in Python. Here the database returns a lease with its parts as one JSON text, which is
parsed in C.
"""

from __future__ import annotations

import functools
import json
import operator
import types
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

import sqlalchemy as sa

from climate import exceptions
from climate.db.leases import lease_options
from climate.db.leases import lease_queries
from climate.db.leases.placements import Placements
from climate.db.leases.reservations import VAULT
from climate.db.schema.tables import EVENTS
from climate.db.schema.tables import LEASES
from climate.db.schema.tables import RESERVATIONS
from climate.db.statements.repository import Repository
from climate.domain import drafts
from climate.domain import events
from climate.domain.listed import instant
from climate.domain.listed import ListedEvent
from climate.domain.listed import ListedLease
from climate.domain.listed import ListedReservation
from climate.domain.placements import loaded
from climate.domain.placements import STORED
from climate.domain.requests import LeaseQuery

_LEASE = (
    *LEASES.c['id', 'name', 'user_id', 'project_id', 'start_date', 'end_date', 'status'],
    *LEASES.c['degraded', 'before_end_date', 'created_at', 'updated_at', 'options'],
)
_EVENT = tuple(EVENTS.c['id', 'kind', 'state', 'time', 'created_at', 'updated_at', 'due'])
_DUE: Final = len(_EVENT) - 1
_RESERVATION = (
    *RESERVATIONS.c['id', 'resource_type', 'status', 'request', 'facts', 'position'],
    *RESERVATIONS.c['missing_resources', 'resources_changed', 'part_of'],
    *RESERVATIONS.c['created_at', 'updated_at'],
)
_REQUEST: Final = 3
_POSITION: Final = 5
_NO_OPTIONS: Final[Mapping[str, Any]] = types.MappingProxyType({})
_DRAFT: Final = json.dumps(drafts.DRAFT)
_PLACEMENT: Final = json.dumps(STORED)
_place = operator.itemgetter(_POSITION)


# Values without a conversion: tuple.__new__ runs in C, unlike the classes' own _make.
_event = functools.partial(tuple.__new__, ListedEvent)
_decoded = json.JSONDecoder().raw_decode


@functools.cache
def _text(dialect: str) -> Any:
    """Return the expression for a lease with its events and reservations.

    :returns: a JSON array of the columns, the events and the reservations; each of the
        latter is an array of arrays, or null for none
    """
    build = sa.func.json_build_array if dialect == 'postgresql' else sa.func.json_array
    own = build(*_LEASE)
    events_ = _rows(dialect, build(*_EVENT), EVENTS.c.lease_id)
    parts = _rows(dialect, build(*_RESERVATION), RESERVATIONS.c.lease_id)
    if dialect == 'postgresql':
        return sa.cast(build(own, events_, parts), sa.Text())
    # These engines would put a JSON text that a subquery returns in quotes.
    pieces = ('[', own, ',', events_, ',', parts, ']')
    if dialect == 'sqlite':
        return functools.reduce(lambda left, right: left.op('||')(right), map(_piece, pieces))
    return sa.func.concat(*map(_piece, pieces), type_=sa.Text())


def _piece(value: Any) -> Any:
    return sa.literal_column(f"'{value}'", sa.Text()) if isinstance(value, str) else value


def _rows(dialect: str, row: Any, lease_id: Any) -> Any:
    """Return the expression for the rows of a lease as an array of arrays."""
    if dialect == 'postgresql':
        array: Any = sa.func.json_agg(row)
    elif dialect == 'sqlite':
        array = sa.func.json_group_array(row, type_=sa.Text())
    else:
        # connections.py raises the limit of its length.
        array = sa.func.concat('[', sa.func.coalesce(sa.func.group_concat(row), ''), ']')
    return sa.select(array).where(lease_id == LEASES.c.id).scalar_subquery()


@functools.cache
def _one(dialect: str, of_any_project: bool) -> Any:
    """Return the statement that reads a lease."""
    statement = sa.select(_text(dialect)).where(
        LEASES.c.id == sa.bindparam('lease_id'), LEASES.c.deleted_at.is_(None)
    )
    if of_any_project:
        return statement
    return statement.where(LEASES.c.project_id == sa.bindparam('project_id'))


def _event_order(row: list[Any]) -> tuple[str, int, str]:
    """As :func:`climate.domain.events.order`; as text, instants have the same order."""
    return row[_DUE], events.RANK[row[1]], row[0]


class LeaseLists(Repository):
    """Pages of ``leases``, each with its events and reservations."""

    def get(self, lease_id: str, project_id: str | None) -> ListedLease:
        """Return one lease, as lists have it.

        :param project_id: search only this project; None searches all
        :raises climate.exceptions.NotFound: if it does not exist or was deleted
        """
        values = {'lease_id': lease_id, 'project_id': project_id}
        statement = _one(self._session.dialect.name, project_id is None)
        text = self._session.execute(statement, values).scalar()
        if text is None:
            raise exceptions.NotFound(object={'lease_id': lease_id})
        lease = self._lease(text)
        self._add_members([lease])
        return lease

    def page(
        self, query: LeaseQuery, most: int, *, after: ListedLease | None = None
    ) -> tuple[list[ListedLease], bool]:
        """Return the leases that match *query*, and whether more follow.

        One statement::

            SELECT json_build_array(
                json_build_array(l.id, …),
                (SELECT json_agg(json_build_array(e.id, …)) FROM events e
                 WHERE e.lease_id = l.id), …)
            FROM leases l JOIN (SELECT id FROM leases WHERE … ORDER BY … LIMIT :most) page
              ON page.id = l.id
            ORDER BY …

        :param most: the limit if the query has none
        :param after: the last lease of the previous page, which may have been deleted
            since; only for leases in order of creation
        :raises climate.exceptions.InvalidInput: if the marker does not exist
        """
        limit = most if query.limit is None else query.limit
        last = None if after is None else (instant(after.created_at), after.id)
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
            sa.select(_text(self._session.dialect.name))
            .join(page, page.c.id == LEASES.c.id)
            .order_by(*order)
        )
        texts = self._session.execute(statement).scalars().all()
        leases = [self._lease(text) for text in texts[:limit]]
        self._add_members(leases)
        return leases, len(texts) > limit

    def _add_members(self, leases: Sequence[ListedLease]) -> None:
        """Add where the members of reservations are, if they have a placement."""
        placed = {
            each.id: each.placement
            for lease in leases
            for each in lease.reservations
            if each.placement is not None
        }
        if placed:
            members = Placements(self._session, self._now).members(placed)
            for lease in leases:
                lease.reservations[:] = [
                    each._replace(placed=members.get(each.id, ())) for each in lease.reservations
                ]

    def _lease(self, text: str) -> ListedLease:
        """Return a lease from the JSON text of :func:`_text`."""
        (own, events_, parts), _ = _decoded(text)
        stated = own[-1]
        options = _NO_OPTIONS if stated == '{}' else json.loads(stated)
        readiness = lease_options.readiness(options) if options else None
        if events_ is None:
            events_ = []
        elif len(events_) > 2 or (
            # Most leases have a start and an end, which need no function call to compare.
            len(events_) == 2 and events_[0][_DUE] >= events_[1][_DUE]
        ):
            events_.sort(key=_event_order)
        if parts is None:
            parts = []
        elif len(parts) > 1:
            parts.sort(key=_place)
        reservations = [self._reservation(one) for one in parts]
        own[-1:] = options, readiness, list(map(_event, events_)), reservations
        return tuple.__new__(ListedLease, own)

    def _reservation(self, row: list[Any]) -> ListedReservation:
        request = row[_REQUEST]
        placement = None
        # Only drafts have secrets.
        if _DRAFT in request:
            request = json.dumps(self._session.info[VAULT].open(json.loads(request)))
        if _PLACEMENT in request:
            stated = json.loads(request)
            placement = loaded(stated.pop(STORED))
            request = json.dumps(stated)
        row[_REQUEST] = request
        row += placement, (), None
        return tuple.__new__(ListedReservation, row)
