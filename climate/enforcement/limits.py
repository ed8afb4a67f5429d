# SPDX-License-Identifier: Apache-2.0

"""The limits of projects, and their enforcement in the transaction that books.

Unlike a filter, these limits count what else the project has. A first check,
before resources are chosen, locks nothing and may save the search. The second
check is exact: it locks the project, so that the later of two concurrent requests
counts what the earlier one has booked.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import math
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.allocation import timeline
from climate.conf import limits as options
from climate.db.transactions.store import Transaction
from climate.domain.leases import Allocation
from climate.domain.leases import Lease

_DAY = datetime.timedelta(days=1)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """The limits of a project; 0 means no limit.

    :ivar leases: that have not ended
    :ivar days_ahead: from now to the start of a lease
    :ivar resources: at one instant, of all leases
    :ivar idempotency_keys: that have not expired
    :ivar holds: of offers, at one instant
    :ivar offers: that are stored
    :ivar webhooks: that are not deleted
    :ivar feeds: that have not expired
    """

    leases: int = 0
    reservations_per_lease: int = 0
    days_per_lease: int = 0
    days_ahead: int = 0
    resources: int = 0
    idempotency_keys: int = 0
    holds: int = 0
    offers: int = 0
    webhooks: int = 0
    feeds: int = 0

    def check(self, name: str, wanted: int) -> None:
        """Check a number against the limit *name*.

        :raises climate.exceptions.ProjectLimit: naming the limit and both figures
        """
        most = getattr(self, name)
        if most and wanted > most:
            raise exceptions.ProjectLimit(limit=name, most=most, wanted=wanted)

    def allows_start(self, start: datetime.datetime, now: datetime.datetime) -> bool:
        """Whether a new lease may begin so far ahead.

        :param now: the instant (aware UTC)
        """
        return not self.days_ahead or _days(start - now) <= self.days_ahead

    def check_lease(self, lease: Lease, old: Lease | None, now: datetime.datetime) -> None:
        """Check the dates of a new or changed lease.

        A lease that exceeds a limit can be changed, unless it would exceed it further.

        :param old: the lease as it is; None for a new one
        :param now: the instant (aware UTC)
        :raises climate.exceptions.ProjectLimit: naming the limit and both figures
        """
        lasts = _length(lease)
        if old is None or lasts > _length(old):
            self.check('days_per_lease', _days(lasts))
        if old is None or lease.period.start > old.period.start:
            self.check('days_ahead', _days(lease.period.start - now))


NONE = Limits()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ProjectLimits:
    """The limits of all projects.

    :ivar usual: of projects without limits of their own
    :ivar by_project: of the others, by id
    """

    usual: Limits = dataclasses.field(default_factory=Limits)
    by_project: Mapping[str, Limits] = dataclasses.field(default_factory=dict)

    @classmethod
    def from_conf(cls, conf: Any) -> ProjectLimits:
        """Return the limits that *conf* (an oslo.config ConfigOpts) sets.

        Projects that no filter checks have no limits either.

        :raises climate.exceptions.ConfigurationError: if an override is not valid
        """
        usual = Limits(**{name: conf.limits[name] for name in options.NAMES})
        by_project = dict.fromkeys(conf.enforcement.exempt_projects, NONE)
        for text in conf.limits.override:
            project_id, limits = _override(text, usual)
            by_project[project_id] = limits
        return cls(usual=usual, by_project=by_project)

    def of(self, project_id: str) -> Limits:
        """Return the limits of a project."""
        return self.by_project.get(project_id, self.usual)


@contextlib.contextmanager
def refusing(old: Lease | None) -> Iterator[None]:
    """Refuse with the status clients expect: 403 for a new lease, 400 for a change.

    :param old: the lease as it is; None for a new one
    """
    try:
        yield
    except exceptions.ProjectLimit as error:
        if old is not None:
            raise
        raise exceptions.LeaseRefused(error.message) from error


def check_reservations(limits: Limits, reservations: Collection[object]) -> None:
    """Check how many reservations a new lease has.

    :raises climate.exceptions.LeaseRefused: naming the limit and both figures
    """
    with refusing(None):
        limits.check('reservations_per_lease', len(reservations))


def check_new(limits: Limits, lease: Lease, has: int, now: datetime.datetime) -> None:
    """Check a new lease before resources are searched for it.

    :param has: how many leases the project has
    :param now: the instant (aware UTC)
    :raises climate.exceptions.LeaseRefused: naming the limit and both figures
    """
    with refusing(None):
        limits.check_lease(lease, None, now)
        limits.check('leases', has + 1)


@contextlib.contextmanager
def held(
    tx: Transaction,
    limits: Limits,
    lease: Lease,
    old: Lease | None,
    allocations: Collection[Allocation],
    had: Collection[Allocation],
) -> Iterator[None]:
    """Enforce the limits of a project while one of its leases is written.

    :param old: the lease as it is; None for a new one
    :param allocations: all that the lease would have
    :param had: the allocations that it has
    :raises climate.exceptions.LeaseRefused: if a limit forbids a new lease
    :raises climate.exceptions.ProjectLimit: if a limit forbids a change
    """
    with refusing(old):
        if old is not None:
            limits.check_lease(lease, old, tx.now)
        grows = old is None or _grows(lease, old, allocations, had)
        if (limits.leases and old is None) or (limits.resources and grows):
            tx.projects.lock(lease.project_id)
        if limits.leases and old is None:
            limits.check('leases', tx.projects.leases(lease.project_id) + 1)
        yield
        if limits.resources and grows:
            has = tx.projects.resources(lease.project_id, lease.period)
            peak = timeline.peak(((period, 1) for period in has), lease.period)
            limits.check('resources', peak)


def check_resources(
    tx: Transaction,
    limits: Limits,
    lease: Lease,
    old: Lease | None,
    allocations: Collection[Allocation],
) -> None:
    """Check how many resources a project would have with a lease that is not written.

    :param old: the lease as it is; None for a new one
    :param allocations: all that the lease would have
    :raises climate.exceptions.LeaseRefused: if the limit forbids a new lease
    :raises climate.exceptions.ProjectLimit: if the limit forbids a change
    """
    if not limits.resources:
        return
    has = tx.projects.resources(lease.project_id, lease.period, other_than=lease.id)
    new = {(item.reservation_id, item.resource_id) for item in allocations}
    uses = [(period, 1) for period in has] + [(lease.period, len(new))]
    with refusing(old):
        limits.check('resources', timeline.peak(uses, lease.period))


def check_place(
    tx: Transaction, limits: Limits, lease: Lease, old: Lease, allocations: Collection[Allocation]
) -> None:
    """Check what :func:`held` does when a lease is written at another place.

    :param old: the lease as it is
    :param allocations: all that the lease would have
    :raises climate.exceptions.ProjectLimit: if a limit forbids it
    """
    limits.check_lease(lease, old, tx.now)
    check_resources(tx, limits, lease, old, allocations)


def _grows(
    lease: Lease, old: Lease, allocations: Collection[Allocation], had: Collection[Allocation]
) -> bool:
    """Whether the project may have more at some instant than before."""
    known = {item.resource_id for item in had}
    return (
        lease.period.start < old.period.start
        or lease.period.end > old.period.end
        or any(item.resource_id not in known for item in allocations)
    )


def _override(text: str, usual: Limits) -> tuple[str, Limits]:
    project_id, colon, rest = text.partition(':')
    values: dict[str, int] = {}
    for part in rest.split(','):
        name, _, value = (word.strip() for word in part.partition('='))
        if name not in options.NAMES or not (value.isascii() and value.isdigit()):
            raise exceptions.ConfigurationError(
                f"[limits] override: '{part.strip()}' in '{text}' is not NAME=NUMBER with a "
                f'number from 0; the names are {", ".join(options.NAMES)}'
            )
        values[name] = int(value)
    if not colon or not project_id.strip():
        raise exceptions.ConfigurationError(f"[limits] override: '{text}' names no project")
    return project_id.strip(), dataclasses.replace(usual, **values)


def _length(lease: Lease) -> datetime.timedelta:
    return lease.period.end - lease.period.start


def _days(time: datetime.timedelta) -> int:
    return math.ceil(time / _DAY)
