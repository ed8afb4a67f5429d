# SPDX-License-Identifier: Apache-2.0

"""The statements that read resources and their bookings for timelines.

They are built once: to build one takes longer than to run it.
"""

from __future__ import annotations

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


def _quotient(size: int) -> sa.ColumnElement[int]:
    """Return the quotient of the id of a resource by a power of two.

    MariaDB has no division of integers in the SQL that SQLAlchemy writes: a shift makes
    the sums of 10,000 resources a fifth faster than a division of decimals.
    """
    return RESOURCES.c.id.bitwise_rshift(sa.literal(size.bit_length() - 1, sa.Integer))


_BLOCK = _quotient(SIZE)
_OF_TYPE = (RESOURCES.c.resource_type == sa.bindparam('resource_type'), RESOURCES.c.deleted == 0)
# New ids are greater than all earlier ones. Resources that have the same number, and ids with
# the same sum, are therefore the same; this is added for each, to count them.
ONE: Final = 1 << 40
_COUNTED = sa.func.sum(RESOURCES.c.id) + sa.func.count() * sa.literal(ONE, sa.BigInteger)
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
# As the driver returns them, which numpy converts at once: converting each of a million
# instants would take longer than reading them.
_RAW = sa.types.NullType()

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


RETURNED: Final = -1
"""Stands for the amount of what was released."""
OUT: Final = 0
"""Stands for the amount of a maintenance."""

_BOOKED = sa.select(
    ALLOCATIONS.c.resource_id,
    ALLOCATIONS.c.resource_class,
    ALLOCATIONS.c.amount,
    sa.type_coerce(ALLOCATIONS.c.start_date, _RAW),
    sa.type_coerce(ALLOCATIONS.c.end_date, _RAW),
).where(ALLOCATIONS.c.live == 1)
# The end of any, and of those of the whole resource.
_RETURNED = (
    sa.select(
        ALLOCATIONS.c.resource_id,
        sa.null(),
        sa.literal_column(str(RETURNED)),
        sa.type_coerce(sa.func.max(ALLOCATIONS.c.end_date), _RAW),
        sa.type_coerce(
            sa.func.max(sa.case((ALLOCATIONS.c.resource_class.is_(None), ALLOCATIONS.c.end_date))),
            _RAW,
        ),
    )
    .where(ALLOCATIONS.c.live == 0, ALLOCATIONS.c.end_date > sa.bindparam('since'))
    .group_by(ALLOCATIONS.c.resource_id)
)
_OUT = sa.select(
    MAINTENANCES.c.resource_id,
    sa.null(),
    sa.literal_column(str(OUT)),
    sa.type_coerce(MAINTENANCES.c.start_date, _RAW),
    sa.type_coerce(MAINTENANCES.c.end_date, _RAW),
)
_PROPERTIES = sa.select(
    PROPERTIES.c.resource_id,
    PROPERTIES.c.kind,
    PROPERTIES.c.name,
    PROPERTIES.c.value,
    PROPERTIES.c.number,
    *(sa.null().label(column.name) for column in INVENTORIES.c if column.name != 'resource_id'),
)
_INVENTORIES = sa.select(
    INVENTORIES.c.resource_id,
    *(sa.null() for _ in range(4)),
    *(column for column in INVENTORIES.c if column.name != 'resource_id'),
)

RESOURCE_ROWS: Final = ScopedQuery((_RESOURCES, RESOURCES.c.id))
GENERATIONS: Final = ScopedQuery((_ALL_GENERATIONS, RESOURCES.c.id))
PERIODS: Final = ScopedQuery(
    (_BOOKED, ALLOCATIONS.c.resource_id),
    (_RETURNED, ALLOCATIONS.c.resource_id),
    (_OUT, MAINTENANCES.c.resource_id),
)
"""Resource, class, amount, start and end of each allocation and maintenance."""
OMITTED: Final = ScopedQuery(
    (_BOOKED.where(ALLOCATIONS.c.start_date > sa.bindparam('since')), ALLOCATIONS.c.resource_id)
)
"""Likewise of allocations that start after an instant."""
STOCK: Final = ScopedQuery(
    (_PROPERTIES, PROPERTIES.c.resource_id), (_INVENTORIES, INVENTORIES.c.resource_id)
)
"""Properties, and inventories with None for the kind of property."""
