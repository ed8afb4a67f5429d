# SPDX-License-Identifier: Apache-2.0

"""Conditions and expressions over what is booked of a resource.

Each subquery on allocations is part of a SELECT of resources and reads one resource, by
the index ``ix_allocations_live`` alone: its present and future allocations, never its
history.

The bounds of periods are instants, or parameters of a statement.
"""

from __future__ import annotations

import dataclasses
from typing import Any
from typing import Final

import sqlalchemy as sa

from climate.db.schema.tables import ALLOCATIONS
from climate.db.schema.tables import MAINTENANCES
from climate.db.schema.tables import RESOURCES

# A driver takes longer to send a parameter than the digit itself.
ZERO: Final[Any] = sa.literal_column('0')
"""The number 0 in the text of a statement."""
ONE: Final[Any] = sa.literal_column('1')
"""The number 1 in the text of a statement."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PeriodParameters:
    """A period whose bounds are parameters of a statement; used like a ``Period``."""

    start: sa.BindParameter[Any]
    end: sa.BindParameter[Any]


def instant(name: str) -> sa.BindParameter[Any]:
    """Return a parameter of a statement that is an instant."""
    return sa.bindparam(name, type_=ALLOCATIONS.c.end_date.type)


def in_service(period: Any) -> Any:
    """Return the condition that no maintenance of a resource overlaps *period*.

    ::

        NOT EXISTS (SELECT 1 FROM maintenances m WHERE m.resource_id = r.id
                    AND m.end_date > :start AND m.start_date < :end)
    """
    return ~sa.exists().where(
        MAINTENANCES.c.resource_id == RESOURCES.c.id,
        MAINTENANCES.c.end_date > period.start,
        MAINTENANCES.c.start_date < period.end,
    )


def is_busy(period: Any) -> Any:
    """Return the condition that the resource is allocated within *period*.

    ::

        EXISTS (SELECT 1 FROM allocations a
                WHERE a.resource_id = r.id AND a.live = 1
                  AND a.end_date > :start AND a.start_date < :end LIMIT 1 OFFSET 0)
    """
    return sa.exists(
        sa.select(ALLOCATIONS.c.id)
        .where(*_overlapping(period))
        # No real limit; it makes PostgreSQL and MariaDB look up one resource after
        # the other. Without it they look up all of them first, even where the first few
        # are enough.
        .limit(ONE)
        .offset(ZERO)
    )


def was_busy(period: Any) -> Any:
    """Return the condition that the resource was released within *period*, in the past."""
    return sa.func.coalesce(_last_release(), period.start) > period.start


def last_end(instant: Any, now: Any) -> Any:
    """Return the end of the last allocation before *instant*; NULL if before now."""
    return (
        sa.select(ALLOCATIONS.c.end_date)
        .where(
            ALLOCATIONS.c.resource_id == RESOURCES.c.id,
            ALLOCATIONS.c.live == ONE,
            ALLOCATIONS.c.end_date >= now,
            ALLOCATIONS.c.end_date <= instant,
        )
        .order_by(ALLOCATIONS.c.end_date.desc())
        .limit(ONE)
        .scalar_subquery()
    )


def first_start(instant: Any) -> Any:
    """Return the start of the first allocation after *instant*; NULL if there is none.

    Only for resources that are free until then. The first of whole resources to end is the
    first to start; parts may overlap, and the start of the one that ends first is near
    enough to rank the gaps between bookings.
    """
    return (
        sa.select(ALLOCATIONS.c.start_date)
        .where(
            ALLOCATIONS.c.resource_id == RESOURCES.c.id,
            ALLOCATIONS.c.live == ONE,
            ALLOCATIONS.c.end_date > instant,
        )
        .order_by(ALLOCATIONS.c.end_date)
        .limit(ONE)
        .scalar_subquery()
    )


def _overlapping(period: Any) -> list[Any]:
    return [
        ALLOCATIONS.c.resource_id == RESOURCES.c.id,
        ALLOCATIONS.c.live == ONE,
        ALLOCATIONS.c.end_date > period.start,
        ALLOCATIONS.c.start_date < period.end,
    ]


def _last_release() -> Any:
    """Return the expression for the last release of the resource.

    Released allocations have ended by now, so they can only overlap a period that the
    cleaning time extends into the past. There they must count.
    """
    return (
        sa.select(ALLOCATIONS.c.end_date)
        .where(ALLOCATIONS.c.resource_id == RESOURCES.c.id, ALLOCATIONS.c.live == ZERO)
        .order_by(ALLOCATIONS.c.end_date.desc())
        .limit(ONE)
        .scalar_subquery()
    )
