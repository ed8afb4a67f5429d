# SPDX-License-Identifier: Apache-2.0

"""Has the database rank free resources, and leave out the worse ones."""

from __future__ import annotations

from typing import Any
from typing import Final

import sqlalchemy as sa

from climate.db.resources import properties
from climate.db.schema.tables import PROPERTIES
from climate.db.search.occupancy import ONE
from climate.db.search.occupancy import PeriodParameters
from climate.db.search.occupancy import ZERO

LEAD_TIME: Final = sa.select(sa.func.max(PROPERTIES.c.number)).where(
    PROPERTIES.c.name == sa.literal_column(f"'{properties.LEAD_TIME}'"),
    PROPERTIES.c.kind == sa.literal_column(f"'{properties.CAPABILITY}'"),
)
"""The statement for the longest lead time, which lacks the condition on the resources."""


def best(free: sa.Select[Any], period: PeriodParameters, dialect: str) -> sa.Select[Any]:
    """Return the statement for the best of some resources, how many there are, and lead times.

    :param free: selects free resources, with ``busy_until`` and ``busy_from``
    :param period: in which they are free
    """
    found = free.subquery('found')
    before, after = found.c.busy_until, found.c.busy_from
    unbounded = sa.case((before.is_(None), ONE), else_=ZERO) + sa.case(
        (after.is_(None), ONE), else_=ZERO
    )
    # Longer than the bounded holes by the period itself, for each resource.
    whole = (sa.func.coalesce(before, period.start), sa.func.coalesce(after, period.end))
    ranked = (
        sa.select(*found.c, sa.func.count().over().label('sampled'))
        .order_by(unbounded, _length(dialect, *whole), found.c.id)
        .limit(sa.bindparam('best', type_=sa.Integer()))
        .subquery('best')
    )
    # Outside, because SQLite and MariaDB would look it up for all that they sort.
    lead_time = LEAD_TIME.where(PROPERTIES.c.resource_id == ranked.c.id).scalar_subquery()
    return sa.select(*ranked.c, lead_time.label('lead_time'))


def _length(dialect: str, start: Any, end: Any) -> Any:
    if dialect == 'postgresql':
        return end.op('-')(start)
    if dialect == 'sqlite':
        return sa.func.julianday(end) - sa.func.julianday(start)
    return sa.func.timestampdiff(sa.text('MICROSECOND'), start, end)
