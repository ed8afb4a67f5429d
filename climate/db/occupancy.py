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
"""Who is in the way of a period on a resource: subqueries of a SELECT of resources.

Each of them looks at one resource, by ``ix_allocations_live`` alone, and reads
what the resource still has to do, never its history.
"""

from __future__ import annotations

import datetime
from typing import Any

import sqlalchemy as sa

from climate.db import models
from climate.domain.periods import Period

_resources = models.Base.metadata.tables['resources']
_table = models.Base.metadata.tables['allocations']


def in_the_way(period: Period, now: datetime.datetime) -> Any:
    """Whether somebody has, or had, the resource within *period*.

    ::

        EXISTS (SELECT 1 FROM allocations a
                WHERE a.resource_id = r.id AND a.live = 1
                  AND a.end_date > :start AND a.start_date < :end LIMIT 1 OFFSET 0)
    """
    live = sa.exists(
        sa.select(_table.c.id)
        .where(*_overlapping(period))
        # It limits nothing, but has PostgreSQL and MariaDB look for each
        # resource when its turn comes. Without it they look at all of them
        # first, also where the first few are enough.
        .limit(1)
        .offset(0)
    )
    if period.start >= now:
        return live
    return sa.or_(live, sa.func.coalesce(_given_back(), period.start) > period.start)


def blocker_end(period: Period, now: datetime.datetime) -> Any:
    """When the first allocation in the way ends; NULL if there is none."""
    live = (
        sa.select(_table.c.end_date)
        .where(*_overlapping(period))
        .order_by(_table.c.end_date)
        .limit(1)
        .scalar_subquery()
    )
    if period.start >= now:
        return live
    return sa.case((_given_back() > period.start, _given_back()), else_=live)


def last_end(instant: datetime.datetime, now: datetime.datetime) -> Any:
    """When the last allocation before *instant* ends; NULL if that was before now."""
    return (
        sa.select(_table.c.end_date)
        .where(
            _table.c.resource_id == _resources.c.id,
            _table.c.live == 1,
            _table.c.end_date >= now,
            _table.c.end_date <= instant,
        )
        .order_by(_table.c.end_date.desc())
        .limit(1)
        .scalar_subquery()
    )


def first_start(instant: datetime.datetime) -> Any:
    """When the first allocation after *instant* starts; NULL if there is none.

    Only for resources that are free until then: of these the first to end is
    the first to start.
    """
    return (
        sa.select(_table.c.start_date)
        .where(
            _table.c.resource_id == _resources.c.id,
            _table.c.live == 1,
            _table.c.end_date > instant,
        )
        .order_by(_table.c.end_date)
        .limit(1)
        .scalar_subquery()
    )


def _overlapping(period: Period) -> list[Any]:
    return [
        _table.c.resource_id == _resources.c.id,
        _table.c.live == 1,
        _table.c.end_date > period.start,
        _table.c.start_date < period.end,
    ]


def _given_back() -> Any:
    """When the resource was given back last.

    What was given back ended then at the latest, so it can only be in the way
    of a period that was padded with the time for cleaning, and then it must be.
    """
    return (
        sa.select(_table.c.end_date)
        .where(_table.c.resource_id == _resources.c.id, _table.c.live == 0)
        .order_by(_table.c.end_date.desc())
        .limit(1)
        .scalar_subquery()
    )
