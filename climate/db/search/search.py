# SPDX-License-Identifier: Apache-2.0

"""Queries for resources that match, and for those of them that are free as a whole."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

import sqlalchemy as sa

from climate.allocation.matches import Match
from climate.db.engine.prepared import prepared
from climate.db.resources import conditions
from climate.db.resources.properties import CAPABILITY
from climate.db.resources.properties import TRAIT
from climate.db.schema.tables import INVENTORIES
from climate.db.schema.tables import PROPERTIES
from climate.db.schema.tables import RESOURCES
from climate.db.search import occupancy
from climate.db.search import requirements
from climate.db.search.lead_times import LEAD_TIME
from climate.db.search.lead_times import LeadTimes
from climate.db.statements.lists import Among
from climate.db.statements.repository import Repository
from climate.domain.periods import Period
from climate.domain.resources import Candidate
from climate.domain.resources import used_classes

# Built once, see leases.py.
_NOTHING: Mapping[str, int] = {}
_PERIOD = occupancy.PeriodParameters(start=occupancy.instant('start'), end=occupancy.instant('end'))
OPEN: Final = (
    RESOURCES.c.reservable.is_(True),
    RESOURCES.c.disabled.is_(False),
    RESOURCES.c.failed_at.is_(None),
)
"""The conditions that a resource is open to new bookings."""
_FREE = (
    sa.select(
        RESOURCES.c.id,
        RESOURCES.c.name,
        RESOURCES.c.generation,
        occupancy.last_end(_PERIOD.start, occupancy.instant('now')).label('busy_until'),
        occupancy.first_start(_PERIOD.end).label('busy_from'),
        LEAD_TIME.where(PROPERTIES.c.resource_id == RESOURCES.c.id)
        .scalar_subquery()
        .label('lead_time'),
    )
    .where(
        RESOURCES.c.resource_type == sa.bindparam('resource_type'),
        RESOURCES.c.deleted == occupancy.ZERO,
        *OPEN,
        occupancy.in_service(_PERIOD),
        sa.not_(occupancy.is_busy(_PERIOD)),
    )
    .order_by(RESOURCES.c.id)
)
_AMONG = _FREE.where(Among(RESOURCES.c.id, 'ids'))
_AMONG_ANY = prepared(_AMONG)
# To expand the parameter of a list takes a quarter of the time of the statement.
_MOST_SINGLE = 16
_NAMED = _FREE.where(Among(RESOURCES.c.name, 'names'))


@functools.cache
def _among(count: int) -> sa.Select[Any]:
    """Return the statement for so many ids, each with a parameter of its own."""
    return _FREE.where(RESOURCES.c.id.in_([sa.bindparam(f'id{place}') for place in range(count)]))


def _conditions(match: Match, *, bookable: bool = True) -> list[Any]:
    """Return the conditions of *match* on a row of ``resources``.

    :param bookable: only resources that are open to new bookings
    """
    found = conditions.of_type(match.resource_type)
    return [*found, *(OPEN if bookable else ()), *_special(match)]


def _special(match: Match) -> list[Any]:
    """Return the conditions that few requests have: all but the type and the state."""
    found: list[Any] = []
    if match.requirement is not None:
        found.append(requirements.condition(match.requirement, private=match.private))
    found += [requirements.has_trait(name) for name in sorted(match.required_traits)]
    found += [sa.not_(requirements.has_trait(name)) for name in sorted(match.forbidden_traits)]
    if match.names is not None:
        found.append(RESOURCES.c.name.in_(match.names))
    return found


Values = dict[str, dict[int, str]]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Labels:
    """Properties and traits of resources.

    :ivar values: by name and resource id
    :ivar traits: the ids of the resources that have each
    """

    values: Mapping[str, Mapping[int, str]]
    traits: Mapping[str, Collection[int]]


@dataclasses.dataclass(eq=False)
class ResourceSearch(Repository):
    """Checks of a few resources: whether they match, and are free as a whole."""

    @functools.cached_property
    def lead_times(self) -> LeadTimes:
        """Those that it remembers."""
        return LeadTimes(self._session, self._now)

    def among(self, ids: Sequence[int], match: Match, period: Period) -> list[Candidate]:
        """Return those of some resources that match and are free, in the order of *ids*.

        One statement, which finds the lead times, too::

            SELECT r.id, r.name, r.generation,
                   (SELECT end_date … before the period), (SELECT start_date … after it), …
            FROM resources r
            WHERE r.resource_type = :type AND … AND r.id IN (:ids)
              AND NOT EXISTS (SELECT 1 FROM allocations a
                              WHERE a.resource_id = r.id AND a.live = 1
                                AND a.end_date > :start AND a.start_date < :end)
        """
        special = self._where(match, period)
        if special or len(ids) > _MOST_SINGLE or self._session.dialect.name == 'postgresql':
            query = _AMONG.where(*special) if special else _AMONG_ANY
            found = self._free(query, match, period, ids=ids)
        else:
            single = {f'id{place}': one for place, one in enumerate(ids)}
            found = self._free(_among(len(ids)), match, period, **single)
        return sorted(found, key=lambda one: ids.index(one.resource_id))

    def named(self, names: Collection[str], match: Match, period: Period) -> list[Candidate]:
        """Return those of some resources that match and are free, in id order.

        One statement, as that of :meth:`among`.
        """
        query = _NAMED.where(*self._where(match, period))
        return self._free(query, match, period, names=list(names))

    def _free(
        self, query: sa.Select[Any], match: Match, period: Period, **which: Any
    ) -> list[Candidate]:
        values = {
            'resource_type': match.resource_type,
            'start': period.start,
            'end': period.end,
            'now': self._now,
            **which,
        }
        found = self._session.execute(query, values).all()
        self.lead_times.remember({row[0]: row[-1] for row in found})
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

    def _where(self, match: Match, period: Period) -> list[Any]:
        """Return the conditions that the constants lack."""
        special = _special(match)
        if period.start < self._now:
            special.append(sa.not_(occupancy.was_busy(period)))
        return special

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
            *_conditions(match, bookable=bookable), *_offering(demand), RESOURCES.c.id.in_(ids)
        )
        return set(self._session.scalars(query))

    def labels(
        self,
        match: Match | None,
        names: Collection[str],
        traits: Collection[str] = (),
        ids: Collection[int] = (),
    ) -> Labels:
        """Return values of properties, and traits, of all resources that match.

        :param match: None for none
        :param ids: of further resources
        """
        # Conditions on resources have properties of their own.
        held = PROPERTIES.alias()
        kind, values, having = held.c.kind, Values(), dict[str, set[int]]()
        wanted = [(held.c.name.in_(names)) & (kind != TRAIT)] if names else []
        wanted += [(held.c.name.in_(traits)) & (kind == TRAIT)] if traits else []
        meant = [] if match is None else [sa.and_(*_conditions(match))]
        meant += [RESOURCES.c.id.in_(ids)] if ids else []
        if wanted and meant:
            query = (
                sa.select(held.c.resource_id, kind, held.c.name, held.c.value)
                .join(RESOURCES, RESOURCES.c.id == held.c.resource_id)
                .where(sa.or_(*wanted), sa.or_(*meant))
            )
            for resource_id, what, name, value in self._session.execute(query):
                if what == TRAIT:
                    having.setdefault(name, set()).add(resource_id)
                # The value of an operator wins over that of the cloud.
                elif what == CAPABILITY or resource_id not in values.get(name, {}):
                    values.setdefault(name, {})[resource_id] = value
        return Labels(values=values, traits=having)


def _offering(demand: Mapping[str, int]) -> list[Any]:
    """Return the conditions that a free resource allows *demand* in one allocation."""
    return [
        sa.exists(
            sa.select(INVENTORIES.c.id)
            .where(
                INVENTORIES.c.resource_id == RESOURCES.c.id,
                INVENTORIES.c.resource_class == name,
                INVENTORIES.c.min_unit <= units,
                INVENTORIES.c.max_unit >= units,
                sa.literal(units) % INVENTORIES.c.step_size == 0,
            )
            # No real limit; it makes PostgreSQL look up one resource after the other. It
            # would otherwise begin with all inventories.
            .limit(1)
            .offset(0)
        )
        for name, units in used_classes(demand).items()
    ]
