# SPDX-License-Identifier: Apache-2.0

"""The statement that finds double bookings in windows on resources."""

from __future__ import annotations

import functools
from typing import Any

import sqlalchemy as sa

from climate.db.engine.prepared import prepared
from climate.db.schema.tables import ALLOCATIONS
from climate.db.schema.tables import INVENTORIES
from climate.db.schema.tables import MAINTENANCES
from climate.db.schema.tables import RESOURCES

_INSTANT = ALLOCATIONS.c.start_date.type

_ZERO: Any = sa.literal_column('0')
_ONE: Any = sa.literal_column('1')


@functools.lru_cache(maxsize=256)
def statement(wholes: int, parts: int, *, alone: bool = False) -> Any:
    """Return the statement; see :func:`climate.db.booking.verification.violations`.

    Built once for each number of shapes, since building takes longer than running.

    :param wholes: how many shapes of whole resources there are, with
        parameters that begin with ``w0_``, ``w1_``…
    :param parts: how many shapes of parts there are: ``p0_``, ``p1_``…
    :param alone: whether each shape is of one resource, for one reservation: parameters of one
        value instead of lists, which SQLAlchemy writes into the statement each time
    """
    branches = [_whole(_Bind(f'w{number}', alone)) for number in range(wholes)]
    if parts:
        shapes = [_Bind(f'p{number}', alone) for number in range(parts)]
        branches.append(_peaks(shapes))
    joined: Any = branches[0] if len(branches) == 1 else sa.union_all(*branches)
    # There are too many texts with the amounts of several resources for few plans.
    return joined if parts else prepared(joined)


class _Bind:
    """The parameters of one shape.

    :param alone: see :func:`statement`
    """

    def __init__(self, prefix: str, alone: bool) -> None:
        self._alone = alone
        self._ids: Any = sa.bindparam(f'{prefix}_ids', expanding=not alone)
        self._own: Any = sa.bindparam('own', expanding=not alone)
        self.start = sa.bindparam(f'{prefix}_from', type_=_INSTANT)
        self.end = sa.bindparam(f'{prefix}_until', type_=_INSTANT)
        self.clear_from = sa.bindparam(f'{prefix}_clear_from', type_=_INSTANT)
        self.clear_until = sa.bindparam(f'{prefix}_clear_until', type_=_INSTANT)
        self.fresh = sa.bindparam(f'{prefix}_fresh', type_=sa.Integer())
        self.resource_class = sa.bindparam(
            f'{prefix}_class', type_=ALLOCATIONS.c.resource_class.type
        )

    def covered(self) -> Any:
        """Whether the window is on a resource."""
        column = RESOURCES.c.id
        return column == self._ids if self._alone else column.in_(self._ids)

    def of_others(self) -> Any:
        """Whether an allocation is not one of the reservations for which is booked."""
        column = ALLOCATIONS.c.reservation_id
        return column != self._own if self._alone else column.not_in(self._own)

    def shut(self) -> Any:
        """Whether nothing may be booked; extensions of allocations are restricted less."""
        closed = sa.or_(
            RESOURCES.c.reservable.is_(False),
            RESOURCES.c.disabled.is_(True),
            RESOURCES.c.failed_at.is_not(None),
        )
        return _flag(
            sa.or_(RESOURCES.c.deleted != _ZERO, sa.and_(self.fresh == _ONE, closed)), 'shut'
        )

    def away(self) -> Any:
        """Whether a maintenance overlaps the window."""
        query = sa.exists().where(
            MAINTENANCES.c.resource_id == RESOURCES.c.id,
            MAINTENANCES.c.end_date > self.start,
            MAINTENANCES.c.start_date < self.end,
        )
        return _flag(query, 'away')


def _flag(condition: Any, name: str) -> Any:
    return sa.case((condition, _ONE), else_=_ZERO).label(name)


def _whole(bind: _Bind) -> Any:
    of_it = ALLOCATIONS.c.resource_id == RESOURCES.c.id
    live = sa.select(sa.func.count()).where(
        of_it,
        ALLOCATIONS.c.live == _ONE,
        ALLOCATIONS.c.end_date > bind.clear_from,
        ALLOCATIONS.c.start_date < bind.clear_until,
    )
    # A released allocation has ended; only the cleaning time can overlap it.
    dirty = sa.exists().where(
        of_it,
        ALLOCATIONS.c.live == _ZERO,
        ALLOCATIONS.c.end_date > bind.clear_from,
        ALLOCATIONS.c.end_date <= bind.start,
        bind.of_others(),
    )
    window = (
        sa.select(
            RESOURCES.c.id,
            RESOURCES.c.name,
            sa.literal_column("''").label('resource_class'),
            bind.shut(),
            bind.away(),
            (live.scalar_subquery() - _ONE + _flag(dirty, 'dirty')).label('others'),
        )
        .where(bind.covered())
        .subquery()
    )
    return sa.select(window, _ZERO.label('peak')).where(
        sa.or_(window.c.shut == _ONE, window.c.away == _ONE, window.c.others > _ZERO)
    )


def _window(number: int, bind: _Bind) -> Any:
    """Select the resources of one shape, each with its inventory of the class."""
    supply = sa.and_(
        INVENTORIES.c.resource_id == RESOURCES.c.id,
        INVENTORIES.c.resource_class == bind.resource_class,
    )
    return (
        sa.select(
            # Two shapes may differ only in this.
            sa.literal_column(str(number)).label('number'),
            RESOURCES.c.id,
            RESOURCES.c.name,
            bind.resource_class.label('resource_class'),
            bind.shut(),
            bind.away(),
            bind.start.label('start_date'),
            bind.end.label('end_date'),
            bind.clear_from.label('clear_from'),
            bind.clear_until.label('clear_until'),
            (INVENTORIES.c.total - INVENTORIES.c.reserved).label('units'),
            INVENTORIES.c.allocation_ratio.label('ratio'),
        )
        .select_from(RESOURCES.outerjoin(INVENTORIES, supply))
        .where(bind.covered())
    )


def _uses(windows: Any, of_others: Any) -> Any:
    """Select partial allocations in a window, and whole ones in it or its cleaning time.

    Each window also has a use of nothing, so that it is reported without allocations. An
    outer join would do as well, but MariaDB reads all rows of a resource for it instead of
    looking at the periods in the index.
    """
    inside = sa.and_(
        ALLOCATIONS.c.resource_class == windows.c.resource_class,
        ALLOCATIONS.c.end_date > windows.c.start_date,
        ALLOCATIONS.c.start_date < windows.c.end_date,
        ALLOCATIONS.c.live == _ONE,
    )
    whole = sa.and_(
        ALLOCATIONS.c.resource_class.is_(None),
        sa.or_(ALLOCATIONS.c.live == _ONE, ALLOCATIONS.c.end_date <= windows.c.start_date),
        sa.or_(ALLOCATIONS.c.live == _ONE, of_others),
    )
    of_it = sa.and_(
        ALLOCATIONS.c.resource_id == windows.c.id,
        # Names both values of the column, so that the index leads to the period.
        ALLOCATIONS.c.live.in_([_ZERO, _ONE]),
        ALLOCATIONS.c.end_date > windows.c.clear_from,
        ALLOCATIONS.c.start_date < windows.c.clear_until,
        sa.or_(inside, whole),
    )
    dates = ('clear_from', 'clear_until', 'start_date', 'end_date')
    rest: list[Any] = [item for item in windows.c if item.name not in dates]
    uses = sa.select(
        *rest,
        ALLOCATIONS.c.start_date,
        ALLOCATIONS.c.end_date,
        sa.case((inside, ALLOCATIONS.c.amount), else_=_ZERO).label('amount'),
        _flag(whole, 'others'),
    ).select_from(windows.join(ALLOCATIONS, of_it))
    nothing = sa.select(
        *rest,
        windows.c.start_date,
        windows.c.end_date,
        _ZERO.label('amount'),
        _ZERO.label('others'),
    )
    return sa.union_all(uses, nothing).cte('uses')


def _peaks(shapes: list[_Bind]) -> Any:
    windows = [_window(number, bind) for number, bind in enumerate(shapes)]
    every: Any = windows[0] if len(windows) == 1 else sa.union_all(*windows)
    levels = _levels(_steps(_uses(every.cte('windows'), shapes[0].of_others())))
    others, peak = sa.func.max(levels.c.others), sa.func.max(levels.c.level)
    named = levels.c
    key = [named[name] for name in _KEY]
    return (
        sa.select(
            *(named.id, named.name, named.resource_class, named.shut, named.away),
            others.label('others'),
            peak.label('peak'),
        )
        .group_by(*key)
        .having(
            sa.or_(
                named.shut == _ONE,
                named.away == _ONE,
                others == _ONE,
                # As in domain.resources.Inventory: a class without an inventory has no
                # capacity. An amount exceeds the rounded capacity exactly if it
                # exceeds the unrounded one.
                sa.and_(peak > _ZERO, named.units.is_(None)),
                peak > named.units * named.ratio,
            )
        )
    )


_KEY = ('number', 'id', 'name', 'resource_class', 'shut', 'away', 'units', 'ratio')


def _steps(uses: Any) -> Any:
    """Select each use twice: at its start and at its end."""
    signs: Any = sa.union_all(
        sa.select(sa.literal_column('1').label('sign')), sa.select(sa.literal_column('-1'))
    ).subquery('signs')
    at = sa.case((signs.c.sign == _ONE, uses.c.start_date), else_=uses.c.end_date)
    kept = [item for item in uses.c if item.name not in ('start_date', 'end_date', 'amount')]
    return (
        sa.select(*kept, at.label('at'), (signs.c.sign * uses.c.amount).label('delta'))
        .select_from(uses.join(signs, sa.true()))
        .cte('steps')
    )


def _levels(steps: Any) -> Any:
    """Select how much is in use after each step."""
    # At the same instant, ends come first because their steps are negative.
    level = sa.func.sum(steps.c.delta).over(
        partition_by=[steps.c.number, steps.c.id, steps.c.resource_class],
        order_by=[steps.c.at, steps.c.delta],
    )
    kept = [steps.c[name] for name in (*_KEY, 'others')]
    return sa.select(*kept, level.label('level')).cte('levels')
