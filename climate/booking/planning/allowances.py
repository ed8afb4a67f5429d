# SPDX-License-Identifier: Apache-2.0

"""Tells when the limits of its project let a flexible lease begin, without choosing resources.

What a limit has refused stays refused until the project uses less, or time has passed, so a plan
looks at such a lease again only then. Each change in the cloud would otherwise have it choose
resources for every lease that a limit holds.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Collection
from collections.abc import Sequence
from typing import Final

import numpy as np

from climate import exceptions
from climate.allocation import timeline
from climate.allocation.steps import microseconds
from climate.booking.planning.seekers import Seeker
from climate.db.transactions.store import Transaction
from climate.domain.leases import Allocation
from climate.domain.periods import Period
from climate.domain.resources import used_classes
from climate.enforcement.limits import Limits
from climate.enforcement.limits import ProjectLimits

_DAY: Final = datetime.timedelta(days=1) // datetime.timedelta(microseconds=1)

_Uses = list[tuple[str, Period]]
"""The lease, and how long it has a resource, of all resources of a project."""

_Span = tuple[int, int]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Limited:
    """Why a lease may not begin.

    :ivar uses: of its project when it was looked at
    :ivar until: when it may begin even if the project uses as much, in microseconds since 1970;
        None if never
    """

    project_id: str
    uses: _Uses
    until: int | None


class Allowances:
    """What limits allow the leases of a plan, kept from one plan to the next."""

    def __init__(self, limits: ProjectLimits) -> None:
        self._limits = limits
        self._limited: dict[str, _Limited] = {}
        self._uses: dict[str, _Uses] = {}
        self._spans: dict[tuple[str, int], Sequence[_Span]] = {}
        self._tx: Transaction | None = None

    def follow(self, tx: Transaction, seekers: Collection[Seeker]) -> set[str]:
        """Take over what has changed; return ids of leases that a limit may not hold any more."""
        self._tx, self._spans = tx, {}
        known = {one.lease.id for one in seekers}
        self._limited = {key: limited for key, limited in self._limited.items() if key in known}
        projects = {limited.project_id for limited in self._limited.values()}
        self._uses = self._read(projects)
        now = microseconds(tx.now)
        equal: dict[int, bool] = {}
        free = set()
        for key, limited in self._limited.items():
            # Most leases of a project were looked at when it used the same.
            if id(limited.uses) not in equal:
                equal[id(limited.uses)] = limited.uses == self._used(limited.project_id)
            if not equal[id(limited.uses)] or (limited.until is not None and limited.until <= now):
                free.add(key)
        return free

    def is_due(self, now: datetime.datetime) -> bool:
        """Whether time alone lets a lease begin that a limit holds."""
        instant = microseconds(now)
        return any(one.until is not None and one.until <= instant for one in self._limited.values())

    def forget(self, one: Seeker) -> None:
        """Forget that a limit holds a lease: it is looked at."""
        self._limited.pop(one.lease.id, None)

    def start(self, one: Seeker, first: int) -> int | None:
        """Return the soonest start that limits may allow a lease; None if there is none.

        It is counted with as few resources as it may get, so that a choice may be refused then.

        :param first: no start before this, in microseconds since 1970
        """
        rules = self._limits.of(one.lease.project_id)
        found = self._free(one, rules, first) if rules.resources else first
        if found is None:
            self._limit(one, None)
            return None
        if rules.days_ahead:
            ahead = rules.days_ahead * _DAY
            if found > max(microseconds(one.lease.period.start), microseconds(self._now) + ahead):
                self._limit(one, found - ahead)
                return None
        if found != first:
            self._limit(one, None)
        return found

    def check(self, one: Seeker, period: Period, allocations: Collection[Allocation]) -> None:
        """Check what a lease would have at another place.

        :param allocations: all that it would have
        :raises climate.exceptions.ProjectLimit: if a limit forbids it; the lease is then held
        """
        lease = one.lease
        rules = self._limits.of(lease.project_id)
        there = dataclasses.replace(lease, period=period)
        try:
            rules.check_lease(there, lease, self._now)
            if rules.resources:
                has = [(use, 1) for owner, use in self._used(lease.project_id) if owner != lease.id]
                new = {(item.reservation_id, item.resource_id) for item in allocations}
                rules.check('resources', timeline.peak([*has, (period, len(new))], period))
        except exceptions.ProjectLimit:
            self._limit(one, None)
            raise

    def decided(self, one: Seeker, allocations: Collection[Allocation]) -> None:
        """Take over a move that has been decided.

        :param allocations: all that the lease will have
        """
        self.forget(one)
        lease = one.lease
        if not self._limits.of(lease.project_id).resources:
            return
        others = [use for use in self._used(lease.project_id) if use[0] != lease.id]
        new = {(item.reservation_id, item.resource_id): item.period for item in allocations}
        uses = [*others, *((lease.id, use) for use in new.values())]
        self._uses[lease.project_id] = sorted(uses, key=_order)
        self._spans = {key: some for key, some in self._spans.items() if key[0] != lease.project_id}

    @property
    def _now(self) -> datetime.datetime:
        return self._transaction.now

    @property
    def _transaction(self) -> Transaction:
        if self._tx is None:
            raise ValueError('nothing has been read yet')
        return self._tx

    def _limit(self, one: Seeker, until: int | None) -> None:
        project_id = one.lease.project_id
        uses = self._used(project_id)
        self._limited[one.lease.id] = _Limited(project_id=project_id, uses=uses, until=until)

    def _used(self, project_id: str) -> _Uses:
        """Return what a project has, with what this pass has decided."""
        if not self._limits.of(project_id).resources:
            return []
        if project_id not in self._uses:
            self._uses |= self._read([project_id])
        return self._uses[project_id]

    def _read(self, project_ids: Collection[str]) -> dict[str, _Uses]:
        """Return what projects have that may have so many resources only."""
        limited = [each for each in project_ids if self._limits.of(each).resources]
        found = self._transaction.projects.uses(sorted(limited)) if limited else {}
        return {key: sorted(uses, key=_order) for key, uses in found.items()}

    def _free(self, one: Seeker, rules: Limits, first: int) -> int | None:
        """Return the first start at which the project has few enough resources."""
        spare = rules.resources - _fewest(one)
        if spare < 0:
            return None
        for start, end in self._full(one, spare):
            if start >= first + one.length:
                break
            first = max(first, end)
        return first if first < one.before else None

    def _full(self, one: Seeker, spare: int) -> Sequence[_Span]:
        """Return when other leases of a project have more than *spare* resources."""
        project_id = one.lease.project_id
        uses = self._used(project_id)
        if one.own:
            return _above([use for owner, use in uses if owner != one.lease.id], spare)
        key = project_id, spare
        if key not in self._spans:
            self._spans[key] = _above([use for _, use in uses], spare)
        return self._spans[key]


def _order(use: tuple[str, Period]) -> tuple[str, datetime.datetime, datetime.datetime]:
    return use[0], use[1].start, use[1].end


def _fewest(one: Seeker) -> int:
    """Return how many resources a lease has at least."""
    return sum(
        # One resource may have all slots that need parts of it.
        max(len(each.search.names), 1 if used_classes(each.search.demand) else each.minimum)
        for each in one.one.needed
    )


def _above(uses: Sequence[Period], level: int) -> list[_Span]:
    """Return when there is more than *level*, in order."""
    if len(uses) <= level:
        return []
    times = np.array(
        [microseconds(use.start) for use in uses] + [microseconds(use.end) for use in uses]
    )
    changes = np.repeat([1, -1], len(uses))
    # What ends at an instant does not overlap with what begins then.
    order = np.lexsort((changes, times))
    times, above = times[order], np.cumsum(changes[order]) > level
    edges = np.flatnonzero(np.diff(above, prepend=False))
    found = times[edges].tolist()
    return list(zip(found[::2], found[1::2], strict=True))
