# SPDX-License-Identifier: Apache-2.0

"""The statements that read resources and their bookings for timelines.

They are built once: to build one takes longer than to run it.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from collections.abc import Sequence
from typing import Any
from typing import Final

import sqlalchemy as sa

from climate.allocation.blocks import SIZE
from climate.db.schema.tables import ALLOCATIONS
from climate.db.schema.tables import INVENTORIES
from climate.db.schema.tables import MAINTENANCES
from climate.db.schema.tables import PROPERTIES
from climate.db.schema.tables import RESOURCES
from climate.db.timelines import packed


def _quotient(size: int) -> sa.ColumnElement[int]:
    """Return the quotient of the id of a resource by a power of two.

    MariaDB has no division of integers in the SQL that SQLAlchemy writes: a shift makes
    the sums of 10,000 resources a fifth faster than a division of decimals.
    """
    return RESOURCES.c.id.bitwise_rshift(sa.literal_column(str(size.bit_length() - 1), sa.Integer))


_BLOCK = _quotient(SIZE)
_OF_TYPE = (
    RESOURCES.c.resource_type == sa.bindparam('resource_type'),
    RESOURCES.c.deleted == sa.literal_column('0'),
)
# New ids are greater than all earlier ones. Resources that have the same number, and ids with
# the same sum, are therefore the same; this is added for each, to count them.
ONE: Final = 1 << 40
_COUNTED = sa.func.sum(RESOURCES.c.id) + sa.func.count() * sa.literal_column(
    str(ONE), sa.BigInteger
)
SUMS = (
    sa.select(_BLOCK, _COUNTED, sa.func.sum(RESOURCES.c.generation))
    .where(*_OF_TYPE)
    .group_by(_BLOCK)
)
_IDS: sa.BindParameter[Any] = sa.bindparam('ids', expanding=True)
_FIRST: sa.BindParameter[Any] = sa.bindparam('first')
_LAST: sa.BindParameter[Any] = sa.bindparam('last')
# A part of a block, in which a changed resource is found by reading a few.
PART: Final = 16
_PLACE = _quotient(PART)
_PARTS = sa.select(_PLACE, sa.func.sum(RESOURCES.c.generation)).where(*_OF_TYPE).group_by(_PLACE)
PARTS_OF_ONE = _PARTS.where(RESOURCES.c.id.between(_FIRST, _LAST))
# Reads all resources, which takes less time than a statement for each block.
PARTS_OF_MANY = _PARTS.where(_BLOCK.in_(sa.bindparam('numbers', expanding=True)))
_ALL_GENERATIONS = sa.select(RESOURCES.c.id, RESOURCES.c.generation).where(*_OF_TYPE)
_RESOURCES = (
    sa.select(
        RESOURCES.c.id,
        RESOURCES.c.name,
        RESOURCES.c.generation,
        RESOURCES.c.reservable,
        RESOURCES.c.disabled,
        RESOURCES.c.failed_at,
    )
    .where(*_OF_TYPE)
    .order_by(RESOURCES.c.id)
)
Scope = range | list[int]
"""Some resources, or all in a range of ids."""

Branch = tuple[sa.Select[Any], sa.ColumnElement[Any]]


class ScopedQuery:
    """A query, or several with the same columns, of the resources in a scope.

    :param branches: each with its column of ids
    """

    def __init__(self, *branches: Branch) -> None:
        self._some = _joined([query.where(column.in_(_IDS)) for query, column in branches])
        self._all = _joined(
            [query.where(column.between(_FIRST, _LAST)) for query, column in branches]
        )

    def rows(self, session: sa.Connection, scope: Scope, **parameters: Any) -> Sequence[Any]:
        """Return the rows of the resources in *scope*."""
        if isinstance(scope, range):
            limits = {'first': scope[0], 'last': scope[-1]}
            return session.execute(self._all, {**parameters, **limits}).all()
        return session.execute(self._some, {**parameters, 'ids': scope}).all()


def _joined(queries: Sequence[sa.Select[Any]]) -> Any:
    return queries[0] if len(queries) == 1 else sa.union_all(*queries)


class PeriodKind(enum.IntEnum):
    """What a row says of a resource and a class."""

    BOOKED = 1
    """How many live allocations there are, and their periods."""
    OUT = 2
    """How many maintenances there are, and their periods."""
    RETURNED = 3
    """When the last of the released allocations has ended, in microseconds since 1970."""


def _of_kind(kind: PeriodKind) -> sa.ColumnElement[int]:
    return sa.literal_column(str(int(kind)), sa.Integer)


# Into so many texts the periods of a resource are divided if one is too long: by their starts, so
# a prime number, which divides neither minutes nor days.
_TEXTS: Final = 61


def _periods(
    kind: PeriodKind, table: sa.Table, name: Any, amount: Any, *, divided: bool
) -> sa.Select[Any]:
    """Return a query of the periods in a table.

    :param name: the resource class
    :param divided: several rows for a resource and a class
    """
    of = table.c
    text = packed.periods(amount, of.start_date, of.end_date)
    query = sa.select(_of_kind(kind), of.resource_id, name, sa.func.count(), text)
    query = query.group_by(of.resource_id)
    if not divided:
        return query
    number = sa.literal_column(str(_TEXTS), sa.Integer)
    return query.group_by(packed.Microseconds(of.start_date) % number)


def _booked(*where: sa.ColumnElement[bool], divided: bool) -> Branch:
    of, kind = ALLOCATIONS.c, PeriodKind.BOOKED
    found = _periods(kind, ALLOCATIONS, of.resource_class, of.amount, divided=divided)
    return found.where(of.live == 1, *where).group_by(of.resource_class), of.resource_id


def _out(*, divided: bool) -> Branch:
    one = sa.literal_column('1', sa.Integer)
    found = _periods(PeriodKind.OUT, MAINTENANCES, sa.null(), one, divided=divided)
    return found, MAINTENANCES.c.resource_id


_RETURNED = (
    sa.select(
        _of_kind(PeriodKind.RETURNED),
        ALLOCATIONS.c.resource_id,
        ALLOCATIONS.c.resource_class,
        packed.Microseconds(sa.func.max(ALLOCATIONS.c.end_date)),
        sa.null(),
    )
    .where(ALLOCATIONS.c.live == 0, ALLOCATIONS.c.end_date > sa.bindparam('since'))
    .group_by(ALLOCATIONS.c.resource_id, ALLOCATIONS.c.resource_class)
)
_LONG: Final = 255


def _ids(table: sa.Table) -> Any:
    """Return the ids of the resources of a group of rows, as one text."""
    return sa.func.aggregate_strings(sa.cast(table.c.resource_id, sa.String), ',')


_PROPERTY = [PROPERTIES.c[name] for name in ('kind', 'name', 'value', 'number')]
_INVENTORY = [column for column in INVENTORIES.c if column.name not in ('id', 'resource_id')]
_PROPERTIES = sa.select(
    _ids(PROPERTIES).label('ids'),
    *_PROPERTY,
    *(sa.null().label(column.name) for column in _INVENTORY),
).group_by(
    *_PROPERTY,
    # MariaDB compares only the beginnings of long values.
    sa.case((sa.func.length(PROPERTIES.c.value) > _LONG, PROPERTIES.c.resource_id)),
)
_INVENTORIES = sa.select(_ids(INVENTORIES), *(sa.null() for _ in _PROPERTY), *_INVENTORY).group_by(
    *_INVENTORY
)

RESOURCE_ROWS: Final = ScopedQuery((_RESOURCES, RESOURCES.c.id))
GENERATIONS: Final = ScopedQuery((_ALL_GENERATIONS, RESOURCES.c.id))


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PeriodQuery:
    """A query of periods: kind, resource, class, a number and the text, see :class:`PeriodKind`.

    :ivar whole: with a row for all periods of a resource and a class
    :ivar divided: with several, which takes longer
    """

    whole: ScopedQuery
    divided: ScopedQuery

    @classmethod
    def of(cls, query: Callable[[bool], ScopedQuery]) -> PeriodQuery:
        """Return a query.

        :param query: makes it, from whether it is divided
        """
        return cls(whole=query(False), divided=query(True))


PERIODS: Final = PeriodQuery.of(
    lambda divided: ScopedQuery(
        _booked(divided=divided), (_RETURNED, ALLOCATIONS.c.resource_id), _out(divided=divided)
    )
)
"""All periods that count."""
OMITTED: Final = PeriodQuery.of(
    lambda divided: ScopedQuery(
        _booked(ALLOCATIONS.c.start_date > sa.bindparam('since'), divided=divided)
    )
)
"""Those of live allocations that start after an instant."""
STOCK: Final = ScopedQuery(
    (_PROPERTIES, PROPERTIES.c.resource_id), (_INVENTORIES, INVENTORIES.c.resource_id)
)
"""Properties, and inventories with None for the kind of property, with the ids of their resources.

Most resources have the same ones: to read a row for each takes longer than all bookings.
"""
