# SPDX-License-Identifier: Apache-2.0

"""Queries of the calendar: a page of resources, and what is reserved of them in a period.

Each is one statement for the whole page. The first ones also tell whether the page has
changed since a client read it, so that the others can be left out.
"""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Collection
from collections.abc import Mapping
from typing import Any
from typing import Final

import sqlalchemy as sa

from climate import exceptions
from climate.db.resources import things
from climate.db.resources.conditions import of_type
from climate.db.resources.properties import CAPABILITY
from climate.db.resources.properties import TRAIT
from climate.db.schema.tables import ALLOCATIONS
from climate.db.schema.tables import INVENTORIES
from climate.db.schema.tables import LEASES
from climate.db.schema.tables import MAINTENANCES
from climate.db.schema.tables import PROPERTIES
from climate.db.schema.tables import PROPERTY_KEYS
from climate.db.schema.tables import RESERVATIONS
from climate.db.schema.tables import RESOURCES
from climate.db.statements.lists import Among
from climate.db.statements.repository import Repository
from climate.domain.calendar import CalendarBar
from climate.domain.calendar import CalendarClosure
from climate.domain.calendar import CalendarGroup
from climate.domain.calendar import CalendarLease
from climate.domain.calendar import CalendarPageQuery
from climate.domain.calendar import CalendarResource
from climate.domain.calendar import MOST_BARS
from climate.domain.calendar import MOST_GROUPS
from climate.domain.lifecycles import LeaseStatus

_GROUPS: Final = PROPERTIES.alias('calendar_groups')
_START: sa.BindParameter[Any] = sa.bindparam('start', type_=ALLOCATIONS.c.start_date.type)
_END: sa.BindParameter[Any] = sa.bindparam('end', type_=ALLOCATIONS.c.end_date.type)
# Built once, see leases.py.
_OVERLAPS = (
    Among(ALLOCATIONS.c.resource_id, 'ids'),
    # Names both values of the column: the index then leads to the period.
    ALLOCATIONS.c.live.in_((0, 1)),
    ALLOCATIONS.c.end_date > _START,
    ALLOCATIONS.c.start_date < _END,
)
_WITH_LEASES = ALLOCATIONS.join(
    RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id
).join(LEASES, LEASES.c.id == RESERVATIONS.c.lease_id)
_STATE = (
    sa.select(LEASES.c.status, sa.func.count(), sa.func.max(LEASES.c.updated_at))
    .select_from(_WITH_LEASES)
    .where(*_OVERLAPS)
    .group_by(LEASES.c.status)
    .order_by(LEASES.c.status)
)
# Not the column itself: SQLite would then read all leases of the project by an index, however
# many there are, in place of those of the page.
_OWN_STATE = _STATE.where(sa.func.coalesce(LEASES.c.project_id, '') == sa.bindparam('project_id'))
_BARS = (
    sa.select(
        *ALLOCATIONS.c['resource_id', 'start_date', 'end_date', 'reservation_id'],
        *ALLOCATIONS.c['resource_class', 'amount'],
        *LEASES.c['id', 'name', 'status', 'project_id', 'deleted_at', 'firm_at'],
    )
    .select_from(_WITH_LEASES)
    .where(*_OVERLAPS)
    .order_by(ALLOCATIONS.c.resource_id, ALLOCATIONS.c.start_date, ALLOCATIONS.c.id)
    .limit(MOST_BARS + 1)
)
_CAPACITIES = sa.select(
    *INVENTORIES.c['resource_id', 'resource_class', 'total', 'reserved', 'allocation_ratio']
).where(Among(INVENTORIES.c.resource_id, 'ids'))
_CLOSURES = (
    sa.select(*MAINTENANCES.c['id', 'resource_id', 'start_date', 'end_date'])
    .where(
        Among(MAINTENANCES.c.resource_id, 'ids'),
        MAINTENANCES.c.end_date > _START,
        MAINTENANCES.c.start_date < _END,
    )
    .order_by(MAINTENANCES.c.resource_id, MAINTENANCES.c.start_date, MAINTENANCES.c.id)
)


class CalendarPages(Repository):
    """Reads what the pages of the calendar show."""

    def has_property(self, query: CalendarPageQuery) -> bool:
        """Whether the caller can see the property that the page is grouped by."""
        statement = (
            sa.select(PROPERTIES.c.resource_id)
            .join(RESOURCES, RESOURCES.c.id == PROPERTIES.c.resource_id)
            .where(
                *of_type(query.resource_type),
                PROPERTIES.c.kind == CAPABILITY,
                PROPERTIES.c.name == query.group_by,
                *_public(query, PROPERTIES.c.name),
            )
            .limit(1)
        )
        return self._session.scalar(statement) is not None

    def total(self, query: CalendarPageQuery) -> int:
        """Return how many resources match on all pages."""
        statement = sa.select(sa.func.count()).select_from(RESOURCES).where(*_matches(query))
        return int(self._session.scalar(statement) or 0)

    def groups(self, query: CalendarPageQuery) -> list[CalendarGroup] | None:
        """Return the groups of all pages, in order; None if there are none or too many."""
        if query.group_by is None:
            return None
        value = _GROUPS.c.value
        statement = (
            sa.select(value, sa.func.count())
            .select_from(_grouped(query))
            .where(*_matches(query))
            .group_by(value)
            .order_by(value.is_(None), value)
            .limit(MOST_GROUPS + 1)
        )
        listed = [CalendarGroup(*row) for row in self._session.execute(statement)]
        return listed if len(listed) <= MOST_GROUPS else None

    def resources(self, query: CalendarPageQuery) -> list[CalendarResource]:
        """Return the resources of a page, in order, and the one after them.

        :raises climate.exceptions.InvalidInput: if the marker of a grouped page does not exist
        """
        group: Any = sa.null() if query.group_by is None else _GROUPS.c.value
        statement = (
            sa.select(*RESOURCES.c['id', 'name', 'disabled', 'failed_at', 'generation'], group)
            .select_from(_grouped(query))
            .where(*_matches(query))
            .limit(query.limit + 1)
        )
        order: tuple[Any, ...] = (RESOURCES.c.sort_name, RESOURCES.c.id)[not query.natural :]
        if query.group_by is not None:
            order = (group.is_(None), group, *order)
        if query.marker is not None:
            statement = statement.where(self._after(query.marker, query))
        if query.offset:
            statement = statement.offset(query.offset)
        rows: Any = self._session.execute(statement.order_by(*order))
        return [CalendarResource(*row) for row in rows]

    def _after(self, marker: int, query: CalendarPageQuery) -> Any:
        """Return the condition that a resource follows the marker."""
        further: Any = RESOURCES.c.id > marker
        if query.group_by is None and not query.natural:
            return further
        value = sa.null().label('value') if query.group_by is None else _GROUPS.c.value
        row = self._session.execute(
            sa.select(value, RESOURCES.c.sort_name)
            .select_from(_grouped(query))
            .where(RESOURCES.c.id == marker)
        ).one_or_none()
        if row is None:
            raise exceptions.InvalidInput(f"marker: there is no resource '{marker}'")
        if query.natural:
            key = RESOURCES.c.sort_name
            # The first condition says less, but leads to the place in the index.
            further = sa.and_(
                key >= row.sort_name, sa.or_(key > row.sort_name, RESOURCES.c.id > marker)
            )
        if query.group_by is None:
            return further
        if row.value is None:
            return sa.and_(value.is_(None), further)
        return sa.or_(value.is_(None), value > row.value, sa.and_(value == row.value, further))

    def lease_state(self, ids: Collection[int], query: CalendarPageQuery) -> list[tuple[Any, ...]]:
        """Return values that differ when a lease that the page shows has changed."""
        statement = _STATE if query.all_projects else _OWN_STATE
        values = _values(ids, query)
        if not query.all_projects:
            values['project_id'] = query.project_id
        return [tuple(row) for row in self._session.execute(statement, values)]

    def bars(self, ids: Collection[int], query: CalendarPageQuery) -> list[CalendarBar]:
        """Return what is reserved of the resources, and was, by resource and start.

        :raises climate.exceptions.InvalidInput: if it is too much
        """
        rows = self._session.execute(_BARS, _values(ids, query)).all()
        if len(rows) > MOST_BARS:
            raise exceptions.InvalidInput.of(
                'limit',
                f'these resources have more than {MOST_BARS} '
                'allocations in the period; lower limit, or shorten the period',
            )
        by_place: dict[tuple[Any, ...], CalendarBar] = {}
        for resource_id, start, end, reservation_id, resource_class, amount, *lease in rows:
            key = (resource_id, start, end, reservation_id)
            bar = by_place.get(key)
            if bar is None:
                shown, held = _shown(query, *lease)
                bar = by_place[key] = CalendarBar(resource_id, start, end, {}, shown, held)
            if resource_class is not None:
                amounts: Any = bar.amounts
                amounts[resource_class] = amounts.get(resource_class, 0) + amount
        return list(by_place.values())

    def capacities(self, ids: Collection[int]) -> Mapping[int, Mapping[str, int]]:
        """Return the units that can be reserved, by resource id and class."""
        units: defaultdict[int, dict[str, int]] = defaultdict(dict)
        rows = self._session.execute(_CAPACITIES, {'ids': list(ids)})
        for resource_id, resource_class, total, reserved, ratio in rows:
            units[resource_id][resource_class] = int((total - reserved) * ratio)
        return units

    def closures(self, ids: Collection[int], query: CalendarPageQuery) -> list[CalendarClosure]:
        """Return the maintenances of the resources in the period."""
        rows = self._session.execute(_CLOSURES, _values(ids, query))
        return [CalendarClosure(*row) for row in rows]


def _values(ids: Collection[int], query: CalendarPageQuery) -> dict[str, Any]:
    return {'ids': list(ids), 'start': query.period.start, 'end': query.period.end}


def _shown(
    query: CalendarPageQuery,
    lease_id: str,
    name: str,
    status: str,
    project_id: str,
    deleted_at: Any,
    firm_at: datetime.datetime | None,
) -> tuple[CalendarLease | None, bool]:
    """Return a lease if the caller may see it, and whether it is a hold instead."""
    # Only the lease of a hold is pending and deleted; see offers.py.
    if deleted_at is not None and status == LeaseStatus.PENDING:
        return None, True
    if not query.all_projects and project_id != query.project_id:
        return None, False
    return CalendarLease(lease_id, name, status, project_id, firm_at), False


def _grouped(query: CalendarPageQuery) -> Any:
    """Return the resources, each with its value of the property to group by."""
    if query.group_by is None:
        return RESOURCES
    return RESOURCES.outerjoin(
        _GROUPS,
        sa.and_(
            _GROUPS.c.resource_id == RESOURCES.c.id,
            _GROUPS.c.kind == CAPABILITY,
            _GROUPS.c.name == query.group_by,
        ),
    )


def _matches(query: CalendarPageQuery) -> list[Any]:
    """Return the conditions that a resource belongs to the calendar."""
    conditions = [
        *of_type(query.resource_type),
        things.visible(None if query.all_projects else query.project_id),
    ]
    if query.search:
        conditions.append(
            sa.or_(_contains(RESOURCES.c.name, query.search), RESOURCES.c.id.in_(_described(query)))
        )
    if query.mine or query.lease_id is not None:
        conditions.append(RESOURCES.c.id.in_(_reserved(query)))
    return conditions


def _reserved(query: CalendarPageQuery) -> Any:
    """Return the ids of resources of which the project, or the lease, has something then."""
    whose = []
    if query.mine or not query.all_projects:
        whose.append(LEASES.c.project_id == query.project_id)
    if query.lease_id is not None:
        whose.append(LEASES.c.id == query.lease_id)
    return (
        sa.select(ALLOCATIONS.c.resource_id)
        .select_from(_WITH_LEASES)
        .where(
            *whose,
            # A hold is not shown as a lease of the project either; see _shown.
            sa.or_(LEASES.c.deleted_at.is_(None), LEASES.c.status != LeaseStatus.PENDING),
            ALLOCATIONS.c.end_date > query.period.start,
            ALLOCATIONS.c.start_date < query.period.end,
        )
    )


def _described(query: CalendarPageQuery) -> Any:
    """Return the ids of resources with a property or a trait that is searched for."""
    name, equals, value = query.search.partition('=')
    mine = PROPERTIES.c.kind == CAPABILITY
    if equals and name:
        wanted = sa.and_(mine, PROPERTIES.c.name == name, PROPERTIES.c.value == value)
    else:
        wanted = sa.or_(
            sa.and_(mine, _contains(PROPERTIES.c.value, query.search)),
            sa.and_(PROPERTIES.c.kind == TRAIT, _contains(PROPERTIES.c.name, query.search)),
        )
    return sa.select(PROPERTIES.c.resource_id).where(wanted, *_public(query, PROPERTIES.c.name))


def _public(query: CalendarPageQuery, name: Any) -> list[Any]:
    """Return the condition that the caller may know a property."""
    if query.sees_private:
        return []
    private = sa.select(PROPERTY_KEYS.c.name).where(
        PROPERTY_KEYS.c.resource_type == query.resource_type, PROPERTY_KEYS.c.private.is_(True)
    )
    return [name.not_in(private)]


def _contains(column: Any, text: str) -> Any:
    return sa.func.lower(column).contains(text.lower(), autoescape=True)
