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

"""Queries for resources that match, and for those of them that are free as a whole.

Each subquery on allocations is part of a SELECT of resources and reads one resource, by
the index ``ix_allocations_live`` alone: its present and future allocations, never its
history.
"""

from __future__ import annotations

import dataclasses
import datetime
import math
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from climate.allocation.requirements import Requirement
from climate.db import requirements
from climate.db.properties import CAPABILITY
from climate.db.properties import LEAD_TIME
from climate.db.repository import Repository
from climate.db.tables import ALLOCATIONS
from climate.db.tables import INVENTORIES
from climate.db.tables import MAINTENANCES
from climate.db.tables import PROPERTIES
from climate.db.tables import RESOURCES
from climate.domain.periods import Period
from climate.domain.resources import Candidate

# Built once, see leases.py.
_LEAD_TIME = sa.select(sa.func.max(PROPERTIES.c.number)).where(
    PROPERTIES.c.resource_id.in_(sa.bindparam('ids', expanding=True)),
    PROPERTIES.c.name == LEAD_TIME,
    PROPERTIES.c.kind == CAPABILITY,
)
# A year, in seconds; operators can set any number.
_LONGEST = 366 * 86400
_NOTHING: Mapping[str, int] = {}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """The conditions on a resource that do not depend on its allocations.

    :ivar required_traits: the resource must have all of these
    :ivar forbidden_traits: the resource must have none of these
    :ivar names: the resource must have one of these names; None for any
    :ivar private: whether the requirement may compare private properties
    """

    resource_type: str
    requirement: Requirement | None = None
    required_traits: Collection[str] = ()
    forbidden_traits: Collection[str] = ()
    names: Collection[str] | None = None
    private: bool = False

    def conditions(self, *, bookable: bool = True) -> list[Any]:
        """Return the conditions on a row of ``resources``.

        :param bookable: only resources that are open to new bookings
        """
        found: list[Any] = [
            RESOURCES.c.resource_type == self.resource_type,
            RESOURCES.c.deleted == 0,
        ]
        if bookable:
            found += [
                RESOURCES.c.reservable.is_(True),
                RESOURCES.c.disabled.is_(False),
                RESOURCES.c.failed_at.is_(None),
            ]
        if self.requirement is not None:
            found.append(requirements.condition(self.requirement, private=self.private))
        found += [_has_trait(name) for name in sorted(self.required_traits)]
        found += [sa.not_(_has_trait(name)) for name in sorted(self.forbidden_traits)]
        if self.names is not None:
            found.append(RESOURCES.c.name.in_(self.names))
        return found


class ResourceSearch(Repository):
    """The search for resources that are free as a whole."""

    def free(
        self,
        match: Match,
        period: Period,
        *,
        except_ids: Collection[int] = (),
        only_ids: Collection[int] | None = None,
        first_id: int = 0,
        before_id: int | None = None,
        limit: int,
    ) -> list[Candidate]:
        """Return resources that match and are free for the whole *period*.

        One statement, for any number of resources and allocations::

            SELECT r.id, r.name, r.generation,
                   (SELECT end_date … before the period), (SELECT start_date … after it)
            FROM resources r
            WHERE r.resource_type = :type AND … AND r.id >= :first_id AND r.id < :before_id
              AND NOT EXISTS (SELECT 1 FROM allocations a
                              WHERE a.resource_id = r.id AND a.live = 1
                                AND a.end_date > :start AND a.start_date < :end)
            ORDER BY r.id LIMIT :limit

        :param first_id: where to begin, so that concurrent searches do not all choose
            among the same few
        :param before_id: stop before this id; None for no end
        """
        query = self._free(match, period, only_ids).where(RESOURCES.c.id >= first_id)
        if except_ids:
            query = query.where(RESOURCES.c.id.not_in(except_ids))
        if before_id is not None:
            query = query.where(RESOURCES.c.id < before_id)
        return _candidates(self._session.execute(query.limit(limit)).all())

    def sample(
        self,
        match: Match,
        period: Period,
        *,
        only_ids: Collection[int] | None,
        first_id: int,
        limit: int,
    ) -> list[Candidate]:
        """Return free resources like :meth:`free`, from *first_id* on, wrapping around.

        :param first_id: where the sample begins
        """
        query = self._free(match, period, only_ids)
        found = self._session.execute(query.where(RESOURCES.c.id >= first_id).limit(limit)).all()
        if len(found) < limit:
            # The list ended first: continue at its beginning.
            rest = query.where(RESOURCES.c.id < first_id).limit(limit - len(found))
            found = [*found, *self._session.execute(rest)]
        return _candidates(found)

    def _free(
        self, match: Match, period: Period, only_ids: Collection[int] | None
    ) -> sa.Select[Any]:
        query = (
            sa.select(
                RESOURCES.c.id,
                RESOURCES.c.name,
                RESOURCES.c.generation,
                _last_end(period.start, self._now),
                _first_start(period.end),
            )
            .where(*match.conditions(), in_service(period), sa.not_(_is_busy(period, self._now)))
            .order_by(RESOURCES.c.id)
        )
        return query if only_ids is None else query.where(RESOURCES.c.id.in_(only_ids))

    def pivot(self, resource_type: str, share: float) -> int:
        """Return the id that lies *share* (0 to 1) of the way through the type's ids."""
        query = sa.select(sa.func.min(RESOURCES.c.id), sa.func.max(RESOURCES.c.id)).where(
            RESOURCES.c.resource_type == resource_type,
            RESOURCES.c.deleted == 0,
            RESOURCES.c.reservable.is_(True),
            RESOURCES.c.disabled.is_(False),
        )
        low, high = self._session.execute(query).one()
        return 0 if low is None else low + int((high - low + 1) * share)

    def ids(self, match: Match) -> list[int]:
        """Return the ids of all resources that match, whatever they are booked for."""
        return list(self._session.scalars(sa.select(RESOURCES.c.id).where(*match.conditions())))

    def matching(
        self,
        match: Match,
        ids: Collection[int],
        *,
        demand: Mapping[str, int] = _NOTHING,
        bookable: bool = False,
    ) -> set[int]:
        """Return those of the *ids* that match, booked or not.

        :param demand: units by resource class that each must allow in one allocation
        :param bookable: only resources that are open to new bookings
        """
        query = sa.select(RESOURCES.c.id).where(
            *match.conditions(bookable=bookable),
            *offering(demand),
            RESOURCES.c.id.in_(ids),
        )
        return set(self._session.scalars(query))

    def reasons(self, match: Match, period: Period) -> tuple[int, int, datetime.datetime | None]:
        """Explain a refusal.

        ::

            SELECT count(*), count(ends), min(ends)
            FROM (SELECT (SELECT end_date FROM allocations a
                          WHERE a.resource_id = r.id AND … ORDER BY end_date LIMIT 1) AS ends
                  FROM resources r WHERE r.resource_type = :type AND …)

        :returns: how many resources match, how many of them are free for the
            whole period, and when the first allocation in the way ends
        """
        ends = (
            sa.select(_blocker_end(period, self._now).label('ends'))
            .where(*match.conditions(), in_service(period))
            .subquery()
        )
        matched, busy, first = self._session.execute(
            sa.select(
                sa.func.count(), sa.func.count(ends.c.ends), sa.func.min(ends.c.ends)
            ).select_from(ends)
        ).one()
        return int(matched), int(matched - busy), first

    def lead_time(self, resource_ids: Collection[int]) -> int | None:
        """Return how long the slowest of the resources needs to get ready, in seconds.

        ::

            SELECT max(number) FROM properties
            WHERE resource_id IN (…) AND name = 'lead_time' AND kind = 'capability'

        :returns: None if none of them has the capability
        """
        if not resource_ids:
            return None
        longest = self._session.scalar(_LEAD_TIME, {'ids': list(resource_ids)})
        return None if longest is None or longest <= 0 else math.ceil(min(longest, _LONGEST))


def _candidates(found: Sequence[Any]) -> list[Candidate]:
    return [
        Candidate(
            resource_id=row[0],
            name=row[1],
            generation=row[2],
            busy_until=row[3],
            busy_from=row[4],
        )
        for row in found
    ]


def in_service(period: Period) -> Any:
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


def offering(demand: Mapping[str, int]) -> list[Any]:
    """Return the conditions that a free resource allows *demand* in one allocation."""
    return [_offers(name, units) for name, units in used_classes(demand).items()]


def used_classes(demand: Mapping[str, int]) -> dict[str, int]:
    """Return the classes of *demand* with more than 0 units, sorted by name."""
    return {name: demand[name] for name in sorted(demand) if demand[name] > 0}


def _offers(name: str, units: int) -> Any:
    query = sa.select(INVENTORIES.c.id).where(
        INVENTORIES.c.resource_id == RESOURCES.c.id,
        INVENTORIES.c.resource_class == name,
        INVENTORIES.c.min_unit <= units,
        INVENTORIES.c.max_unit >= units,
        sa.literal(units) % INVENTORIES.c.step_size == 0,
    )
    # No real limit; it makes PostgreSQL look up one resource after the other. It would
    # otherwise begin with all inventories.
    return sa.exists(query.limit(1).offset(0))


def _has_trait(name: str) -> Any:
    return sa.exists().where(
        PROPERTIES.c.resource_id == RESOURCES.c.id,
        PROPERTIES.c.name == name,
        PROPERTIES.c.kind == 'trait',
    )


def _is_busy(period: Period, now: datetime.datetime) -> Any:
    """Return the condition that the resource is, or was, allocated within *period*.

    ::

        EXISTS (SELECT 1 FROM allocations a
                WHERE a.resource_id = r.id AND a.live = 1
                  AND a.end_date > :start AND a.start_date < :end LIMIT 1 OFFSET 0)
    """
    live = sa.exists(
        sa.select(ALLOCATIONS.c.id)
        .where(*_overlapping(period))
        # No real limit; it makes PostgreSQL and MariaDB look up one resource after
        # the other. Without it they look up all of them first, even where the first few
        # are enough.
        .limit(1)
        .offset(0)
    )
    if period.start >= now:
        return live
    return sa.or_(live, sa.func.coalesce(_last_release(), period.start) > period.start)


def _blocker_end(period: Period, now: datetime.datetime) -> Any:
    """Return the expression for the end of the first allocation in the way, or NULL."""
    live = (
        sa.select(ALLOCATIONS.c.end_date)
        .where(*_overlapping(period))
        .order_by(ALLOCATIONS.c.end_date)
        .limit(1)
        .scalar_subquery()
    )
    if period.start >= now:
        return live
    return sa.case((_last_release() > period.start, _last_release()), else_=live)


def _last_end(instant: datetime.datetime, now: datetime.datetime) -> Any:
    """Return the end of the last allocation before *instant*; NULL if before now."""
    return (
        sa.select(ALLOCATIONS.c.end_date)
        .where(
            ALLOCATIONS.c.resource_id == RESOURCES.c.id,
            ALLOCATIONS.c.live == 1,
            ALLOCATIONS.c.end_date >= now,
            ALLOCATIONS.c.end_date <= instant,
        )
        .order_by(ALLOCATIONS.c.end_date.desc())
        .limit(1)
        .scalar_subquery()
    )


def _first_start(instant: datetime.datetime) -> Any:
    """Return the start of the first allocation after *instant*; NULL if there is none.

    Only for resources that are free until then: their first allocation to end is the
    first to start.
    """
    return (
        sa.select(ALLOCATIONS.c.start_date)
        .where(
            ALLOCATIONS.c.resource_id == RESOURCES.c.id,
            ALLOCATIONS.c.live == 1,
            ALLOCATIONS.c.end_date > instant,
        )
        .order_by(ALLOCATIONS.c.end_date)
        .limit(1)
        .scalar_subquery()
    )


def _overlapping(period: Period) -> list[Any]:
    return [
        ALLOCATIONS.c.resource_id == RESOURCES.c.id,
        ALLOCATIONS.c.live == 1,
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
        .where(ALLOCATIONS.c.resource_id == RESOURCES.c.id, ALLOCATIONS.c.live == 0)
        .order_by(ALLOCATIONS.c.end_date.desc())
        .limit(1)
        .scalar_subquery()
    )
