# SPDX-License-Identifier: Apache-2.0

"""Which leases a query asks for, and in which order."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from climate import exceptions
from climate.db.schema.tables import LEASES
from climate.db.schema.tables import RESERVATIONS
from climate.domain.lifecycles import LeaseStatus
from climate.domain.requests import LeaseQuery

Keys = list[tuple[Any, bool]]
"""Columns in the order of their significance, and whether each is in descending order."""


def conditions(
    session: sa.Connection, query: LeaseQuery, last: tuple[datetime.datetime | None, str] | None
) -> list[Any]:
    """Return the conditions on a row of ``leases``.

    :param last: ``created_at`` and the id of the last lease of the previous page; only
        for leases in order of creation
    :raises climate.exceptions.InvalidInput: if the marker does not exist
    """
    keys = sort_keys(query)
    clauses = [LEASES.c.deleted_at.is_(None), *_filters(query)]
    if query.marker is not None:
        clauses.append(_beyond(keys, _marker(session, query, keys)))
    if last is not None:
        clauses.append(_beyond(keys, last))
    return clauses


def order(query: LeaseQuery) -> list[Any]:
    """Return the terms of ``ORDER BY``."""
    return [key.desc() if down else key for key, down in sort_keys(query)]


def sort_keys(query: LeaseQuery) -> Keys:
    """Return the columns by which the leases are sorted."""
    wanted = query.sort or (('created_at', 'asc'),)
    keys = [(LEASES.c[name], direction == 'desc') for name, direction in wanted]
    if all(name != 'id' for name, _ in wanted):
        # The id makes the order total, so that pages neither repeat nor omit a lease.
        keys.append((LEASES.c.id, keys[-1][1]))
    return keys


def _marker(session: sa.Connection, query: LeaseQuery, keys: Keys) -> Sequence[Any]:
    """Return the values of the marker in the order of *keys*."""
    scope = [LEASES.c.id == query.marker]
    if query.project_id is not None:
        scope.append(LEASES.c.project_id == query.project_id)
    marker = session.execute(sa.select(*(key for key, _ in keys)).where(*scope)).one_or_none()
    if marker is None:
        raise exceptions.InvalidInput(f"marker: there is no lease '{query.marker}'")
    return marker


def _beyond(keys: Keys, values: Sequence[Any]) -> Any:
    """Return the condition that a row follows one with these values in the order of *keys*."""
    alternatives = []
    for place, (key, down) in enumerate(keys):
        same = [keys[i][0] == values[i] for i in range(place)]
        further = key < values[place] if down else key > values[place]
        alternatives.append(sa.and_(*same, further))
    return sa.or_(*alternatives)


def _filters(query: LeaseQuery) -> list[Any]:
    columns: list[tuple[Any, Any]] = [
        (LEASES.c.project_id, query.project_id),
        (LEASES.c.name, query.name),
        (LEASES.c.user_id, query.user_id),
    ]
    filters = [column == wanted for column, wanted in columns if wanted is not None]
    if query.status == LeaseStatus.PENDING and query.with_waiting:
        filters.append(LEASES.c.status.in_((LeaseStatus.PENDING, LeaseStatus.WAITING)))
    elif query.status is not None:
        filters.append(LEASES.c.status == query.status)
    bounds: list[tuple[Any, datetime.datetime | None, bool]] = [
        (LEASES.c.start_date, query.start_before, True),
        (LEASES.c.start_date, query.start_after, False),
        (LEASES.c.end_date, query.end_before, True),
        (LEASES.c.end_date, query.end_after, False),
    ]
    filters += [
        column < bound if before else column > bound
        for column, bound, before in bounds
        if bound is not None
    ]
    if query.resource_type is not None:
        filters.append(
            sa.exists().where(
                RESERVATIONS.c.lease_id == LEASES.c.id,
                RESERVATIONS.c.resource_type == query.resource_type,
            )
        )
    return filters
