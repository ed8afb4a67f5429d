# SPDX-License-Identifier: Apache-2.0

"""Queries for resources that match, and for those of them that are free as a whole."""

from __future__ import annotations

import dataclasses
import datetime
import functools
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

import sqlalchemy as sa

from climate.allocation.matches import Match
from climate.db.engine.prepared import prepared
from climate.db.resources.properties import CAPABILITY
from climate.db.resources.properties import TRAIT
from climate.db.schema.tables import INVENTORIES
from climate.db.schema.tables import PROPERTIES
from climate.db.schema.tables import RESOURCES
from climate.db.search import occupancy
from climate.db.search import ranking
from climate.db.search import requirements
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
OFFERED: Final = (
    RESOURCES.c.resource_type == sa.bindparam('resource_type'),
    RESOURCES.c.deleted == occupancy.ZERO,
)
"""The conditions that a resource has the type of the parameter ``resource_type``."""
_FREE = (
    sa.select(
        RESOURCES.c.id,
        RESOURCES.c.name,
        RESOURCES.c.generation,
        occupancy.last_end(_PERIOD.start, occupancy.instant('now')).label('busy_until'),
        occupancy.first_start(_PERIOD.end).label('busy_from'),
    )
    .where(*OFFERED, *OPEN, occupancy.in_service(_PERIOD), sa.not_(occupancy.is_busy(_PERIOD)))
    .order_by(RESOURCES.c.id)
    .limit(sa.bindparam('most', type_=sa.Integer()))
)
_FROM = _FREE.where(RESOURCES.c.id >= sa.bindparam('first_id'))
_BEFORE = _FREE.where(RESOURCES.c.id < sa.bindparam('first_id'))
_AMONG = _FREE.where(Among(RESOURCES.c.id, 'ids')).add_columns(
    ranking.LEAD_TIME.where(PROPERTIES.c.resource_id == RESOURCES.c.id)
    .scalar_subquery()
    .label('lead_time')
)
_AMONG_ANY = prepared(_AMONG)
_ENDS = sa.select(sa.func.min(RESOURCES.c.id), sa.func.max(RESOURCES.c.id)).where(
    *OFFERED, RESOURCES.c.reservable.is_(True), RESOURCES.c.disabled.is_(False)
)
# Key of the first and last ids of each type in ``Connection.info``.
_BOUNDS = 'climate_bounds'
_BOUNDS_AGE = datetime.timedelta(seconds=10)


def conditions(match: Match, *, bookable: bool = True) -> list[Any]:
    """Return the conditions of *match* on a row of ``resources``.

    :param bookable: only resources that are open to new bookings
    """
    state: list[Any] = [
        RESOURCES.c.resource_type == match.resource_type,
        RESOURCES.c.deleted == 0,
    ]
    return [*state, *(OPEN if bookable else ()), *special_conditions(match)]


def special_conditions(match: Match) -> list[Any]:
    """Return the conditions that few requests have: all but the type and the state."""
    wanted: list[Any] = []
    if match.requirement is not None:
        wanted.append(requirements.condition(match.requirement, private=match.private))
    wanted += [requirements.has_trait(name) for name in sorted(match.required_traits)]
    wanted += [sa.not_(requirements.has_trait(name)) for name in sorted(match.forbidden_traits)]
    if match.names is not None:
        wanted.append(RESOURCES.c.name.in_(match.names))
    return wanted


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
    """The search for resources that are free as a whole."""

    @functools.cached_property
    def lead_times(self) -> LeadTimes:
        """Those that it remembers."""
        return LeadTimes(self._session, self._now)

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
        special, values = self._conditions(match, period, only_ids)
        if except_ids:
            special.append(RESOURCES.c.id.not_in(except_ids))
        if before_id is not None:
            special.append(RESOURCES.c.id < before_id)
        values |= {'first_id': first_id, 'most': limit}
        return _candidates(self._session.execute(_FROM.where(*special), values).all())

    def sample(
        self,
        match: Match,
        period: Period,
        *,
        only_ids: Collection[int] | None,
        first_id: int,
        limit: int,
        best: int,
    ) -> list[Candidate]:
        """Return the best of a sample of free resources, in any order.

        Which are best is defined in :func:`climate.allocation.shares.choose`. The database
        leaves out the others, because most of the time of a booking was spent on their rows::

            SELECT …, <lead time> FROM (SELECT …, count(*) OVER () FROM (…) found
                ORDER BY <unbounded holes>, <length of the others>, id LIMIT :best) best

        :param first_id: where the sample begins; it continues at the first id
        :param limit: the size of the sample
        :param best: the number of resources to return, or up to twice as many
        """
        special, values = self._conditions(match, period, only_ids)
        values |= {'first_id': first_id, 'most': limit, 'best': best}
        dialect = self._session.dialect.name
        # Most searches have no special conditions: the constants need no new cache key.
        if special:
            query, rest = (
                ranking.best(one.where(*special), _PERIOD, dialect) for one in (_FROM, _BEFORE)
            )
        else:
            query, rest = _samples(dialect)
        found = self._session.execute(query, values).all()
        sampled = found[0].sampled if found else 0
        if sampled < limit:
            # The list ended first: continue at its beginning.
            values['most'] = limit - sampled
            found = [*found, *self._session.execute(rest, values)]
        self.lead_times.remember({row[0]: row[-1] for row in found})
        return _candidates(found)

    def among(self, ids: Sequence[int], match: Match, period: Period) -> list[Candidate]:
        """Return those of some resources that match and are free, in the order of *ids*.

        One statement, as that of :meth:`free`, with the lead times.
        """
        special, values = self._conditions(match, period, None)
        query = _AMONG.where(*special) if special else _AMONG_ANY
        found = self._session.execute(query, {**values, 'ids': ids, 'most': len(ids)}).all()
        self.lead_times.remember({row[0]: row[-1] for row in found})
        return sorted(_candidates(found), key=lambda one: ids.index(one.resource_id))

    def _conditions(
        self, match: Match, period: Period, only_ids: Collection[int] | None
    ) -> tuple[list[Any], dict[str, Any]]:
        """Return the conditions that the constants lack, and their parameters."""
        values = {
            'resource_type': match.resource_type,
            'start': period.start,
            'end': period.end,
            'now': self._now,
        }
        special = special_conditions(match)
        if period.start < self._now:
            special.append(sa.not_(occupancy.was_busy(period)))
        if only_ids is not None:
            special.append(RESOURCES.c.id.in_(only_ids))
        return special, values

    def pivot(self, resource_type: str, share: float) -> int:
        """Return the id that lies *share* (0 to 1) of the way through the type's ids.

        The first and the last id may be some seconds old: a search that begins elsewhere
        finds the same.
        """
        known = self._session.info.setdefault(_BOUNDS, {}).get(resource_type)
        if known is None or not known[0] <= self._now < known[0] + _BOUNDS_AGE:
            low, high = self._session.execute(_ENDS, {'resource_type': resource_type}).one()
            known = self._now, low, high
            self._session.info[_BOUNDS][resource_type] = known
        _, low, high = known
        return 0 if low is None else low + int((high - low + 1) * share)

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
            *conditions(match, bookable=bookable),
            *offering(demand),
            RESOURCES.c.id.in_(ids),
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
        meant = [] if match is None else [sa.and_(*conditions(match))]
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
            sa.select(occupancy.blocker_end(period, self._now).label('ends'))
            .where(*conditions(match), occupancy.in_service(period))
            .subquery()
        )
        matched, busy, first = self._session.execute(
            sa.select(
                sa.func.count(), sa.func.count(ends.c.ends), sa.func.min(ends.c.ends)
            ).select_from(ends)
        ).one()
        return int(matched), int(matched - busy), first


@functools.cache
def _samples(dialect: str) -> tuple[Any, Any]:
    """Return the statements that search from an id on, and before it."""
    return ranking.best(_FROM, _PERIOD, dialect), ranking.best(_BEFORE, _PERIOD, dialect)


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


def offering(demand: Mapping[str, int]) -> list[Any]:
    """Return the conditions that a free resource allows *demand* in one allocation."""
    return [offers(name, sa.literal(units)) for name, units in used_classes(demand).items()]


def offers(name: Any, units: Any) -> Any:
    """Return the condition that a free resource allows *units* of a class in one allocation."""
    query = sa.select(INVENTORIES.c.id).where(
        INVENTORIES.c.resource_id == RESOURCES.c.id,
        INVENTORIES.c.resource_class == name,
        INVENTORIES.c.min_unit <= units,
        INVENTORIES.c.max_unit >= units,
        units % INVENTORIES.c.step_size == 0,
    )
    # No real limit; it makes PostgreSQL look up one resource after the other. It would
    # otherwise begin with all inventories.
    return sa.exists(query.limit(1).offset(0))
