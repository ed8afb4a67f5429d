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
"""Queries of capacity: how much of their inventories resources have left in a period."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Collection
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from climate.db import search
from climate.db.repository import Repository
from climate.db.search import Match
from climate.db.tables import ALLOCATIONS
from climate.db.tables import INVENTORIES
from climate.db.tables import RESOURCES
from climate.domain.periods import Period


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """The requested period, and the reservations that do not count in it.

    :ivar period: the period in which units are requested
    :ivar padded: *period* with the cleaning time before and after, in which no
        resource may be allocated as a whole
    :ivar except_reservations: ids of the reservations that are being changed
    """

    period: Period
    padded: Period
    except_reservations: Collection[str] = ()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Room:
    """The free capacity of a resource throughout a window.

    :ivar capacity: units by resource class, for the requested classes
    :ivar left: units that are free at every instant of the window; negative if the
        resource is overbooked
    """

    resource_id: int
    name: str
    generation: int
    capacity: Mapping[str, int]
    left: Mapping[str, int]


class Rooms(Repository):
    """The free capacity of resources."""

    def find(
        self,
        match: Match,
        demand: Mapping[str, int],
        window: Window,
        *,
        loaded: bool | None = None,
        bookable: bool = True,
        first_id: int = 0,
        before_id: int | None = None,
        only_ids: Collection[int] | None = None,
        except_ids: Collection[int] = (),
        limit: int | None = None,
    ) -> list[Room]:
        """Return the free capacity of the resources that match and have all classes of *demand*.

        One statement, for any number of resources and allocations. It finds the peak
        of use by visiting all starts and ends within the window in order, ends first::

            WITH hosts AS (SELECT r.id, r.name, r.generation FROM resources r
                           WHERE … AND EXISTS (… inventories …) ORDER BY r.id LIMIT :limit),
                 uses AS (SELECT hosts.*, i0.total - i0.reserved AS units0, …, a.*
                          FROM hosts JOIN inventories i0 ON … LEFT JOIN allocations a ON …),
                 steps AS (SELECT …, CASE WHEN sign = 1 THEN start_date ELSE end_date END AS at,
                                  sign * amount AS delta
                           FROM uses JOIN (SELECT 1 AS sign UNION ALL SELECT -1) signs),
                 levels AS (SELECT …, SUM(delta) OVER (PARTITION BY id, resource_class
                                                       ORDER BY at, delta) AS level FROM steps)
            SELECT id, …, MAX(CASE WHEN resource_class = :name0 THEN level END) AS peak0, …
            FROM levels GROUP BY id, … ORDER BY id

        Each expression is read once, by the next one. MariaDB would compute it again for
        a second reader, and PostgreSQL and SQLite would join it with a nested loop,
        since no engine can estimate its size.

        :param demand: units by resource class that are needed at the same time;
            classes with 0 units are ignored
        :param loaded: only resources with a partial allocation within the window, or
            only those without; None for both
        :param bookable: only resources that are open to new bookings
        :returns: in id order, including resources with too little left
        """
        classes = search.used_classes(demand)
        query = _hosts(match, classes, window, bookable).where(RESOURCES.c.id >= first_id)
        if loaded is not None:
            used = _partly_used(window)
            query = query.where(used if loaded else ~used)
        if before_id is not None:
            query = query.where(RESOURCES.c.id < before_id)
        if only_ids is not None:
            query = query.where(RESOURCES.c.id.in_(only_ids))
        if except_ids:
            query = query.where(RESOURCES.c.id.not_in(except_ids))
        hosts = query.order_by(RESOURCES.c.id).limit(limit).cte('hosts')
        levels = _levels(_steps(_uses(hosts, classes, window)))
        found = self._session.execute(_peaks(levels, classes))
        return [_room(row, classes) for row in found.mappings()]

    def has(self, match: Match) -> bool:
        """Whether any resource matches, whatever its size."""
        query = sa.select(RESOURCES.c.id).where(*match.conditions()).limit(1)
        return self._session.scalar(query) is not None

    def sizes(self, match: Match, demand: Mapping[str, int]) -> list[int]:
        """Return how often *demand* fits on each matching resource without allocations.

        :returns: in no particular order, without resources that are too small
        """
        classes = search.used_classes(demand)
        source: Any = RESOURCES
        columns: list[Any] = []
        for name in classes:
            has = INVENTORIES.alias()
            source = source.join(
                has, sa.and_(has.c.resource_id == RESOURCES.c.id, has.c.resource_class == name)
            )
            columns += [has.c.total - has.c.reserved, has.c.allocation_ratio]
        query = (
            sa.select(*columns).select_from(source).where(*match.conditions(), *_holding(demand))
        )
        return [
            min(
                int(row[2 * place] * row[2 * place + 1]) // units
                for place, units in enumerate(classes.values())
            )
            for row in self._session.execute(query)
        ]

    def first_end(
        self, match: Match, demand: Mapping[str, int], window: Window
    ) -> datetime.datetime | None:
        """Return the earliest end of an allocation that prevents the booking.

        Resources that are too small for *demand* do not count.
        """
        large = sa.select(RESOURCES.c.id).where(*match.conditions(), *_holding(demand))
        overlapping = [
            ALLOCATIONS.c.resource_id.in_(large),
            ALLOCATIONS.c.live == 1,
            ALLOCATIONS.c.end_date > window.padded.start,
            ALLOCATIONS.c.start_date < window.padded.end,
            sa.or_(
                ALLOCATIONS.c.resource_class.is_(None),
                ALLOCATIONS.c.resource_class.in_(list(demand)),
            ),
        ]
        if window.except_reservations:
            overlapping.append(ALLOCATIONS.c.reservation_id.not_in(window.except_reservations))
        query = sa.select(sa.func.min(ALLOCATIONS.c.end_date)).where(*overlapping)
        found: datetime.datetime | None = self._session.scalar(query)
        return found


def _holding(demand: Mapping[str, int]) -> list[Any]:
    """Return the conditions that a resource without allocations has all of *demand*."""
    return [
        *search.offering(demand),
        *(
            sa.exists().where(
                INVENTORIES.c.resource_id == RESOURCES.c.id,
                INVENTORIES.c.resource_class == name,
                # As in domain.resources.Inventory: a whole number fits into what is rounded
                # down exactly if it fits before rounding.
                (INVENTORIES.c.total - INVENTORIES.c.reserved) * INVENTORIES.c.allocation_ratio
                >= units,
            )
            for name, units in search.used_classes(demand).items()
        ),
    ]


def _hosts(match: Match, classes: Mapping[str, int], window: Window, bookable: bool) -> Any:
    conditions = match.conditions(bookable=bookable)
    if bookable:
        conditions.append(search.in_service(window.period))
    conditions += search.offering(classes)
    conditions.append(~sa.exists(_whole(window)))
    return sa.select(RESOURCES.c.id, RESOURCES.c.name, RESOURCES.c.generation).where(*conditions)


def _room(row: Any, classes: Collection[str]) -> Room:
    # Rounded down as domain.resources.Inventory does it.
    capacity = {
        name: int(row[f'units{place}'] * row[f'ratio{place}']) for place, name in enumerate(classes)
    }
    left = {
        name: capacity[name] - int(row[f'peak{place}'] or 0) for place, name in enumerate(classes)
    }
    return Room(
        resource_id=row['id'],
        name=row['name'],
        generation=row['generation'],
        capacity=capacity,
        left=left,
    )


def _whole(window: Window) -> Any:
    """Select allocations of whole resources, live or within the cleaning time."""
    query = sa.select(ALLOCATIONS.c.id).where(
        ALLOCATIONS.c.resource_id == RESOURCES.c.id,
        # Names both values of the column, so that the index leads to the period. A
        # released allocation has ended, so only the cleaning time can overlap it.
        ALLOCATIONS.c.live.in_((0, 1)),
        ALLOCATIONS.c.end_date > window.padded.start,
        ALLOCATIONS.c.start_date < window.padded.end,
        ALLOCATIONS.c.resource_class.is_(None),
    )
    if window.except_reservations:
        query = query.where(ALLOCATIONS.c.reservation_id.not_in(window.except_reservations))
    # No real limit; it makes engines look up one resource after the other.
    return query.limit(1).offset(0)


def _partly_used(window: Window) -> Any:
    query = sa.select(ALLOCATIONS.c.id).where(
        ALLOCATIONS.c.resource_id == RESOURCES.c.id,
        ALLOCATIONS.c.live == 1,
        ALLOCATIONS.c.end_date > window.period.start,
        ALLOCATIONS.c.start_date < window.period.end,
    )
    return sa.exists(query.limit(1).offset(0))


def _uses(hosts: Any, classes: Collection[str], window: Window) -> Any:
    """Select what other reservations have within the window; an empty row without any."""
    columns: list[Any] = list(hosts.c)
    source = hosts
    for place, name in enumerate(classes):
        has = INVENTORIES.alias(f'i{place}')
        source = source.join(
            has, sa.and_(has.c.resource_id == hosts.c.id, has.c.resource_class == name)
        )
        columns += [
            (has.c.total - has.c.reserved).label(f'units{place}'),
            has.c.allocation_ratio.label(f'ratio{place}'),
        ]
    conditions = [
        ALLOCATIONS.c.resource_id == hosts.c.id,
        ALLOCATIONS.c.live == 1,
        ALLOCATIONS.c.end_date > window.period.start,
        ALLOCATIONS.c.start_date < window.period.end,
        ALLOCATIONS.c.resource_class.in_(list(classes)),
    ]
    if window.except_reservations:
        conditions.append(ALLOCATIONS.c.reservation_id.not_in(window.except_reservations))
    source = source.outerjoin(ALLOCATIONS, sa.and_(*conditions))
    columns += [
        ALLOCATIONS.c.resource_class,
        ALLOCATIONS.c.start_date,
        ALLOCATIONS.c.end_date,
        ALLOCATIONS.c.amount,
    ]
    return sa.select(*columns).select_from(source).cte('uses')


def _steps(uses: Any) -> Any:
    """Select each use twice: at its start and at its end."""
    signs = sa.union_all(
        sa.select(sa.literal_column('1').label('sign')), sa.select(sa.literal_column('-1'))
    ).subquery('signs')
    at = sa.case((signs.c.sign == sa.literal_column('1'), uses.c.start_date), else_=uses.c.end_date)
    rest = [item for item in uses.c if item.name not in ('start_date', 'end_date', 'amount')]
    return (
        sa.select(*rest, at.label('at'), (signs.c.sign * uses.c.amount).label('delta'))
        .select_from(uses.join(signs, sa.true()))
        .cte('steps')
    )


def _levels(steps: Any) -> Any:
    """Select how much is in use after each step."""
    # At the same instant, ends come first because their steps are negative. Uses that
    # extend beyond the window need no clipping, see allocation.timeline.peak.
    level = sa.func.sum(steps.c.delta).over(
        partition_by=[steps.c.id, steps.c.resource_class],
        order_by=[steps.c.at, steps.c.delta],
    )
    rest = [item for item in steps.c if item.name not in ('at', 'delta')]
    return sa.select(*rest, level.label('level')).cte('levels')


def _peaks(levels: Any, classes: Collection[str]) -> Any:
    rest = [item for item in levels.c if item.name not in ('resource_class', 'level')]
    peaks = [
        sa.func.max(sa.case((levels.c.resource_class == name, levels.c.level))).label(
            f'peak{place}'
        )
        for place, name in enumerate(classes)
    ]
    return sa.select(*rest, *peaks).group_by(*rest).order_by(levels.c.id)
