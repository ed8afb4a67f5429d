# SPDX-License-Identifier: Apache-2.0

"""Finds how far a lease can be extended; writes nothing."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable
from collections.abc import Iterator
from typing import Final
from typing import TypeVar

from climate import exceptions
from climate.allocation import joint
from climate.allocation.joint import Frame
from climate.allocation.steps import instant
from climate.allocation.steps import microseconds
from climate.booking.choosing import candidates
from climate.booking.choosing.candidates import MatchingBlocks
from climate.booking.choosing.choose import together
from climate.booking.choosing.requirements import Requirements
from climate.booking.offers import change_searches
from climate.booking.offers.change_searches import ChangeSearch
from climate.booking.requests.context import Context
from climate.booking.writing import commit
from climate.booking.writing.change import Changed
from climate.booking.writing.change import ChangeRequest
from climate.booking.writing.commit import AllocationRequest
from climate.db.transactions.store import Transaction
from climate.domain.leases import Allocation
from climate.domain.offers import Extension
from climate.domain.offers import Offer
from climate.domain.offers import OfferKind
from climate.domain.periods import Period
from climate.domain.periods import SECOND
from climate.domain.requests import Caller
from climate.domain.requests import LeaseChange
from climate.enforcement import limits

AHEAD: Final = datetime.timedelta(days=14)
"""How far after the end of a lease a search looks by default."""

_MINUTE: Final = datetime.timedelta(minutes=1)
_REFUSED = (
    exceptions.NotEnoughResources,
    exceptions.ResourceInMaintenance,
    exceptions.ResourcesInUse,
)
T = TypeVar('T')


def find(
    context: Context,
    caller: Caller,
    lease_id: str,
    project_id: str | None,
    latest: datetime.datetime | None,
) -> Extension:
    """Return how far a lease can be extended.

    :param project_id: None looks in every project
    :param latest: the last end (aware UTC); None for :data:`AHEAD` after the present end
    :raises climate.exceptions.NotFound: if there is no such lease
    :raises climate.exceptions.InvalidInput: if it ends later than *latest*
    :raises climate.exceptions.ClimateError: if it cannot be changed, or if a limit or a
        filter forbids every extension
    """
    change = LeaseChange(strict=True, grain=SECOND)
    new = ChangeRequest(caller=caller, lease_id=lease_id, project_id=project_id, change=change)
    with change_searches.searching(context, new) as search:
        end = search.old.period.end
        last = end + AHEAD if latest is None else latest
        if last <= end:
            raise exceptions.InvalidInput.of(
                'latest', 'a time after the end of the lease is required'
            )
        return ExtensionSearch(search, context, last).found()


class ExtensionSearch:
    """Searches for the ends that a lease could have, in one transaction.

    :param latest: the last end (aware UTC), after that of the lease
    """

    def __init__(self, search: ChangeSearch, context: Context, latest: datetime.datetime) -> None:
        self._search = search
        self._context = context
        self._latest = latest
        self._lease = search.old
        self._refusal: exceptions.ClimateError | None = None

    def found(self) -> Extension:
        """Return how far the lease can be extended."""
        search, end = self._search, self._lease.period.end
        kept = search.kept()
        frame = search.frame(self._latest, datetime.timedelta(0))
        free = instant(joint.longest(kept, frame, microseconds(end), microseconds(self._latest)))
        offers = []
        same = _farthest(end, free, self._same)
        if same is not None:
            offers.append(self._offer(same, OfferKind.EXTENDED))
            end = same.lease.period.end
        offers += list(self._following(end) if search.running else self._replaced(end))
        if not offers and self._refusal is not None:
            raise self._refusal
        return Extension(
            end=end,
            blocked_by=search.blocked(kept, free) if free < self._latest else (),
            offers=tuple(offers),
            searched_until=end if search.late else self._latest,
        )

    def _same(self, end: datetime.datetime) -> Changed | None:
        found = self._extended(end)
        return None if found is None or change_searches.replaces(found) else found

    def _extended(self, end: datetime.datetime) -> Changed | None:
        """Return the lease with another end; None if a change to it would be refused."""
        if self._search.late:
            return None
        try:
            return self._search.trial(dataclasses.replace(self._lease.period, end=end))
        except (*_REFUSED, exceptions.RequirementsTooSlow):
            return None
        except exceptions.ClimateError as error:
            self._refusal = error
            return None

    def _offer(self, changed: Changed, kind: OfferKind) -> Offer:
        return self._search.offer(changed.lease.period, changed.allocations, kind)

    def _replaced(self, end: datetime.datetime) -> Iterator[Offer]:
        """Yield how far a lease that has not begun can be extended with other resources."""
        search, latest = self._search, microseconds(self._latest)
        frame = search.frame(self._latest)
        free = joint.longest(search.conditions, frame, frame.earliest, latest)
        changed = _farthest(end, instant(free), self._extended)
        if changed is not None:
            yield self._offer(changed, OfferKind.REPLACED)

    def _following(self, end: datetime.datetime) -> Iterator[Offer]:
        """Yield a lease of the same amounts that begins when this one ends.

        Nothing replaces the resources of a lease that has begun.
        """
        if end >= self._latest:
            return
        search, latest = self._search, microseconds(self._latest)
        frame: Frame = dataclasses.replace(
            search.frame(self._latest, _MINUTE), earliest=microseconds(end)
        )
        conditions = candidates.conditions(MatchingBlocks(search.tx), search.needed)
        if not all(one.fits(frame.bounds(frame.earliest)) for one in conditions):
            return
        free = joint.longest(conditions, frame, frame.earliest, latest)
        found = _farthest(
            end, instant(free), lambda until: self._next(Period(start=end, end=until))
        )
        if found is not None:
            period, chosen = found
            yield dataclasses.replace(
                search.offer(period, chosen, OfferKind.FOLLOWING), period=period
            )

    def _next(self, period: Period) -> tuple[Period, tuple[Allocation, ...]] | None:
        """Return what a lease of the same would get in another period; None for nothing."""
        if self._search.late:
            return None
        tx, context = self._search.tx, self._search.context
        padded = period.padded(context.settings.cleaning_time)
        needed: list[Requirements] = [
            dataclasses.replace(one, period=period, padded=padded) for one in self._search.needed
        ]
        try:
            _, chosen = together(tx, context.settings, context.rng, needed)
            self._check(tx, period, chosen)
        except exceptions.ClimateError:
            return None
        return period, chosen

    def _check(self, tx: Transaction, period: Period, chosen: tuple[Allocation, ...]) -> None:
        context, caller = self._search.context, self._search.caller
        lease = change_searches.renewed(self._lease, period)
        allowed = context.settings.limits.of(lease.project_id)
        has = tx.projects.leases(lease.project_id) if allowed.leases else 0
        limits.check_new(allowed, lease, has, tx.now)
        limits.check_resources(tx, allowed, lease, None, chosen)
        request = AllocationRequest(lease=lease, allocations=chosen, limits=allowed)
        commit.check_filters(tx, context, caller, request)


def _farthest(
    after: datetime.datetime,
    latest: datetime.datetime,
    works: Callable[[datetime.datetime], T | None],
) -> T | None:
    """Return what *works* returns for the last end for which it is not None.

    It is assumed to work for every end before that one.

    :param after: the ends to consider are whole minutes after this, and *latest*
    """
    if latest <= after:
        return None
    found = works(latest)
    if found is not None:
        return found
    first = microseconds(after) // joint.MINUTE + 1
    low, high = first - 1, -(-microseconds(latest) // joint.MINUTE)
    while high - low > 1:
        middle = (low + high) // 2
        one = works(instant(middle * joint.MINUTE))
        if one is None:
            high = middle
        else:
            low, found = middle, one
    return found
