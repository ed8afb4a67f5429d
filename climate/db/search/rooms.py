# SPDX-License-Identifier: Apache-2.0
"""Queries of capacity: how much of their inventories resources have left in a period."""

from __future__ import annotations

import dataclasses
import datetime
import functools
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from climate.allocation.matches import Match
from climate.db.schema.tables import ALLOCATIONS
from climate.db.schema.tables import INVENTORIES
from climate.db.schema.tables import RESOURCES
from climate.db.search import occupancy
from climate.db.search import search
from climate.db.statements.repository import Repository
from climate.domain.periods import Period
from climate.domain.resources import Room
from climate.domain.resources import used_classes

_PERIOD = occupancy.PeriodParameters(start=occupancy.instant('start'), end=occupancy.instant('end'))
_PADDED = occupancy.PeriodParameters(
    start=occupancy.instant('padded_start'), end=occupancy.instant('padded_end')
)


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
        classes = used_classes(demand)
        shape = _Shape(
            classes=len(classes),
            loaded=loaded,
            bookable=bookable,
            before=before_id is not None,
            only=only_ids is not None,
            without=bool(except_ids),
            limited=limit is not None,
            changing=bool(window.except_reservations),
        )
        special = search.special_conditions(match)
        statement = _built(shape, special) if special else _constant(shape)
        values = {
            'resource_type': match.resource_type,
            'first_id': first_id,
            'before_id': before_id,
            'only': only_ids if only_ids is None else list(only_ids),
            'without': list(except_ids),
            'most': limit,
            'changing': list(window.except_reservations),
            'start': window.period.start,
            'end': window.period.end,
            'padded_start': window.padded.start,
            'padded_end': window.padded.end,
            'classes': list(classes),
        }
        for place, (name, units) in enumerate(classes.items()):
            values[f'name{place}'], values[f'wanted{place}'] = name, units
        found = self._session.execute(statement, values)
        names = tuple(classes)
        return [_room(row, names) for row in found.all()]

    def has(self, match: Match) -> bool:
        """Whether any resource matches, whatever its size."""
        query = sa.select(RESOURCES.c.id).where(*search.conditions(match)).limit(1)
        return self._session.scalar(query) is not None

    def sizes(self, match: Match, demand: Mapping[str, int]) -> list[int]:
        """Return how often *demand* fits on each matching resource without allocations.

        :returns: in no particular order, without resources that are too small
        """
        classes = used_classes(demand)
        source: Any = RESOURCES
        columns: list[Any] = []
        for name in classes:
            has = INVENTORIES.alias()
            source = source.join(
                has, sa.and_(has.c.resource_id == RESOURCES.c.id, has.c.resource_class == name)
            )
            columns += [has.c.total - has.c.reserved, has.c.allocation_ratio]
        query = (
            sa.select(*columns)
            .select_from(source)
            .where(*search.conditions(match), *_holding(demand))
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
        large = sa.select(RESOURCES.c.id).where(*search.conditions(match), *_holding(demand))
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
            for name, units in used_classes(demand).items()
        ),
    ]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Shape:
    """What the statement of :meth:`Rooms.find` depends on, besides its parameters.

    :ivar classes: the number of resource classes
    :ivar changing: whether some reservations do not count
    """

    classes: int
    loaded: bool | None
    bookable: bool
    before: bool
    only: bool
    without: bool
    limited: bool
    changing: bool


@functools.lru_cache(maxsize=256)
def _constant(shape: _Shape) -> Any:
    """Return the statement without special conditions.

    Built once for each shape: building takes ten times as long as running.
    """
    return _built(shape, ())


def _built(shape: _Shape, special: Iterable[Any]) -> Any:
    hosts = _hosts(shape, special).cte('hosts')
    return _peaks(_levels(_steps(_uses(hosts, shape))), shape.classes)


def _hosts(shape: _Shape, special: Iterable[Any]) -> Any:
    conditions = [*search.OFFERED, *special, ~sa.exists(_whole(shape))]
    conditions += [search.offers(_name(place), _units(place)) for place in range(shape.classes)]
    conditions.append(RESOURCES.c.id >= sa.bindparam('first_id'))
    if shape.bookable:
        conditions += [*search.OPEN, occupancy.in_service(_PERIOD)]
    if shape.loaded is not None:
        used = _partly_used()
        conditions.append(used if shape.loaded else ~used)
    if shape.before:
        conditions.append(RESOURCES.c.id < sa.bindparam('before_id'))
    if shape.only:
        conditions.append(RESOURCES.c.id.in_(sa.bindparam('only', expanding=True)))
    if shape.without:
        conditions.append(RESOURCES.c.id.not_in(sa.bindparam('without', expanding=True)))
    query = sa.select(RESOURCES.c.id, RESOURCES.c.name, RESOURCES.c.generation)
    query = query.where(*conditions).order_by(RESOURCES.c.id)
    return query.limit(sa.bindparam('most', type_=sa.Integer())) if shape.limited else query


def _name(place: int) -> Any:
    return sa.bindparam(f'name{place}', type_=INVENTORIES.c.resource_class.type)


def _units(place: int) -> Any:
    return sa.bindparam(f'wanted{place}', type_=sa.BigInteger())


def _room(row: Any, classes: tuple[str, ...]) -> Room:
    resource_id, name, generation, *figures = row
    peaks = figures[2 * len(classes) :]
    capacity, left = {}, {}
    for place, resource_class in enumerate(classes):
        # Rounded down as domain.resources.Inventory does it.
        units = int(figures[2 * place] * figures[2 * place + 1])
        capacity[resource_class] = units
        left[resource_class] = units - int(peaks[place] or 0)
    return Room(
        resource_id=resource_id, name=name, generation=generation, capacity=capacity, left=left
    )


def _whole(shape: _Shape) -> Any:
    """Select allocations of whole resources, live or within the cleaning time."""
    query = sa.select(ALLOCATIONS.c.id).where(
        ALLOCATIONS.c.resource_id == RESOURCES.c.id,
        # Names both values of the column, so that the index leads to the period. A
        # released allocation has ended, so only the cleaning time can overlap it.
        ALLOCATIONS.c.live.in_((0, 1)),
        ALLOCATIONS.c.end_date > _PADDED.start,
        ALLOCATIONS.c.start_date < _PADDED.end,
        ALLOCATIONS.c.resource_class.is_(None),
        *_others(shape),
    )
    # No real limit; it makes engines look up one resource after the other.
    return query.limit(1).offset(0)


def _others(shape: _Shape) -> list[Any]:
    """Return the condition that an allocation counts; none if all do."""
    if not shape.changing:
        return []
    return [ALLOCATIONS.c.reservation_id.not_in(sa.bindparam('changing', expanding=True))]


def _partly_used() -> Any:
    query = sa.select(ALLOCATIONS.c.id).where(
        ALLOCATIONS.c.resource_id == RESOURCES.c.id,
        ALLOCATIONS.c.live == 1,
        ALLOCATIONS.c.end_date > _PERIOD.start,
        ALLOCATIONS.c.start_date < _PERIOD.end,
    )
    return sa.exists(query.limit(1).offset(0))


def _uses(hosts: Any, shape: _Shape) -> Any:
    """Select what other reservations have within the window; an empty row without any."""
    columns: list[Any] = list(hosts.c)
    source = hosts
    for place in range(shape.classes):
        has = INVENTORIES.alias(f'i{place}')
        of_it = sa.and_(has.c.resource_id == hosts.c.id, has.c.resource_class == _name(place))
        source = source.join(has, of_it)
        columns += [
            (has.c.total - has.c.reserved).label(f'units{place}'),
            has.c.allocation_ratio.label(f'ratio{place}'),
        ]
    mine = sa.and_(
        ALLOCATIONS.c.resource_id == hosts.c.id,
        ALLOCATIONS.c.live == 1,
        ALLOCATIONS.c.end_date > _PERIOD.start,
        ALLOCATIONS.c.start_date < _PERIOD.end,
        ALLOCATIONS.c.resource_class.in_(sa.bindparam('classes', expanding=True)),
        *_others(shape),
    )
    columns += [
        ALLOCATIONS.c.resource_class,
        ALLOCATIONS.c.start_date,
        ALLOCATIONS.c.end_date,
        ALLOCATIONS.c.amount,
    ]
    return sa.select(*columns).select_from(source.outerjoin(ALLOCATIONS, mine)).cte('uses')


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


def _peaks(levels: Any, classes: int) -> Any:
    rest = [item for item in levels.c if item.name not in ('resource_class', 'level')]
    peaks = [
        sa.func.max(sa.case((levels.c.resource_class == _name(place), levels.c.level))).label(
            f'peak{place}'
        )
        for place in range(classes)
    ]
    return sa.select(*rest, *peaks).group_by(*rest).order_by(levels.c.id)
